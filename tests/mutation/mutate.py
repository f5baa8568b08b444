#!/usr/bin/env python3
"""Changes src/core one token at a time and counts the changes that the tests catch.

    mutate.py BUILD [--mutants N] [--seed S] [--jobs J] [--file NAME] [--again LOG]

BUILD is made by
    cmake -S . -B BUILD -DCMAKE_BUILD_TYPE=Release -DSCALEPLAN_CORE_LINKAGE=SHARED -DCMAKE_SKIP_RPATH=ON
    LD_LIBRARY_PATH=BUILD cmake --build BUILD
so that a mutant is one object and one link of a library that the tests load. A mutant is caught when it does not
compile, or a test fails, crashes, or takes much longer than it should. What survives is printed as a diff and should
be explained in survivors.md or get a test. The place and kind of each mutant follow from the seed alone.
"""
import argparse, concurrent.futures, os, random, re, shutil, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE = os.path.join(ROOT, "src", "core")
SWAPS = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "<": ["<=", ">"], "<=": ["<", ">"], ">": [">=", "<"],
         ">=": [">", "<"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="],
         "*=": ["/="], "%": ["*"], "fmax": ["fmin"], "fmin": ["fmax"], "ceil": ["floor"], "floor": ["ceil"],
         "true": ["false"], "false": ["true"]}
TOKEN = re.compile(r"(?<= )(\+=|-=|\*=|<=|>=|==|!=|&&|\|\||[-+*/<>%])(?= )|\b(fmax|fmin|ceil|floor|true|false)\b"
                   r"|(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)(?![\w.])")


