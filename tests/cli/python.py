"""The module against the program: the same answers, options as a person writes them in Python, errors, streams."""
import json
import shlex
import subprocess
import sys
import tempfile

import scaleplan

PROGRAM = sys.argv[1]


def program(*words, text=None):
    return json.loads(subprocess.run([PROGRAM, *words, "--format=json"], input=text, capture_output=True, text=True).stdout)


def keywords(command, words):
    """The words of an example as operands and keywords; None for what writes files, draws, or reads another's output."""
    takes = {"--" + o["name"]: o for o in scaleplan.commands()[command]["options"]}
    if {"-", "-o", "|", "<", ">", "&&"} & {*words} or any("$" in word for word in words):
        return None
    operands, options = [], {}
    words = iter(words)
    for word in words:
        if not word.startswith("--"):
            operands.append(word)
            continue
        if word not in takes or word in ("--format", "--output", "--plot", "--get", "--explain", "--report", "--details"):
            return None
        name = word[2:].replace("-", "_") + "_"
        value = takes[word].get("value") is None or next(words)
        options[name] = f"{options[name]},{value}" if name in options else value
    return operands, options


asked = 0
for name, command in scaleplan.commands().items():
    if name in ("completion", "sweep", "merge", "calibrate", "check", "lint", "validate", "import"):
        continue  # other output than an answer's JSON, or files of one's own
    for example in command["examples"]:
        asked_of, *words = shlex.split(example["line"])[1:]
        if asked_of != name:
            continue  # an example of what comes next, with another command
        as_keywords = keywords(name, words)
        if not as_keywords:
            continue
        operands, options = as_keywords
        try:
            here = getattr(scaleplan, name)(*operands, **options)
        except scaleplan.Error as error:
            assert "no such file" in str(error).lower(), (example, error)
            continue
        assert here == program(name, *words), example
        asked += 1
assert asked >= 25, asked

# A sweep is a list of rows, one point or several.
for machines in (["h100-8"], ["h100-8", "h100-16"]):
    rows = scaleplan.sweep("step", model="llama3-8b", hw=machines, get="step_s")
    assert [row["step_s"] for row in rows] == [
        program("step", "--model", "llama3-8b", "--hw", hw)["step_s"] for hw in machines], rows

# Values as Python has them.
common = {"model": "llama3-8b", "hw": "h100-64", "batch": "512x8192"}
step = scaleplan.step(**common, set={"hw.chip.hbm_bytes": 96e9, "hw.chip.hbm_bytes_per_s": 4e12}, details=False, tp=None)
assert step == program("step", "--model", "llama3-8b", "--hw", "h100-64", "--batch", "512x8192", "--set",
                       "hw.chip.hbm_bytes=96e9", "--set", "hw.chip.hbm_bytes_per_s=4e12")
shape = {"name": "mine", "layers": 32, "d_model": 4096, "d_ff": 14336, "heads": 32, "kv_heads": 8, "vocab": 128256,
         "gated_mlp": True}
assert scaleplan.fit(model=shape, hw="v5p-64")["params"] == 8030261248  # Meta's published count
assert scaleplan.search(**dict(common, hw=["h100-64", "a100-80gb-64"]))["machines"]

# What is refused.
for call, code, words in (
        (lambda: scaleplan.fit(model="lama2-13b", hw="v5p-4096"), 3, 'did you mean "llama2-13b"'),
        (lambda: scaleplan.fit(nonsense=1), 2, "unknown option --nonsense"),
        (lambda: scaleplan.run("fits"), 2, "fit"),
):
    try:
        call()
        raise SystemExit("an error was expected: " + words)
    except scaleplan.Error as error:
        assert error.code == code and words in str(error), (error.code, error)
try:
    scaleplan.fits
    raise SystemExit("an AttributeError was expected")
except AttributeError as error:
    assert "fit" in str(error)

# The verdict of --check, and an answer as text.
assert scaleplan.step(model="llama3-70b", hw="h100-8", batch="8x8192", check=True)["check"] is False
assert scaleplan.step(model="llama3-8b", hw="h100-8", zero=3, batch="16x8192", check=True)["check"] is True
assert scaleplan.step(model="llama3-8b", hw="h100-8", batch="16x8192", format="csv", get="tp,dp") == "tp,dp\n1,8\n"

# A stream: every answer in order, those of the program; a plan that is refused says so in its place.
plans = [{"id": i, "tp": 1 << i % 5, "pp": 1 << i // 5 % 3, "micro_batch": 1 + i % 2} for i in range(5001)]
plans[17]["tp"] = 3
rows = [*scaleplan.stream("step", plans, get="step_s", **common)]
lines = subprocess.run([PROGRAM, "step", "-", "--get", "step_s", *(f"--{k}={v}" for k, v in common.items())],
                       input="\n".join(map(json.dumps, plans)), capture_output=True, text=True).stdout.splitlines()
assert [row["id"] for row in rows] == [*range(5001)] and "error" in rows[17]
for row, line in zip(rows, map(json.loads, lines)):
    assert row == line, (row, line)
assert [*scaleplan.stream("step", [], **common)] == []
print(f"{asked} examples and {len(rows)} plans of a stream answer as the program does")

# Parts are merged in the format that they have; what is written to a file is in the file.
with tempfile.TemporaryDirectory() as folder:
    parts = [f"{folder}/part{i}" for i in (1, 2, 3, 4)]
    own = {"model": "llama3-8b", "hw": "h100-8", "batch": "64x8192"}
    for i in (0, 1):
        scaleplan.search(**own, shard=f"{i + 1}/2", write=parts[i])
        scaleplan.sweep("step", **own, tp=[1, 2, 4], get="step_s", format="csv", shard=f"{i + 1}/2", write=parts[2 + i])
    assert scaleplan.merge(*parts[:2]) == scaleplan.search(**own)
    assert scaleplan.merge(*parts[2:]) == scaleplan.sweep("step", **own, tp=[1, 2, 4], get="step_s", format="csv")
