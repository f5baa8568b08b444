#!/usr/bin/env bash
# schemas.sh BUILD PROGRAM ROOT: every bundled file names its schema and obeys it, and what the program refuses the
# schema refuses. Needs python3 with jsonschema (exit 77 without).
set -u
source "$(dirname "$0")/needs.sh"
build=$1 program=$2 root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for page in schema/models.json docs/config.md docs/formulas.md docs/exercises.md docs/{book-training,lesson,flax-guide,lecture,slides}.md; do
  [ -s "$build/$page" ] || { echo "not written by the build: $page"; exit 1; }
done
need jsonschema
python3 - "$program" "$root" "$work" "$build/schema" <<'PY'
import glob, json, os, subprocess, sys
import jsonschema
program, root, work, schema = sys.argv[1:]
def load(path):
    with open(path) as file:
        return json.load(file)
schemas = {os.path.basename(p)[:-5]: load(p) for p in glob.glob(schema + "/*.json")}
for schema in schemas.values():
    jsonschema.Draft202012Validator.check_schema(schema)
validators = {k: jsonschema.Draft202012Validator(s) for k, s in schemas.items()}
checked = 0
for path in sorted(glob.glob(root + "/configs/*/*.json")):
    kind = path.split("/")[-2]
    data = load(path)
    assert data["$schema"] == "../schema/%s.json" % kind, path
    validators[kind].validate(data)
    checked += 1
# What is harmless is listed by name: a wildcard would cover a setting that is not known yet.
for path in glob.glob(root + "/configs/launch/*.json"):
    data = load(path)
    listed = data.get("quiet", []) + data.get("quiet_switches", []) + [line for line in data.get("rollout", []) if line.startswith("quiet ")]
    assert not [line for line in listed if set(line) & set("*?[")], path
for path in glob.glob(root + "/tests/textbook/*.json") + glob.glob(root + "/tests/courses/*.json"):
    validators["cases"].validate(load(path))
    checked += 1
validators["plan"].validate({"model": "llama3-8b", "hw": "h100-8", "tp": 8, "sp": True, "batch": "64x8192", "remat": "full"})
# Both refuse the same faults.
model = load(root + "/configs/models/mixtral-8x7b.json")
faults = [("layers", 0), ("layers", 2.5), ("layers", "32"), ("norm", "rms"), ("moe", {"expert": 8}), ("unknown", 1),
          ("gated_mlp", 1), ("name", "x" * 100)]
for key, value in faults:
    broken = dict(model, **{key: value})
    assert not validators["models"].is_valid(broken), key
    path = os.path.join(work, "broken.json")
    with open(path, "w") as file:
        json.dump(broken, file)
    run = subprocess.run([program, "lint", path], capture_output=True, text=True)
    assert run.returncode == 3 and "broken.json:" in run.stderr, (key, run.stderr)
assert not validators["cases"].is_valid([{"id": "x"}])
assert not validators["plan"].is_valid({"tp": 0})
print(checked, "files obey their schema;", len(faults) + 2, "faults are refused")
assert checked > 180
PY
