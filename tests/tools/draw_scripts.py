"""draw_scripts.py PROGRAM COUNT SEED: draws launch scripts from the shell's constructs, runs each in bash with a recorder in
place of torchrun, and reads each by `step --from`. No answer may differ; at least 80 % are answered."""
import os, random, re, subprocess, sys, tempfile

NAMES = ["A", "B", "C"]
ARGUMENTS = ("--num-layers 16 --hidden-size 2048 --num-attention-heads 16 --max-position-embeddings 4000000 --vocab-size 50304 "
             "--micro-batch-size 1 --global-batch-size 32 --bf16 --swiglu")
OPTIONS = {"A": "--ffn-hidden-size", "B": "--seq-length", "C": "--kv-channels"}


class Draw:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.functions = []
        self.counter = 0

    def name(self):
        return self.r.choice(NAMES)

    def number(self):
        return str(self.r.choice([1, 2, 3, 4, 8, 16, 24, 64]))

    def sum(self):
        left = self.r.choice([self.name(), self.number()])
        return f"{left} {self.r.choice(['+', '*', '+', '*', '-', '/', '%'])} {self.number()}"

    def test(self):
        name, number = self.name(), self.number()
        return self.r.choice([
            f"[ ${name} -gt {number} ]", f"[[ ${name} -le {number} ]]", f"(({name} > {number}))", f'[ "${name}" = {number} ]',
            f'[[ ${name} == "{number}" ]]', f"[ ${name} -lt 4 -a {number} -gt 2 ]", f"[[ ${name} -eq 8 || {number} -lt 4 ]]",
            f"! (({name} == {number}))", f'[ -n "${{UNSET:+x}}" ]', "true", "false", f"(({name} % 2 == 0 && {name} > 2))",
            self.pattern(), f"{{ {self.r.choice(['true', 'false'])} | [ ${name} = {number} ]; }}", f"[[ ${name} -eq 0{self.r.choice([2, 10, 20, 30])} ]]"])

    def pattern(self):
        """A text that quotes and backslashes make a pattern, or not."""
        name, r = self.name(), self.r
        piece = r.choice(["1*", "'1*'", '"1*"', "1\\*", "[0-9]", '"[0-9]"', "?", '"?"', "*", "$p", '"$p"', "*[46]", f"'{self.number()}'*"])
        p = r.choice(["*", "1*", "[1-8]", "4"])
        return r.choice([
            lambda: f"p='{p}'; [[ ${name} {r.choice(['==', '=', '!='])} {piece} ]]", lambda: f"p='{p}'; [[ '{p}' == {piece} ]]",
            lambda: f"[[ a${name}.b =~ {r.choice(['[0-9]', '^a(1|2|4)', '[0-9]{2}', 'a1.', '6[.]b$', '4', '.b'])} ]]",
            lambda: f"p='{p}'; case ${name} in {piece}) true;; *) false;; esac"])()

    def simple(self):
        r, name, other, number = self.r, self.name(), self.name(), self.number()
        return r.choice([
            lambda: f"{name}={number}", lambda: f"{name}=${other}", lambda: f"{name}=$(({self.sum()}))", lambda: f"{name}=$[{self.sum()}]",
            lambda: f"{name}=$(expr {number} \\* 6 / 2 + {self.number()})", lambda: f"{name}=$(expr ${other} + {number})",
            lambda: f"{name}=${{{other}:-{number}}}", lambda: f"{name}=${{NONE{number}:-{number}}}", lambda: f"unset {name}; {name}={number}",
            lambda: f"unset {name}; {name}=${{{name}:-{number}}}", lambda: f"(({name} = {self.sum()}))",
            lambda: f"(({name} {r.choice(['+=', '*=', '-=', '/='])} {number}))", lambda: f"(({r.choice(['++', '--'])}{name}))",
            lambda: f"(({name}++, {other} = {number}))", lambda: f"let {name}={number}+{other}", lambda: f'let "{name} += {number}" {other}=3',
            lambda: f": $(({name} = {number}))", lambda: f": ${{{name}:={number}}}", lambda: f'eval "{name}={number}"',
            lambda: f"p='*'; {name}=3*{number}1*7; {name}=${{{name}{r.choice(['%', '%%', '#', '##', '/'])}{r.choice(['$p', '*', '3?', chr(34) + '*' + chr(34) + '7', '3' + chr(92) + '*', chr(34) + '$p' + chr(34)])}}}; {name}=${{#{name}}}",
            lambda: f"p={number}/; {name}={number}/1{number}/; {name}=${{{name}/{r.choice(['$p', chr(92) + '/', '?' + chr(92) + '/'])}/}}; {name}=${{{name}%/}}",
            lambda: f"{self.test()} | {self.test()} && {name}={number} || {other}=3", lambda: f"set -o pipefail; {self.test()} | true || {name}={number}",
            lambda: f"if {self.test()}; then {self.test()}; fi || {name}={number}", lambda: f"( {name}=3; {r.choice(['exec true', 'true'])}; exit 1 ) && {other}={number}",
            lambda: f"( f0() {{ {name}={number}; }}; f0 ); f0() {{ {other}={number}; }}; f0; unset {r.choice(['', '-f '])}f0; f0",
            lambda: f"{self.test()} && {name}={number} && {self.test()} || {other}=24", lambda: f"{self.test()} && echo {number} || {name}={number}",
            lambda: f"exec {r.choice(['2', '8'])}>&1; {name}={number}", lambda: f"set -- --any *.none {number}; {name}=$3", lambda: f"true; [ -n $NONE{number} ] && {name}={number}",
            lambda: f"{name}={number} true", lambda: f"{name}={number} {other}={number}", lambda: f"{name}={number} : ; {other}=${name}",
            lambda: f"({name}={number})", lambda: f"{{ {name}={number}; }}", lambda: f"{name}={number} | cat", lambda: f"{name}={number} & wait",
            lambda: f"export {name}={number}", lambda: f"set -- {number} 2 5; {name}=$2", lambda: f"set -- 6 {number}; shift; {name}=$1",
            lambda: f"list=({number} 3 5); {name}=${{list[1]}}", lambda: f"list=({number} 3); list+=(7); {name}=${{#list[@]}}",
            lambda: f"list=({number} 3 5); {name}=${{list[{r.choice(['-1', 'list[0] % 2', '$((1 + 1))', '1 - 1'])}]}}",
            lambda: f'list=({number} 3 5); for k in "${{!list[@]}}"; do {name}=$((k + ${{list[$k]}})); done',
            lambda: f"list=({number} 3); {name}=${{#list[1]}}", lambda: f"list=({number} 3 5); for k in ${{!list[*]}}; do {name}=1$k; done",
            lambda: f'{name}="${other}"', lambda: f"{name}={number}; {name}+=1", lambda: f"declare {name}={number}",
            lambda: f"{name}=$(echo a{number}b{other}/x | sed -E 's#^a([0-9]+)b.*#\\1#')", lambda: f"{name}=$(basename x/{number}.sh .sh)",
            lambda: f"{name}=$(echo ${other},{number} | {r.choice(['cut -d, -f2', 'sed s/,.*//', 'tr , 1'])})",
            lambda: f"set -- x/{number}.y; {name}=${{1##*/}}; {name}=${{{name}%.*}}", lambda: f"{name}=$(sed 's/1/2/g' <<< 1{number}1)",
            lambda: f"{name}=1{number}9; {name}=${{{name}{r.choice([':1:2', '/9/3', '//[0-9]/1', '%9', '#1', ':1'])}}}; {name}=$((1 + {name} % 50))",
            lambda: f"for k in {{{number}..{self.number()}}}; do {name}=$k; done", lambda: f"set -- a{{b,c{{1,{number}}}}}d {{1..{number}}}; {name}=$#",
            lambda: f"for k in $(seq {r.choice(['', '3 ', '2 3 ', '9 -2 '])}{number}); do {name}=$(({name} + k)); done",
            lambda: f"list=({{3,{number}}}{{1..9..3}}); {name}=${{list[{r.choice([0, 4])}]}}", lambda: f"declare -n ref={other}; ref={number}; declare +n ref",
            lambda: f"{name}=$(({other} {r.choice(['|', '&', '^', '<<'])} {number} % 5 + ({name} >> 1)))", lambda: f"(({name} {r.choice(['|=', '^=', '&=', '>>='])} 3))",
            lambda: f"( {self.test()} && exit 1; exit 0 ) || {name}={number}", lambda: f"{r.choice(['command', 'builtin'])} export {name}={number}",
            lambda: f"{self.test()} && {name}={number}", lambda: f"{self.test()} || {name}={number}",
            lambda: f"local {name}={number}{r.choice(['', ' || ' + other + '=3', ' && ' + other + '=3'])}", lambda: f"cd {r.choice(['.', '/no', '/'])}; {name}={number}",
            lambda: f"trap '{r.choice(['other=1', 'echo ' + number, 'exit 1', 'f0; unset other'])}' {r.choice(['ERR', 'USR1', 'INT TERM'])}",
            lambda: f"{self.test()} && {name}=3 || {name}={number}", lambda: self.call()])()

    def call(self):
        if not self.functions:
            return f"{self.name()}={self.number()}"
        function = self.r.choice(self.functions)
        words = " ".join(self.r.choice([self.number(), f"${self.name()}"]) for _ in range(self.r.randint(0, 3)))
        return self.r.choice([f"{function} {words}", f"{self.name()}={self.number()} {function} {words}",
                              f"{function} {words} || {self.name()}={self.number()}", f"( {function} {words} )"])

    def body(self, depth, loop=False):
        lines = [self.statement(depth + 1, loop) for _ in range(self.r.randint(1, 3))]
        if loop and self.r.random() < 0.3:
            lines.insert(self.r.randint(0, len(lines)), f"if {self.test()}; then {self.r.choice(['break', 'continue'])}; fi")
        return "\n".join(lines)

    def loop(self, depth):
        self.counter += 1
        i, name = f"i{self.counter}", self.name()
        turns = self.r.randint(1, 4)
        return self.r.choice([
            lambda: f"for {i} in 1 2 5; do\n{self.body(depth, True)}\ndone", lambda: f"for {name} in {self.number()} 3; do\n{self.body(depth, True)}\ndone",
            lambda: f'list=(4 {self.number()} 2); for {i} in "${{!list[@]}}"; do {name}=${{list[{i}]}}\n{self.body(depth, True)}\ndone',
            lambda: f"for (({i} = 0; {i} < {turns}; {i}++)); do\n{self.body(depth, True)}\ndone",
            lambda: f"{i}=0; while [ ${i} -lt {turns} ]; do {i}=$(({i} + 1))\n{self.body(depth, True)}\ndone",
            lambda: f"{i}=0; until (({i} >= {turns})); do (({i}++))\n{self.body(depth, True)}\ndone",
            lambda: f"{i}=0; while true; do (({i}++)); if [ ${i} -gt {turns} ]; then break; fi\n{self.body(depth, True)}\ndone"])()

    def function(self, depth):
        self.counter += 1
        name, kept = f"f{self.counter}", self.name()
        lines = [self.r.choice([f"local {kept}={self.number()}", f"local {kept}; {kept}=3", f"{kept}=${{1:-{self.number()}}}", f"{kept}=$#", f"local -n ref={kept}; ref={self.number()}",
                                f"shift; {kept}=${{1:-5}}", f'for w in "$@"; do {kept}=$w; done', f"{kept}=${{2:-7}}"])]
        lines.append(self.body(depth))
        if self.r.random() < 0.4:
            lines.insert(self.r.randint(0, 2), self.r.choice([f"if {self.test()}; then return {self.r.randint(0, 1)}; fi", f"{self.test()} && return"]))
        text = f"{self.r.choice([f'{name}()', f'function {name}'])} {{\n" + "\n".join(lines) + "\n}"
        self.functions.append(name)
        return text

    def unknown(self):
        name, number = self.name(), self.number()
        return self.r.choice([f"if [ -f /no/such/file ]; then {name}={number}; fi", f"{name}=$(echo {number})", f"printf -v {name} %d {number}",
                              f"read -r {name} <<< {number}", f"type no_such_word >/dev/null 2>&1 && {name}={number}",
                              f"if [ -d / ]; then {name}={number}; else {name}=3; fi", f"no_such_word && {name}={number}", f"no_such_word || {name}={number}",
                              f"for k in /etc/host*; do {name}={number}; done", f"list=(/etc/*); {name}=${{#list[@]}}", f"shopt -s nullglob; for k in /no/*; do {name}={number}; done",
                              f"if [ -d / ]; then u() {{ {name}={number}; }}; else u() {{ {name}=3; }}; fi; u", f"list=(4 {number}); ((list[1] += 2)); {name}=${{list[1]}}",
                              f"{name}=$(false) || {name}={number}", f"no_such_word | grep -q x || {name}={number}", f"[ 1 < {number} ] || {name}={number}",
                              f"trap '{name}={number}' {self.r.choice(['DEBUG', 'RETURN', 'ERR', 'EXIT', 'USR1; kill -USR1 $$'])}",
                              f"h() {{ {self.r.choice(['', 'local '])}{name}={number}; }}; trap {self.r.choice(['h TERM; kill -TERM $$', 'h ERR', 'h USR1; kill -USR1 $$', 'h ERR; (exit 1)'])}",
                              f"trap late ERR; late() {{ {name}={number}; }}; false", f"( trap '{name}={number}' ERR; false )",
                              f"{self.r.choice(['cd', 'ls', 'cp', 'mkdir', 'rm'])} {self.r.choice(['/no/such', '/'])} {self.r.choice(['&&', '||'])} {name}={number}",
 f"shopt -s nocasematch; [[ Ab == aB ]] && {name}={number}",
                              f"{name}=${{{name}%0}}"])

    def statement(self, depth, loop=False):
        chance = self.r.random()
        if depth > 3 or chance < 0.55:
            return self.simple()
        if chance < 0.70:
            other = self.r.random()
            middle = f"elif {self.test()}; then\n{self.body(depth, loop)}\n" if other < 0.3 else ""
            last = f"else\n{self.body(depth, loop)}\n" if other > 0.4 else ""
            return f"if {self.test()}; then\n{self.body(depth, loop)}\n{middle}{last}fi"
        if chance < 0.78:
            ends = self.r.choice([";;", ";;", ";;", ";&", ";;&"])
            return (f"case ${self.name()} in\n{self.number()}) {self.simple()} {ends}\n{self.number()}|3) {self.simple()} ;;\n"
                    f"*) {self.simple()} ;;\nesac")
        if chance < 0.90 or depth > 0 or loop:
            return self.loop(depth)
        return self.function(depth)

    def script(self):
        lines = [f"{name}={self.number()}" for name in NAMES]
        lines += [self.statement(0) for _ in range(self.r.randint(2, 7))]
        if self.r.random() < 0.08:
            lines.insert(self.r.randint(3, len(lines)), self.unknown())
        given = " ".join(f"{option} ${name}" for name, option in OPTIONS.items())
        launch = f"torchrun --nproc_per_node 8 pretrain_gpt.py {ARGUMENTS} {given}\n"
        if self.r.random() < 0.15:
            return "#!/bin/bash\n" + "\n".join(lines) + "\n" + self.child(), "\n".join(self.inherited()) + "\n" + launch
        return "#!/bin/bash\n" + "\n".join(lines) + "\n" + launch, ""

    def inherited(self):
        return [f"{name}={self.r.choice([f'${{{name}:-{self.number()}}}', f'${{1:-{self.number()}}}', f'$(({name} + {self.number()}))'])}" for name in NAMES]

    def child(self):
        r, name = self.r, self.name()
        before = r.choice([f"export {name}", f"export {name}={self.number()}", f"declare -x {name}", f"export -n {name}", "set -a; A=2; set +a",
                           f"{self.test()} && export {name}", f"export {name}; unset {name}; {name}={self.number()}", "true"])
        front = r.choice(["", f"{self.name()}={self.number()} ", f"env {self.name()}={self.number()} ", "setsid ", "nohup ", "timeout 9 "])
        return f'{before}\n{front}bash {r.choice(["", "-x ", "-eo pipefail "])}"$(dirname "$0")/child.sh" {r.choice(["", f"${name}", self.number()])}\n'


