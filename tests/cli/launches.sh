#!/usr/bin/env bash
# launches.sh PROGRAM SOURCE: real launch files, where ../shared/data/launches has them (exit 77 where not): each says what
# its framework makes of it, or is refused by name. A row: part of the file's name, further words, what `step` must say.
set -uo pipefail
program=$1 files=$2/../shared/data/launches
[ -d "$files" ] || exit 77
failed=0 n=0

row() { # PART WORDS KEY=VALUE... | ! TEXT
    local part=$1 words=$2 file key got
    shift 2
    file=$(find "$files" -name "*$part*" | head -1)
    [ -n "$file" ] || { echo "no file *$part*"; failed=1; return; }
    n=$((n + 1))
    # shellcheck disable=SC2086
    if [ "$1" = '!' ]; then
        got=$("$program" step --from "$file" $words 2>&1 >/dev/null)
        [[ $got == *"$2"* ]] && return
        echo "$part: is not refused with \"$2\""
        failed=1
        return
    fi
    for key in "$@"; do
        # shellcheck disable=SC2086
        got=$("$program" step --from "$file" $words --get "${key%%=*}" 2>&1)
        [ "$got" = "${key#*=}" ] || { echo "$part: ${key%%=*} is $got, not ${key#*=}"; failed=1; }
    done
}

# DeepSpeed: gradients are of the model's format where data_types is silent (engine.py, get_data_types).
trained="--model llama3-8b --seq 4096 --batch 64x --hw h100-64"
row ds_zero2.json "$trained" zero=2 precision=mixed16
row ds_config_fp16_z3 "$trained" zero=3 precision=mixed16
row bsz24 "--model llama3-8b --seq 4096 --hw h100-8" zero=0 precision=mixed16 micro_batch=3 batch_tokens=98304
row onebitadam "--model llama3-8b --seq 4096 --hw h100-64" precision=mixed16 micro_batch=16 microbatches=4
row compression__gpt2 "--model llama3-8b --seq 4096 --hw h100-2" precision=mixed16 micro_batch=4 batch_tokens=32768
row bert__config__ds_config_TEMPLATE "$trained" ! ':3:39: expected a value'
row gpt_TEMPLATE "$trained" ! ':2:24: expected a value'
for part in FastChat ds_z3_fp8 ds_z3_offload zero3_bf16.json cpuoffload_all zero_stage3_offload; do
    row "$part" "$trained" zero=3 precision=mixed16
done
row zero_stage1 "$trained" zero=1 precision=mixed16
row bs8_zero2_gas3 "--model llama3-8b --seq 4096 --hw h100-64" zero=2 precision=mixed16 micro_batch=8 microbatches=3 remat=full
row template_zero3 "$trained" zero=3 precision=fp32
row torch_compile "--model llama3-8b --seq 4096 --hw h100-8" zero=3 precision=mixed16 micro_batch=1
# Megatron-LM's arguments as YAML.
row gpt3_15b_8t "--hw h100-64" tp=8 pp=1 dp=8 micro_batch=4 batch_tokens=4718592 zero=1 precision=mixed18 sequence_parallel=true
row benchmarking__DeepSeek-V3 "--hw h100-1024" ! '--tensor-model-parallel-size needs TP'
row benchmarking__DeepSeek-V3 "--hw h100-1024 --set-var TP=2 --set-var PP=8 --set-var EP=64 --set-var CP=1 --set-var MBS=1 --set-var GBS=8192 --set-var SEQ_LEN=4096" \
    tp=2 pp=8 ep=64 dp=64 batch_tokens=33554432 zero=1 precision=mixed18 etp=1
row 70b_finetune "--hw h100-64" tp=8 pp=4 dp=2 micro_batch=1 batch_tokens=8388608 zero=1 precision=mixed18
row deepseek_v3-BF16 "--hw h100-64" model=deepseek-v3 tp=1 ep=8 micro_batch=4 batch_tokens=1048576 zero=0 precision=mixed18
row megatron_gpt_config "--hw h100-2" tp=1 pp=1 micro_batch=4 batch_tokens=4096
# MaxText, GPUs with a host as a slice.
row gpu__models__llama3.1_405b "--hw h100-1024" shards=8 dp=1024 batch_tokens=4194304 remat=full
row gpu__models__llama2_7b "--hw h100-8" shards=8 batch_tokens=131072 remat=none
row mixtral_8x7b "--hw h100-64" shards=8 batch_tokens=3145728 remat=none
row llama2_70b_v5e-16 "--hw v5e-16" ! 'rules of sharding: activation_batch is not split over fsdp'
row llama3_70B-bf16 "--hw h100-64" model=llama3-70b shards=8 batch_tokens=3670016 remat=full
# torchtitan, GPT-NeoX, accelerate.
row llama3_405b.toml "--hw h100-128" model=llama3-405b tp=8 dp=16 zero=3 remat=full batch_tokens=262144
row deepseek_v3_671b "--hw h100-512" model=deepseek-v3 tp=1 ep=1 zero=3 micro_batch=4 batch_tokens=8388608
row configs__20B "--hw a100-40gb-96" tp=2 pp=4 dp=12 zero=1 remat=full precision=mixed16 batch_tokens=3145728
row pythia__12B "--hw a100-256" tp=4 pp=1 zero=1 remat=full precision=mixed16 batch_tokens=2097152
row config_yaml_templates__fsdp "--hw h100-2 --model llama3-8b --batch 8x2048" zero=3 remat=none
row tp_hsdp "--hw h100-8 --model llama3-8b --batch 8x2048" tp=2 dp=4 shards=2 zero=3

[ "$failed" = 0 ] && echo "$n launch files as their frameworks have them"
exit "$failed"
