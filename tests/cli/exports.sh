#!/usr/bin/env bash
# exports.sh PROGRAM SOURCE: what export prints parses in its own language, by jq, bash, Python's compile, PyYAML and
# tomllib; standard output is the file and nothing else, whatever notes there are, and `step --from` reads the plan out of
# it again. Its Python runs too (with stand-ins for the frameworks): every name is defined, every spec names axes of the
# mesh, the mesh is all devices, and weights shard over as many as the title says. A reader that lacks is named, and its
# checks alone are skipped.
set -u
program=$(realpath "$1") source=$(realpath "$2") failed=0 files=0
scratch=$(mktemp -d) && cd "$scratch" || exit 2
trap 'rm -rf "$scratch"' EXIT

python() { # MODULE: whether python3 has it
    python3 -c "import $1" 2>/dev/null
}
lacks=
python sys || lacks=" python3 yaml tomllib"
[ "$lacks" ] || python yaml || lacks+=" yaml"
[ "$lacks" = " python3 yaml tomllib" ] || python tomllib || lacks+=" tomllib"
[ -z "$lacks" ] || echo "not all is tried: lacks$lacks"

fail() { # TEXT...
    printf '%s\n' "$*" >&2
    failed=1
}

mkdir later
parses() { # TARGET FILE: by the reader of its language; Python's read all files at once, see read_later
    case $1 in
    deepspeed*) jq -e 'type == "object"' "$2" >/dev/null ;;
    megatron | megatron@*) bash -n "$2" && ! grep -vE '^(#|--[a-z0-9])' "$2" ;;
    *) cp "$2" "later/$1 $files" ;;
    esac
}

read_later() {
    [[ $lacks != *python3* ]] || return 0
    python3 - "$lacks" <<'PY'
import os, sys

lacks, failed = sys.argv[1].split(), False
if "yaml" not in lacks:
    import yaml
if "tomllib" not in lacks:
    import tomllib
for name in sorted(os.listdir("later")):
    with open(os.path.join("later", name)) as file:
        text = file.read()
    target = name.split()[0]
    try:
        if target.startswith("jax") or target in ("torchtitan", "torchtitan@main"):
            compile(text, name, "exec")
        elif target.startswith("torchtitan@"):
            assert "tomllib" in lacks or tomllib.loads(text)
        else:
            assert "yaml" in lacks or isinstance(yaml.safe_load(text), dict)
    except Exception as error:
        print(f"export --to {target}: {error!r}: {text}", file=sys.stderr)
        failed = True
sys.exit(failed)
PY
}

keys=tp,pp,cp,zero,batch_sequences,seq
jq '{name: "plain"} + del(.gated_mlp, .aliases, .name, .["$schema"])' "$source/configs/models/llama3-8b.json" >plain.json

check() { # TARGET NOTED MODEL PLAN...: one file, printed, written to - and to a name
    local target=$1 noted=$2 expected read
    local -a model=($3)
    shift 3
    "$program" export --to "$target" "${model[@]}" --hw h100-8 "$@" >printed 2>notes || fail "export --to $target $*: $(cat notes)"
    parses "$target" printed 2>complaint || fail "export --to $target ${model[*]} $*: $(cat complaint): $(cat printed)"
    "$program" export --to "$target" "${model[@]}" --hw h100-8 "$@" -o - 2>notes.dash | cmp -s - printed ||
        fail "export --to $target $*: -o - prints another file"
    "$program" export --to "$target" "${model[@]}" --hw h100-8 "$@" -o written >/dev/null && cmp -s written printed ||
        fail "export --to $target $*: -o FILE writes another file"
    cmp -s notes notes.dash || fail "export --to $target $*: other notes with -o -"
    ! grep -v '^note: ' notes >&2 || fail "export --to $target $*: not a note on standard error"
    [ "$noted" = no ] || [ -s notes ] || fail "export --to $target $*: no note"
    ! grep -qF "$(head -1 notes | cut -c7-)" printed || [ ! -s notes ] || fail "export --to $target $*: its note is in the file"
    "$program" export --to "$target" "${model[@]}" --hw h100-8 "$@" --format json 2>errors >report.json
    [ ! -s errors ] && jq -r '.notes[]? | "note: " + .' report.json | cmp -s - notes ||
        fail "export --to $target $*: --format json has other notes: $(cat errors)"
    files=$((files + 1))
    [[ $target != jax* ]] || return 0 # which is read by nobody
    expected=$("$program" step "${model[@]}" --hw h100-8 "$@" --get $keys)
    read=$("$program" step --from printed "${model[@]}" --hw h100-8 --get $keys --quiet 2>&1)
    [ "$read" = "$expected" ] || fail "step --from of export --to $target ${model[*]} $*: "$read", not "$expected
}

