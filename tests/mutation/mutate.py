#!/usr/bin/env python3
"""Changes the rooms of src one place at a time and counts the changes that the tests catch.

    mutate.py BUILD [--rooms ROOM,...] [--mutants N] [--seed S] [--jobs J] [--again LOG] [--entered BUILD2] [--caught]
              [--without REGEX]

BUILD is made by
    cmake -S . -B BUILD -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DSCALEPLAN_ROOM_LINKAGE=SHARED \\
          -DCMAKE_SKIP_RPATH=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    LD_LIBRARY_PATH=$PWD/BUILD cmake --build BUILD
so that a mutant is one object and one link of a room that program and tests load. Each room gets N mutants, in equal
shares of the kinds below; a place of a kind is drawn from all functions of the room alike. A mutant is caught when a
test of ctest fails, crashes, or takes much longer than it should; one that does not compile, or to the same code, does
not count. What survives is printed and should be explained in survivors.md or get a test. Places and kinds follow from
the seed alone. Fails where less than 85 % of a room's mutants are caught.

BUILD2 is made like BUILD, with "-O1 -g1 -DNDEBUG -finstrument-functions": each test runs there once, and a test that does
not enter the function of a mutant is not run for it, since it cannot tell. What a test took and entered, how often it was
run and how often it caught a mutant is kept in BUILD/mutation.json, by the hash of its files, and decides which goes
first. --caught also prints what caught each mutant; --these FILE tries the lines "path: old => new" of a file instead.
"""
import argparse, collections, concurrent.futures, hashlib, json, os, random, re, resource, shlex, shutil, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = ["core", "study", "launch", "runs", "config", "hf", "commands"]
SKIPPED = {"slow", "web", "install"}  # labels of tests that take too long, or look at other things than answers

SIMPLE = r"[A-Za-z_][\w]*(?:(?:->|\.)[A-Za-z_]\w*|\[\w+\])*"
SWAPS = {"<": ["<=", ">"], "<=": ["<", ">"], ">": [">=", "<"], ">=": [">", "<"], "==": ["!="], "!=": ["=="], "&&": ["||"],
         "||": ["&&"]}
ENDS = {"fmax": "fmin", "fmin": "fmax", "sp_larger": "sp_smaller", "sp_smaller": "sp_larger", "ceil": "floor",
        "floor": "ceil"}
UNITS = {"1e3": "1e6", "1e6": "1e9", "1e9": "1e6", "1e12": "1e9", "1e-3": "1e-6", "1e-6": "1e-3", "1e-9": "1e-6",
         "1000": "1024", "1024": "1000", "60": "3600", "3600": "60", "86400": "3600", "100": "1", "8": "1", "1e10": "1e9",
         "8.0": "1.0", "100.0": "1.0", "3600.0": "60.0", "86400.0": "3600.0", "24": "60", "1e18": "1e15", "1e15": "1e12"}


def number_changes(token):
    if re.fullmatch(r"\d+", token):
        value = int(token)
        return [str(value + 1)] + (["0"] if value > 0 else [])
    return [repr(float(token) * 2), repr(float(token) / 2)]


# A kind of change: where, and what may stand there instead.
KINDS = {
    "constant": (re.compile(r"(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)(?![\w.])"), lambda m: number_changes(m.group(0))),
    "comparison": (re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||<|>)(?= )"), lambda m: SWAPS[m.group(0)]),
    "end": (re.compile(r"\b(fmax|fmin|sp_larger|sp_smaller|ceil|floor)(?=\()"), lambda m: [ENDS[m.group(0)]]),
    "factor": (re.compile(r" [*/] (?!sizeof)(?:%s|\d+\.?\d*(?:e-?\d+)?)(?=[;,) ])(?!\()" % SIMPLE), lambda m: [""]),
    "arguments": (re.compile(r"(?<=[(,])( ?)(%s), (%s)(?=[,)])" % (SIMPLE, SIMPLE)),
                  lambda m: [m.group(1) + m.group(3) + ", " + m.group(2)] if m.group(2) != m.group(3) else []),
    "unit": (re.compile(r"(?<![\w.])(%s)(?![\w.])" % "|".join(re.escape(u) for u in UNITS)), lambda m: [UNITS[m.group(0)]]),
}