def blank(text):
    """The text with comments, strings and preprocessor lines as blanks, so that places stay."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", spaces, text, flags=re.S)
    return re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", spaces, text, flags=re.M)


def number_changes(token):
    if re.fullmatch(r"\d+", token):
        value = int(token)
        return [str(value + 1)] + (["0"] if value > 0 else [])
    return [repr(float(token) * 2), repr(float(token) / 2)]


def sources():
    return sorted(os.path.join(at, name) for at, _, names in os.walk(CORE) for name in names if name.endswith(".c"))


def mutants_of(path):
    with open(path) as file:
        text = file.read()
    plain = blank(text)
    found = []
    for match in TOKEN.finditer(plain):
        token = match.group(0)
        line = text.count("\n", 0, match.start()) + 1
        whole = text.splitlines()[line - 1]
        if re.search(r"\bstatic const struct .*\[\]|enum \{|\[[A-Z_]+\]$", whole):
            continue  # sizes of arrays
        for change in SWAPS.get(token) or number_changes(token):
            found.append((path, line, match.start(), token, change))
    return text, found


def described(text, mutant):
    path, line, _, token, change = mutant
    return "survived: src/core/%s:%d: %s -> %s: %s" % (os.path.relpath(path, CORE), line, token, change,
                                                     text.splitlines()[line - 1].strip())


def run(command, timeout, env, cwd):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              timeout=timeout, env=env, cwd=cwd).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Suite:
    """The tests in the order of their speed, each with the time it took on the unchanged library. `accuracy` is left
    out, it would take most of the time."""

    def __init__(self, build):
        self.build = build
        tests = os.path.join(build, "tests")
        units = sorted(n for n in os.listdir(tests) if n.startswith("test_") and os.access(os.path.join(tests, n), os.X_OK)
                       and n not in ("test_plot", "test_json", "test_text", "test_launch", "test_huggingface"))
        program = os.path.join(build, "scaleplan")
        cases = sorted(os.path.join(ROOT, "tests/textbook", n) for n in os.listdir(os.path.join(ROOT, "tests/textbook")))
        transcripts = [os.path.join(ROOT, "tests/cli", n + ".test") for n in ("fit", "step", "search", "runs", "scaling", "lr", "numbers", "show")]
        documents = [os.path.join(ROOT, "README.md")] + sorted(
            os.path.join(ROOT, "docs", n) for n in os.listdir(os.path.join(ROOT, "docs")) if n.endswith(".md"))
        self.commands = [[os.path.join(tests, n)] for n in units] + [[program, "check"] + cases]
        self.commands += [["bash", os.path.join(ROOT, "tests/cli/run.sh"), program, t] for t in transcripts]
        self.commands += [["bash", os.path.join(ROOT, "tests/cli/docs.sh"), program] + documents]
        timed = []
        for command in self.commands:
            start = time.time()
            if not run(command, 600, self.env(build), tempfile.gettempdir()):
                sys.exit("fails on the unchanged library: " + " ".join(command))
            timed.append((time.time() - start, command))
        self.timed = sorted(timed, key=lambda t: t[0])
        for seconds, command in self.timed:
            print("%6.2f s  %s" % (seconds, os.path.basename(command[-1])))

    @staticmethod
    def env(library):
        return dict(os.environ, LD_LIBRARY_PATH=library, OMP_NUM_THREADS="1")

    def catches(self, library, folder, name):
        """The tests named like the file first ("search_best.c": test_search, search.test), then the fastest."""
        word = name.split(".")[0].split("_")[0]
        for seconds, command in sorted(self.timed, key=lambda t: (word not in os.path.basename(t[1][-1]), t[0])):
            if not run(command, 5 + 4 * seconds, self.env(library), folder):
                return os.path.basename(command[-1] if command[0] == "bash" else command[0])
        return None


def try_mutant(suite, text, mutant):
    path, line, at, token, change = mutant
    folder = tempfile.mkdtemp(prefix="mutant-")
    try:
        source = os.path.join(folder, os.path.basename(path))
        with open(source, "w") as file:
            file.write(text[:at] + change + text[at + len(token):])
        name = os.path.basename(path)
        objects = os.path.join(suite.build, "CMakeFiles/scaleplan_core.dir/src/core")
        own = os.path.join(objects, os.path.relpath(path, CORE) + ".o")
        mine = os.path.join(folder, name + ".o")
        flags = ["-std=c11", "-O2", "-fPIC", "-ffp-contract=off", "-w", "-DNDEBUG", "-D_GNU_SOURCE", "-I" + os.path.join(ROOT, "include"),
                 "-I" + os.path.join(ROOT, "src")]
        if subprocess.run(["cc", *flags, "-c", source, "-o", mine], stderr=subprocess.DEVNULL).returncode != 0:
            return "compiler"
        others = [o for o in (os.path.join(objects, os.path.relpath(p, CORE) + ".o") for p in sources()) if o != own]
        library = os.path.join(folder, "libscaleplan_core.so")
        subprocess.run(["cc", "-shared", "-o", library, mine, *others, "-lm"], check=True)
        if open(mine, "rb").read() == suite.originals[name]:
            return "same code"
        return suite.catches(folder, folder, name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--file")
    parser.add_argument("--again", metavar="LOG", help="only what survived in an earlier run, by what it printed")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    texts, all_mutants = {}, []
    for path in sources():
        if not args.file or os.path.basename(path) == args.file:
            texts[path], found = mutants_of(path)
            all_mutants += found
    random.Random(args.seed).shuffle(all_mutants)
    if args.again:
        with open(args.again) as file:
            before = {line.strip() for line in file if line.startswith("survived: ")}
        all_mutants = [m for m in all_mutants if described(texts[m[0]], m) in before]
    suite = Suite(build)
    suite.originals = {}
    for path, text in texts.items():
        name = os.path.basename(path)
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, name)
            with open(source, "w") as file:
                file.write(text)
            subprocess.run(["cc", "-std=c11", "-O2", "-fPIC", "-ffp-contract=off", "-w", "-DNDEBUG", "-D_GNU_SOURCE",
                            "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(ROOT, "src"), "-c", source, "-o", folder + "/o"], check=True)
            suite.originals[name] = open(folder + "/o", "rb").read()
    print("%d places; %d tests take %.0f s on the unchanged library" % (len(all_mutants), len(suite.timed),
                                                                    sum(t for t, _ in suite.timed)), flush=True)
    caught = survived = same = 0
    by_test = {}
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    queue = iter(all_mutants)
    running = {}
    while caught + survived < args.mutants:
        while len(running) < args.jobs:
            mutant = next(queue, None)
            if mutant is None:
                break
            running[pool.submit(try_mutant, suite, texts[mutant[0]], mutant)] = mutant
        if not running:
            break
        done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
        if (caught + survived) // 25 != (caught + survived + len(done)) // 25:
            print("%d caught, %d survived" % (caught, survived), flush=True)
        for future in done:
            path, line, at, token, change = running.pop(future)
            by = future.result()
            if by == "same code":
                same += 1
            elif by:
                caught += 1
                by_test[by] = by_test.get(by, 0) + 1
            else:
                survived += 1
                print(described(texts[path], (path, line, at, token, change)), flush=True)
    print("%d of %d mutants caught (%.1f %%); %d more compiled to the same code" % (
        caught, caught + survived, 100 * caught / max(1, caught + survived), same))
    print(", ".join("%s %d" % item for item in sorted(by_test.items(), key=lambda i: -i[1])))


if __name__ == "__main__":
    main()