targets=$("$program" help --format json | jq -r '[.. | objects | select(.name? == "to" and .choices?)][0].choices[]')
shape=layers=16,d_model=2048,heads=16,kv_heads=4,d_ff=8192,vocab=32000
server() { # TARGET SERVICE...: a command that a shell takes, and that serve --from reads back
    local target=$1 read expected keys=tpot_s,ttft_s,tokens_per_s,weights_bytes,max_batch
    shift
    "$program" export --to "$target" "$@" --hw h200-8 >printed 2>notes && bash -n printed || fail "export --to $target $*: $(cat notes)"
    expected=$("$program" serve "$@" --engine "$target" --hw h200-8 --get $keys)
    read=$("$program" serve --from printed --hw h200-8 --get $keys --quiet 2>&1)
    [ "$read" = "$expected" ] || fail "serve --from of export --to $target $*: $read, not $expected"
    files=$((files + 1))
}

for target in $targets; do
    case $target in vllm | sglang | trtllm)
        server "$target" --model llama3.1-70b --weights fp8 --kv fp8 --tpot 40ms --input 2048 --output 512
        server "$target" --model gpt-oss-120b --tp 2 --attention-dp 2 --concurrency 90
        server "$target" --model deepseek-v3 --weights awq --disaggregate tp2dp2:tp4 --concurrency 10
        server "$target" --model qwen3-8b --tp 2 --rate 3 --draft-tokens 3 --acceptance 0.7 --draft-model qwen3-0.6b
        continue ;;
    esac
    check $target yes "--model llama3-8b" --zero 3 --batch 3M
    [[ $target != *@* || $target == *@0.2.2 ]] || continue # older ones have the same notes
    check $target no "--model llama3-8b" --zero 3 --batch 128x8192
    check $target yes "--model llama3-8b" --zero 3 --batch 100000 --remat full
    check $target yes "--shape $shape" --zero 3 --batch 64x2048
    check $target yes "--model plain.json" --zero 3 --batch 64x8192 --remat none
done
"$program" import "$source/tests/data/huggingface-config.json" -o - >imported 2>notes && jq -e .layers imported >/dev/null ||
    fail "import -o - prints no JSON"
read_later || failed=1
echo "$files exports parse${lacks:+, but for$lacks}"
[ $files -ge 48 ] || fail "few exports"

if [[ $lacks == *python3* ]]; then
    echo "its Python is not run"
    exit $failed
fi
python3 - "$program" "$source" <<'PY' || failed=1
import json, re, shlex, subprocess, sys, tempfile, types
try:
    import yaml
except ImportError:
    yaml = None