def blank(text):
    """The text with comments, strings and preprocessor lines as blanks, so that places stay."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", spaces, text, flags=re.S)
    return re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", spaces, text, flags=re.M)


class Mutant:
    def __init__(self, path, text, function, kind, start, end, change):
        self.path, self.text, self.function, self.kind = path, text, function, kind
        self.start, self.end, self.change = start, end, change

    def described(self, outcome="survived"):
        line = self.text.count("\n", 0, self.start)
        return outcome + ": %s:%d: %s: %s -> %s: %s" % (os.path.relpath(self.path, ROOT), line + 1, self.kind,
                                                     self.text[self.start:self.end].strip(), self.change.strip() or "(none)",
                                                     self.text.splitlines()[line].strip())


def function_spans(plain):
    """The name of each function; from the brace that opens it, at the start of a line, to the one that closes it."""
    return [(m.group(1), m.start(2), m.end()) for m in
            re.finditer(r"^\w[^;{}()]*?(\w+)\([^;{}]*\n(\{\n.*?^\}$)", plain, flags=re.M | re.S)]


def mutants_of(path):
    """By kind and function: a list of lists of mutants."""
    with open(path) as file:
        text = file.read()
    plain = blank(text)
    found = {kind: [] for kind in KINDS}
    for function, start, end in function_spans(plain):
        for kind, (pattern, changes) in KINDS.items():
            here = []
            for match in pattern.finditer(plain, start, end):
                whole = plain[plain.rfind("\n", 0, match.start()) + 1:plain.find("\n", match.start())]
                if re.search(r"\bstatic const struct .*\[\]|enum \{|\[[A-Z_]+\]$|^\s*(static )?(const )?char \w+\[", whole):
                    continue  # sizes of arrays and texts
                if kind == "end" and re.search(r"[!=]= $", plain[start:match.start()]):
                    continue  # "x != floor(x)" and with ceil are true for the same numbers
                if kind == "arguments" and plain[match.end()] == ")" and re.search(
                        r"\b(fmax|fmin|sp_larger|sp_smaller)\($", plain[start:match.start()]):
                    continue  # the same of two numbers
                if kind == "arguments" and re.match(r"(, [^,()]+)?\) [!=]= 0", plain[match.end():end]) and re.search(
                        r"\bstrn?(case)?cmp\($", plain[start:match.start()]):
                    continue  # whether two texts are the same
                if kind == "comparison" and re.match(r"[^\n]*\n\s*abort\(\);", plain[match.end():end]):
                    continue  # out of memory
                here += [Mutant(path, text, function, kind, match.start(), match.end(), c) for c in changes(match)]
            if here:
                found[kind].append(here)
    return found


def drawn(room, seed):
    """Mutants of a room without end: kinds in turn, of each a function, of that a place."""
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(os.path.join(ROOT, "src", room)) for name in names
                   if name.endswith(".c"))
    functions = {kind: [] for kind in KINDS}
    for path in paths:
        for kind, lists in mutants_of(path).items():
            functions[kind] += lists
    dice = random.Random("%s %s" % (room, seed))
    for kind in KINDS:
        for places in functions[kind]:
            dice.shuffle(places)
        dice.shuffle(functions[kind])
    while any(functions.values()):
        for kind in KINDS:
            if functions[kind]:
                places = functions[kind].pop(0)
                yield places.pop()
                if places:
                    functions[kind].append(places)


def named(path):
    """The mutants that the lines "path: old => new" of a file name, by room; old stands once in the file at path."""
    rooms = collections.defaultdict(list)
    with open(path) as file:
        lines = [line.rstrip("\n") for line in file if " => " in line]
    for line in lines:
        at, change = line.split(": ", 1)
        old, new = change.split(" => ")
        with open(os.path.join(ROOT, at)) as file:
            text = file.read()
        if text.count(old) != 1:
            print("stands %d times: %s" % (text.count(old), line))
            continue
        start = text.index(old)
        function = next((name for name, first, last in function_spans(blank(text)) if first <= start < last), None)
        rooms[at.split("/")[1]].append(Mutant(os.path.join(ROOT, at), text, function, "constant", start, start + len(old), new))
    return rooms


def run(command, most_s, env, cwd):
    """Whether a command succeeds, none of its processes taking longer than that on a core, and what they took in all. Time
    on a core, since others may keep the machine busy."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                               env=env, cwd=cwd,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(most_s), int(most_s))))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode in (0, 77), usage.ru_utime + usage.ru_stime


