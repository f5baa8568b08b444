#!/usr/bin/env bash
# booleans.sh PROGRAM SOURCE: the words of tests/data/yaml_booleans.tsv are true, false or text to every reader of YAML as
# they are to PyYAML, which reads the table itself where python3 has it.
set -u
program=$(realpath "$1") table=$(realpath "$2")/tests/data/yaml_booleans.tsv failed=0 compared=0
scratch=$(mktemp -d) && cd "$scratch" || exit 2
trap 'rm -rf "$scratch"' EXIT

if python3 -c 'import yaml' 2>/dev/null; then
    python3 - "$table" <<'PY' || failed=1
import sys, yaml
for line in open(sys.argv[1]):
    word, truth = line.rstrip("\n").split("\t")
    value = yaml.safe_load("key: " + word)["key"]
    found = str(value).lower() if isinstance(value, bool) else "text"
    assert found == truth, (word, truth, value)
PY
else
    echo "the table is not compared with PyYAML: python3 has no yaml"
fi

step() { "$program" step --from "$1" --hw h100-8 "${@:3}" --get "$2" 2>&1; }

reader() { # NAME KEY OPTIONS...: standard input is the file, @ the value
    local name=$1 key=$2 word truth expected
    local -A said
    shift 2
    cat >template
    for truth in true false; do
        sed "s/@/$truth/" template >file.yaml
        said[$truth]=$(step file.yaml "$key" "$@") || { echo "$name: ${said[$truth]}"; failed=1; }
    done
    [ "${said[true]}" != "${said[false]}" ] || { echo "$name: $key does not tell true from false"; failed=1; }
    while IFS=$'\t' read -r word truth; do
        [ "$truth" != text ] || continue
        sed "s/@/$word/" template >file.yaml
        expected=${said[$truth]}
        [ "$(step file.yaml "$key" "$@")" = "$expected" ] ||
            { echo "$name: $word is not read as $truth"; failed=1; }
        compared=$((compared + 1))
    done <"$table"
}

reader "accelerate, recomputation" remat --model llama3.2-1b --batch 8x1024 <<'END'
distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_activation_checkpointing: @
END
reader "accelerate, sharding" zero --model llama3.2-1b --batch 8x1024 <<'END'
distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_reshard_after_forward: @
END
reader "axolotl" remat <<'END'
base_model: llama3.2-1b
micro_batch_size: 1
sequence_len: 1024
gradient_checkpointing: @
END
reader "axolotl, weights" memory.params_bytes <<'END'
base_model: llama3.2-1b
micro_batch_size: 1
sequence_len: 1024
adapter: lora
lora_r: 8
load_in_8bit: @
END
reader "LLaMA-Factory" dtype <<'END'
model_name_or_path: llama3.2-1b
per_device_train_batch_size: 1
cutoff_len: 1024
finetuning_type: full
do_train: true
bf16: @
END
reader "MaxText" zero <<'END'
base_config: base.yml
model_name: llama3.1-8b
ici_fsdp_parallelism: 1
ici_data_parallelism: 8
shard_optimizer_over_data: @
max_target_length: 1024
per_device_batch_size: 1
END
reader "Megatron-Bridge" memory.params_bytes <<'END'
model:
  num_layers: 16
  hidden_size: 2048
  num_attention_heads: 16
  seq_length: 2048
  gated_linear_unit: @
  ffn_hidden_size: 8192
  vocab_size: 50257
train:
  global_batch_size: 8
  micro_batch_size: 1
END
reader "GPT-NeoX" memory.params_bytes <<'END'
"pipe_parallel_size": 1
"model_parallel_size": 1
"num_layers": 16
"hidden_size": 2048
"num_attention_heads": 16
"seq_length": 2048
"max_position_embeddings": 2048
"train_micro_batch_size_per_gpu": 1
"use_bias_in_mlp": @
END
echo "$compared words read"
[ $failed -eq 0 ] && [ $compared -ge 144 ]