def stand_in(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


class Checkpointing:
    class Config:
        pass


def spec(*dimensions):
    return [() if d is None else d if isinstance(d, tuple) else (d,) for d in dimensions]


def grid(shape, names, axis_types=None):
    assert axis_types in (None, ("auto",) * len(names))
    return dict(zip(names, shape, strict=True))


stand_in("torchtitan")
stand_in("torchtitan.distributed")
stand_in("torchtitan.models")
for folder, config in (("llama3", "llama3_8b"), ("deepseek_v3", "deepseek_v3_671b")):
    stand_in("torchtitan.models." + folder)
    stand_in("torchtitan.models." + folder + ".config_registry", **{config: None})
stand_in("torchtitan.distributed.activation_checkpoint", FullAC=Checkpointing, SelectiveAC=Checkpointing)
stand_in("jax", make_mesh=grid, sharding=types.SimpleNamespace(AxisType=types.SimpleNamespace(Auto="auto")))
stand_in("jax.sharding", Mesh=lambda shape, names: grid(shape, names), PartitionSpec=spec)
stand_in("jax.experimental", mesh_utils=types.SimpleNamespace(
    create_hybrid_device_mesh=lambda inside, between: [a * b for a, b in zip(inside, between, strict=True)]))


def product(mesh, axes):
    result = 1
    for axis in axes:
        result *= mesh[axis]
    return result


def run_torchtitan(text):
    scope = {}
    exec(text, scope)
    config = types.SimpleNamespace(parallelism=types.SimpleNamespace(), training=types.SimpleNamespace())
    p = vars(scope["apply"](config).parallelism)
    assert product(p, [f"{name}_degree" for name in ("data_parallel_replicate", "data_parallel_shard",
                   "tensor_parallel", "context_parallel", "pipeline_parallel")]) == 512, text


def run_jax(text):
    scope = {}
    exec(text, scope)
    mesh = scope["mesh"]
    assert product(mesh, mesh) == 512, text
    for name in ("tokens", "weights", "experts", "activations"):
        axes = [axis for dimension in scope.get(name, []) for axis in dimension]
        assert len(axes) == len(set(axes)) and set(axes) <= set(mesh), (name, text)
    zero, shards = map(int, re.search(r"ZeRO (\d) over (\d+)", text).groups())
    rows = scope["weights"][0]
    assert "cannot express: shard" in text or product(mesh, rows) == (shards if zero == 3 else 1), text


program, parsed = sys.argv[1], 0
for model in ("llama3-8b", "deepseek-v3", "gpt3-175b"):
    for hw in ("h100-512", "v5p-128x4", "gcp:v5p-1024"):
        for plan in ("--tp 8 --pp 4", "--zero 3 --cp 2", "--zero 2 --tp 4 --ep 8", "--zero 3 --fsdp 64",
                     "--zero 3 --cp 4 --tp 2 --ep 8 --remat full", "--zero 3 --fsdp 4 --cp 8 --pp 2 --remat none"):
            for target in ("torchtitan", "jax", "maxtext", "deepspeed", "megatron-bridge"):
                run = subprocess.run([program, "export", "--to", target, "--model", model, "--hw", hw, "--batch",
                                      "1024x2048"] + plan.split(), capture_output=True, text=True)
                if run.returncode == 3 and run.stderr and not run.stdout:
                    continue  # no such plan
                assert run.returncode == 0, (run.args, run.returncode, run.stderr)
                if target == "torchtitan":
                    run_torchtitan(run.stdout)
                elif target == "jax":
                    run_jax(run.stdout)
                elif target == "deepspeed":
                    options = json.loads(run.stdout)
                    tp = options.get("tensor_parallel", {}).get("autotp_size", 1)
                    assert options["train_batch_size"] == 1024 * tp, run.stdout  # it counts ranks
                elif target == "megatron-bridge":
                    options = yaml.safe_load(run.stdout) if yaml else {"train": {"global_batch_size": 1024}}
                    assert options["train"]["global_batch_size"] == 1024, run.stdout
                elif yaml:
                    options = yaml.safe_load(run.stdout)
                    inside = outside = 1
                    for key, value in options.items():
                        inside *= value if key.startswith("ici_") else 1
                        outside *= value if key.startswith("dcn_") else 1
                    assert inside * outside == 512, (run.stdout, inside, outside)
                    assert hw.startswith("h100") or outside == options["compile_topology_num_slices"], run.stdout
                parsed += 1
# A model of any name: no format lets it in as more than a name.
for name in ('a"b', "a\\b", 'x"],"elasticity":{"enabled":true},"_c":["', "8b: tuned", "# x", "'q", "$(id)", "]]>"):
    with open(sys.argv[2] + "/configs/models/llama3-8b.json") as file:
        model = {k: v for k, v in json.load(file).items() if k not in ("aliases", "$schema")}
    model["name"] = name
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(model, file)
        file.flush()
        def export(target):
            return subprocess.run([program, "export", "--to", target, "--model", file.name, "--hw", "h100-8"],
                                  capture_output=True, text=True, check=True).stdout
        options = json.loads(export("deepspeed"))
        assert options["_comment"][0].startswith("plan: " + name) and "elasticity" not in options
        compile(export("torchtitan"), "torchtitan", "exec")
        compile(export("jax"), "jax", "exec")
        assert all(line.startswith(("#", "-")) for line in export("megatron").splitlines()), export("megatron")
        assert shlex.split(export("vllm"), comments=True)[2] == name, export("vllm")
        assert not yaml or isinstance(yaml.safe_load(export("maxtext"))["base_num_decoder_layers"], int)
        parsed += 5
print(parsed, "exports parse")
assert parsed > 60
PY
exit $failed