class Suite:
    """The tests that ctest knows, each with the time that it took on the unchanged program, and the functions it enters."""

    def __init__(self, build, entered, jobs, longest, without):
        self.build, self.entered, self.longest = build, entered, longest
        self.kept = os.path.join(build, "mutation.json")
        self.lock = threading.Lock()
        self.known, self.tries, self.caught = {}, collections.Counter(), collections.Counter()
        if os.path.exists(self.kept):
            with open(self.kept) as file:
                kept = json.load(file)
            self.known = kept["tests"]
            self.tries.update(kept["tries"])
            self.caught.update(kept["caught"])
        listed = json.loads(subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"] +
                                           (["-E", without] if without else []), check=True, stdout=subprocess.PIPE).stdout)
        self.preloaded = tempfile.mkdtemp(prefix="entered-")
        if entered:
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.preloaded + "/entered.so",
                            os.path.join(ROOT, "tests", "mutation", "entered.c")], check=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            self.timed = [test for test in pool.map(self.tried, listed["tests"]) if test]
        shutil.rmtree(self.preloaded)

    def keep(self):
        with self.lock:
            with open(self.kept + ".new", "w") as file:
                json.dump({"tests": dict(self.known), "tries": dict(self.tries), "caught": dict(self.caught)}, file)
            os.replace(self.kept + ".new", self.kept)

    def tried(self, test):
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if SKIPPED & set(properties.get("LABELS", [])) or test["name"].startswith("code."):
            return None
        own = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        digest = hashlib.sha1()
        for word in test["command"]:
            if os.path.isfile(word):
                with open(word, "rb") as file:
                    digest.update(file.read())
        known = self.known.get(test["name"])
        if not known or known["hash"] != digest.hexdigest() or (
                self.entered and known["enters"] is None and known["seconds"] <= self.longest):
            ok, seconds = run(test["command"], 300, self.env(self.build, own), properties["WORKING_DIRECTORY"])
            if not ok:
                print("left out, fails on the unchanged program: " + test["name"])
                return None
            enters = self.enters(test, own, properties) if seconds <= self.longest else None
            known = {"hash": digest.hexdigest(), "seconds": seconds, "enters": None if enters is None else sorted(enters)}
            self.known[test["name"]] = known
            self.keep()
        if known["seconds"] > self.longest:
            print("left out, takes %.0f s: %s" % (known["seconds"], test["name"]))
            return None
        enters = None if known["enters"] is None else {tuple(place) for place in known["enters"]}
        return known["seconds"], test["name"], test["command"], own, properties["WORKING_DIRECTORY"], enters

    def enters(self, test, own, properties):
        """The functions that a test enters, as (file, name); None where that is not known."""
        if not self.entered:
            return None
        listed = os.path.join(self.preloaded, test["name"])
        env = self.env(self.entered, own)
        env.update(LD_PRELOAD=self.preloaded + "/entered.so", ENTERED=listed)
        there = [word.replace(self.build, self.entered) for word in test["command"]]
        if not run(there, 900, env, properties["WORKING_DIRECTORY"].replace(self.build, self.entered))[0]:
            print("not known what it enters: " + test["name"])
            return None
        places = collections.defaultdict(set)
        if os.path.exists(listed):
            with open(listed) as file:
                for line in file:
                    library, at = line.rsplit(" ", 1)
                    if os.path.basename(library).startswith("libscaleplan"):
                        places[library].add(at.strip())
        found = set()
        for library, at in places.items():
            names = subprocess.run(["addr2line", "-f", "-e", library], check=True, input="\n".join(at), text=True,
                                   stdout=subprocess.PIPE).stdout.splitlines()
            # from src/ on: a cache of the compiler may know the file by another checkout
            found |= {(os.path.normpath(where.rsplit(":", 1)[0]).rpartition("/src/")[2], name)
                      for name, where in zip(names[::2], names[1::2])}
        return found

    @staticmethod
    def env(libraries, own):
        return dict(os.environ, LD_LIBRARY_PATH=libraries, OMP_NUM_THREADS="1", **own)

    def catches(self, folder, mutant):
        """The first test that fails. Those that cost little for what they are likely to catch go first: a test named like
        the room or the file is, and one that caught many of those it was run for."""
        words = set(re.split(r"[/_.]", os.path.relpath(mutant.path, os.path.join(ROOT, "src")))) - {"c"}

        place = os.path.relpath(mutant.path, os.path.join(ROOT, "src")), mutant.function

        def price(test):
            likely = (self.caught[test[1]] + 1) / (self.tries[test[1]] + 4) * (1 + 200 / (1 + len(test[5] or ())))
            seconds = self.known[test[1]]["seconds"]
            return (seconds + 0.1) / likely / (4 if words & set(re.split(r"[/_.]", test[1])) else 1)
        for seconds, name, command, own, cwd, enters in sorted(self.timed, key=price):
            if enters is not None and place not in enters:
                continue
            self.tries[name] += 1
            mutated = dict(self.env(folder + ":" + self.build, own), FIRST="1")
            ok, took = run(command, 20 + 4 * seconds, mutated, cwd)
            if not ok and not run(command, 20 + 4 * seconds, mutated, cwd)[0]:  # twice: a busy machine is no catch
                self.caught[name] += 1
                return name
            self.known[name]["seconds"] = took
        return None


