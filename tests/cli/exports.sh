#!/usr/bin/env bash
# exports.sh PROGRAM SOURCE: what export prints parses in its own language, and its Python runs (with stand-ins for the
# frameworks): every name is defined, every spec names axes of the mesh, the mesh is all devices, and weights shard over
# as many as the title says. Needs python3 (exit 77 without), and its yaml for MaxText's.
set -u
command -v python3 >/dev/null || exit 77
python3 - "$1" "$2" <<'PY'
import json, re, subprocess, sys, tempfile, types
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
        assert not yaml or isinstance(yaml.safe_load(export("maxtext"))["base_num_decoder_layers"], int)
        parsed += 5
print(parsed, "exports parse")
assert parsed > 60
PY