def run_bash(folder, path):
    record = os.path.join(folder, "record")
    open(record, "w").close()
    environment = {"PATH": folder + ":" + os.environ["PATH"], "RECORD": record}
    try:
        subprocess.run(["bash", path], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=5)
    except subprocess.TimeoutExpired:
        return None
    words = open(record).read().split("\n")
    return {name: words[words.index(option) + 1] for name, option in OPTIONS.items() if option in words}


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    answered = differ = started = 0
    with tempfile.TemporaryDirectory() as folder:
        recorder = os.path.join(folder, "torchrun")
        with open(recorder, "w") as out:
            out.write('#!/bin/sh\nprintf "%s\\n" "$@" > "$RECORD"\n')
        os.chmod(recorder, 0o755)
        path = os.path.join(folder, "launch.sh")
        for i in range(count):
            text, child = Draw(seed + i).script()
            with open(os.path.join(folder, "child.sh"), "w") as out:
                out.write(child)
            with open(path, "w") as out:
                out.write(text)
            truth = run_bash(folder, path)
            if not truth or not all(re.fullmatch("[1-9][0-9]{0,5}", value) for value in truth.values()):
                continue  # bash itself starts nothing, or nothing that a model could be
            started += 1
            read = subprocess.run([program, "step", "--from", path, "--hw", "h100-8", "--get", "launch.options"], capture_output=True, text=True)
            if read.returncode == 3:
                if "--verbose" in sys.argv:
                    print(seed + i, read.stderr.strip())
                continue
            said = {"A": r"d_ff=(\d+)", "B": r"--seq (\d+)", "C": r"head_dim=(\d+)"}
            got = {name: (re.search(pattern, read.stdout) or [None, None])[1] for name, pattern in said.items()}
            got["C"] = got["C"] or "128"
            answered += 1
            if got != truth:
                differ += 1
                print(f"seed {seed + i}: bash {truth}, read {got}\n{text}{child}")
    print(f"{started} scripts started, {answered} answered, {differ} differ")
    sys.exit(differ > 0 or answered < 0.8 * started)


main()