class Compiler:
    """Compiles a file of a room in the place of the built one, and links the room with it."""

    def __init__(self, build):
        self.build = build
        self.plain = {}  # objects of the files as they stand
        with open(os.path.join(build, "compile_commands.json")) as file:
            self.commands = {entry["file"]: shlex.split(entry["command"]) for entry in json.load(file)
                             if "scaleplan_core.dir" in entry["command"] or "/src/core/" not in entry["file"]}

    def compile(self, path, source, out):
        command = list(self.commands[path])
        own = command[command.index("-o") + 1]
        command[command.index("-o") + 1] = out
        command[command.index("-c") + 1] = source
        command += ["-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-iquote", os.path.dirname(path)]
        return own, subprocess.run(command, cwd=self.build, stderr=subprocess.DEVNULL).returncode == 0

    def link(self, room, own, mine, folder):
        target = "scaleplan" if room == "core" else "scaleplan_" + room
        with open(os.path.join(self.build, "CMakeFiles", target + ".dir", "link.txt")) as file:
            command = shlex.split(file.read())
        at = command.index("-o") + 1
        command[at] = os.path.join(folder, os.path.basename(command[at]))
        subprocess.run([mine if word == own else word for word in command], cwd=self.build, check=True)


def attempt(suite, compiler, room, mutant):
    folder = tempfile.mkdtemp(prefix="mutant-")
    try:
        source = os.path.join(folder, os.path.basename(mutant.path))

        def compiled(text):
            with open(source, "w") as file:
                file.write(text)
            own, ok = compiler.compile(mutant.path, source, source + ".o")
            if not ok:
                return own, None
            with open(source + ".o", "rb") as file:
                return own, file.read()
        if mutant.path not in compiler.plain:
            compiler.plain[mutant.path] = compiled(mutant.text)[1]
        own, made = compiled(mutant.text[:mutant.start] + mutant.change + mutant.text[mutant.end:])
        if made is None:
            return "compiler"
        if made == compiler.plain[mutant.path]:
            return "same code"
        compiler.link(room, own, source + ".o", folder)
        return suite.catches(folder, mutant)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rooms", default=",".join(ROOMS))
    parser.add_argument("--mutants", type=int, default=60, help="of each room")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--again", metavar="LOG", help="only what survived in an earlier run, by what it printed")
    parser.add_argument("--entered", metavar="BUILD2", help="a build that tells which functions a test enters")
    parser.add_argument("--longest", type=float, default=300, help="seconds of a test; longer ones are left out")
    parser.add_argument("--without", metavar="REGEX", help="leave out the tests of these names")
    parser.add_argument("--caught", action="store_true", help="print what caught each mutant, too")
    parser.add_argument("--these", metavar="FILE", help="the changes that its lines name, and no others")
    args = parser.parse_args()
    before = None
    if args.again:
        with open(args.again) as file:
            before = {line.strip() for line in file if line.startswith("survived: ")}
    suite = Suite(os.path.abspath(args.build), args.entered and os.path.abspath(args.entered), args.jobs, args.longest, args.without)
    compiler = Compiler(suite.build)
    print("%d tests take %.0f s on the unchanged program" % (len(suite.timed), sum(t[0] for t in suite.timed)), flush=True)
    worst = 1
    these = args.these and named(args.these)
    for room in these or args.rooms.split(","):
        queue = (m for m in (iter(these[room]) if these else drawn(room, args.seed))
                 if not before or m.described() in before)
        caught = survived = same = 0
        by_kind = {kind: [0, 0] for kind in KINDS}
        running = {}
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            while True:
                while len(running) < args.jobs and caught + survived + len(running) < args.mutants:
                    mutant = next(queue, None)
                    if mutant is None:
                        break
                    running[pool.submit(attempt, suite, compiler, room, mutant)] = mutant
                if not running:
                    break
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    mutant, by = running.pop(future), future.result()
                    if by in ("same code", "compiler"):
                        same += 1
                        continue
                    caught += by is not None
                    survived += by is None
                    by_kind[mutant.kind][by is None] += 1
                    if by is None:
                        print(mutant.described(), flush=True)
                    elif args.caught:
                        print(mutant.described("caught by " + by), flush=True)
        suite.keep()
        share = caught / max(1, caught + survived)
        worst = min(worst, share)
        print("%s: %d of %d mutants caught (%.0f %%): %s; %d more changed no code or did not compile" % (
            room, caught, caught + survived, 100 * share,
            ", ".join("%s %d of %d" % (k, c, c + s) for k, (c, s) in by_kind.items() if c + s), same), flush=True)
    sys.exit(0 if worst >= 0.85 else 1)


if __name__ == "__main__":
    main()
