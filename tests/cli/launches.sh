#!/usr/bin/env bash
# launches.sh PROGRAM SOURCE: launch files are read as their frameworks have them: those of tests/data/launches, by the table
# beside them, and where ../shared/data/launches lies beside the repository real ones too, by the rows below.
set -uo pipefail
program=$1 source=$2 real=$2/../shared/data/launches
source "$(dirname "$0")/needs.sh"
failed=0 n=0
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
own="$place/a folder/launches" # where a path that is split at its blank is found out
mkdir "$place/a folder"
cp -r "$source/tests/data/launches" "$own"

fail() {
    echo "$*"
    failed=1
}

# What `step` says of a launch as "key=value" lines: its own keys, and the words of the options that were read (--name value)
# and of a model's shape (--shape name=value,...) where it has no key of that name.
said='
def words: [match("--([a-z0-9-]+) ([^ ]+)"; "g").captures | {(.[0].string): .[1].string}] | add // {};
(.launch.options | words) as $options
| ($options.shape // "" | split(",") | map(split("=") | {(.[0]): .[1]}) | add // {}) as $shape
| $shape + $options + (with_entries(select(.value | type != "object" and type != "array")))
  + {"lora.params": .lora.params?, "read as": .launch.format, unread: ([.notes[] | select(startswith("not read:"))] | join("; "))}
| to_entries[] | "\(.key)=\(.value)"'

# FILE WORDS FACT... | FILE WORDS ! TEXT: the file, read with the words, says each fact or is refused with the text.
row() {
    local file=$1 name=${1##*/} words=$2 fact got
    shift 2
    n=$((n + 1))
    # shellcheck disable=SC2086
    if [ "$1" = '!' ]; then
        got=$("$program" step --from "$file" $words 2>&1 >/dev/null)
        [[ $got == *"$2"* ]] || fail "$name: is not refused with \"$2\": $got"
        return
    fi
    # shellcheck disable=SC2086
    got=$("$program" step --from "$file" $words --format json 2>&1) || { fail "$name $words: $got"; return; }
    got=$'\n'$(jq -r "$said" <<<"$got")$'\n'
    for fact in "$@"; do
        [[ $got == *$'\n'"$fact"$'\n'* ]] || fail "$name $words: $(grep -m 1 "^${fact%%=*}=" <<<"$got"), expected $fact"
    done
}

# A row of the table: nothing of the file may be left unread.
own_row() { # FILE FORM WORDS FACTS
    if [[ $4 == '! '* ]]; then
        row "$own/$1" "$3" '!' "${4#! }"
    else
        # shellcheck disable=SC2086
        row "$own/$1" "$3" "read as=$2" unread= $4
    fi
}

while IFS=$'\t' read -r file form words facts; do
    [[ $file == '#'* ]] || own_row "$file" "$form" "$words" "$facts"
done <"$own/facts.tsv"

for file in "$own"/*; do
    [ "${file##*/}" = facts.tsv ] || grep -q "^${file##*/}	" "$own/facts.tsv" || fail "${file##*/}: has no row in facts.tsv"
done
forms=$(cut -f 2 "$own/facts.tsv")
while IFS= read -r form; do # of every reader
    grep -qxF "$form" <<<"$forms" || fail "facts.tsv has no $form"
done < <(sed -n 's/^    \.format = "\(.*\)",$/\1/p' "$source"/src/launch/*/*.c)
echo "$n rows of our own launch files"
[ "$n" -ge 40 ] || fail "only $n rows"

# Real launch files.
has shared || exit "$failed"
n=0

real_row() { # PART-OF-THE-NAME WORDS FACT... | ! TEXT
    local file
    file=$(find "$real" -name "*$1*" | head -1)
    if [ -n "$file" ]; then row "$file" "${@:2}"; else fail "no file *$1*"; fi
}

# DeepSpeed: gradients are of the model's format where data_types is silent (engine.py, get_data_types).
trained="--model llama3-8b --seq 4096 --batch 64x --hw h100-64"
real_row ds_zero2.json "$trained" zero=2 precision=mixed16
real_row ds_config_fp16_z3 "$trained" zero=3 precision=mixed16
real_row bsz24 "--model llama3-8b --seq 4096 --hw h100-8" zero=0 precision=mixed16 micro_batch=3 batch_tokens=98304
real_row onebitadam "--model llama3-8b --seq 4096 --hw h100-64" precision=mixed16 micro_batch=16 microbatches=4
real_row compression__gpt2 "--model llama3-8b --seq 4096 --hw h100-2" precision=mixed16 micro_batch=4 batch_tokens=32768
real_row bert__config__ds_config_TEMPLATE "$trained" ! ':3:39: expected a value'
real_row gpt_TEMPLATE "$trained" ! ':2:24: expected a value'
for part in FastChat ds_z3_fp8 ds_z3_offload zero3_bf16.json cpuoffload_all zero_stage3_offload; do
    real_row "$part" "$trained" zero=3 precision=mixed16
done
real_row zero_stage1 "$trained" zero=1 precision=mixed16
real_row bs8_zero2_gas3 "--model llama3-8b --seq 4096 --hw h100-64" zero=2 precision=mixed16 micro_batch=8 microbatches=3 remat=full
real_row template_zero3 "$trained" zero=3 precision=fp32
real_row torch_compile "--model llama3-8b --seq 4096 --hw h100-8" zero=3 precision=mixed16 micro_batch=1
# Megatron-LM's arguments as YAML.
real_row gpt3_15b_8t "--hw h100-64" tp=8 pp=1 dp=8 micro_batch=4 batch_tokens=4718592 zero=1 precision=mixed18 sequence_parallel=true
real_row benchmarking__DeepSeek-V3 "--hw h100-1024" ! '--tensor-model-parallel-size needs TP'
real_row benchmarking__DeepSeek-V3 "--hw h100-1024 --set-var TP=2 --set-var PP=8 --set-var EP=64 --set-var CP=1 --set-var MBS=1 --set-var GBS=8192 --set-var SEQ_LEN=4096" \
    tp=2 pp=8 ep=64 dp=64 batch_tokens=33554432 zero=1 precision=mixed18 etp=1
real_row 70b_finetune "--hw h100-64" tp=8 pp=4 dp=2 micro_batch=1 batch_tokens=8388608 zero=1 precision=mixed18
real_row deepseek_v3-BF16 "--hw h100-64" model=deepseek-v3 tp=1 ep=8 micro_batch=4 batch_tokens=1048576 zero=0 precision=mixed18
real_row megatron_gpt_config "--hw h100-2" tp=1 pp=1 micro_batch=4 batch_tokens=4096
# MaxText, GPUs with a host as a slice.
real_row gpu__models__llama3.1_405b "--hw h100-1024" shards=8 dp=1024 batch_tokens=4194304 remat=full
real_row gpu__models__llama2_7b "--hw h100-8" shards=8 batch_tokens=131072 remat=none
real_row mixtral_8x7b "--hw h100-64" shards=8 batch_tokens=3145728 remat=none
real_row llama2_70b_v5e-16 "--hw v5e-16" ! 'rules of sharding: activation_batch is not split over fsdp'
real_row llama3_70B-bf16 "--hw h100-64" model=llama3-70b shards=8 batch_tokens=3670016 remat=full
# torchtitan, GPT-NeoX, accelerate.
real_row llama3_405b.toml "--hw h100-128" model=llama3-405b tp=8 dp=16 zero=3 remat=full batch_tokens=262144
real_row deepseek_v3_671b "--hw h100-512" model=deepseek-v3 tp=1 ep=1 zero=3 micro_batch=4 batch_tokens=8388608
real_row configs__20B "--hw a100-40gb-96" tp=2 pp=4 dp=12 zero=1 remat=full precision=mixed16 batch_tokens=3145728
real_row pythia__12B "--hw a100-256" tp=4 pp=1 zero=1 remat=full precision=mixed16 batch_tokens=2097152
real_row config_yaml_templates__fsdp "--hw h100-2 --model llama3-8b --batch 8x2048" zero=3 remat=none
real_row tp_hsdp "--hw h100-8 --model llama3-8b --batch 8x2048" tp=2 dp=4 shards=2 zero=3

echo "$n rows of real launch files"
exit "$failed"
