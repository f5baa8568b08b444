#!/usr/bin/env bash
# exports.sh PROGRAM: what export prints parses in its own language. Needs python3 (exit 77 without), and its yaml for
# MaxText's.
set -u
command -v python3 >/dev/null || exit 77
python3 - "$1" <<'PY'
import ast, json, subprocess, sys
try:
    import yaml
except ImportError:
    yaml = None
program, parsed = sys.argv[1], 0
for model in ("llama3-8b", "deepseek-v3", "gpt3-175b"):
    for hw in ("h100-512", "v5p-128x4", "gcp:v5p-1024"):
        for plan in ("--tp 8 --pp 4", "--zero 3 --cp 2", "--zero 2 --tp 4 --ep 8", "--zero 3 --fsdp 64"):
            for target in ("torchtitan", "jax", "maxtext", "deepspeed"):
                run = subprocess.run([program, "export", "--to", target, "--model", model, "--hw", hw, "--batch",
                                      "1024x2048"] + plan.split(), capture_output=True, text=True)
                if run.returncode != 0:
                    continue  # no such plan
                if target in ("torchtitan", "jax"):
                    ast.parse(run.stdout)
                elif target == "deepspeed":
                    options = json.loads(run.stdout)
                    assert options["train_batch_size"] == 1024
                elif yaml:
                    options = yaml.safe_load(run.stdout)
                    inside = outside = 1
                    for key, value in options.items():
                        inside *= value if key.startswith("ici_") else 1
                        outside *= value if key.startswith("dcn_") else 1
                    assert inside * outside == 512, (run.stdout, inside, outside)
                    assert hw.startswith("h100") or outside == options["compile_topology_num_slices"], run.stdout
                parsed += 1
print(parsed, "exports parse")
assert parsed > 60
PY
