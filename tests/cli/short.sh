#!/usr/bin/env bash
# short.sh PROGRAM SOURCE: the text of every example of --help, and of forty questions whose answers say much, is at most 12 lines of at most 80 columns, where it is an
# answer: not another format, values alone, a file for another program, a picture, or a listing, whose lines fit all the
# same. A command line to copy may be wider only where no blank is left to break it at.
set -u
program=$(realpath "$1") data=$(realpath "$2/tests/data") failed=0 looked=0
type jq >/dev/null 2>&1 || { echo "jq is needed"; exit 77; }
scratch=$(mktemp -d) && cd "$scratch" || exit 2
trap 'rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME=$scratch LC_ALL=C PATH="$scratch/bin:$PATH"
mkdir bin kernels && ln -s "$program" bin/scaleplan
unset SCALEPLAN_CONFIG_PATH

# The files that examples name.
ln -s "$data/huggingface-config.json" config.json
ln -s "$data/launch-megatron.sh" pretrain.sh
ln -s "$data/launches/verl_grpo_fsdp.sh" run_grpo.sh
ln -s "$data/runs-new.csv" runs.csv
ln -s "$data/kernel-times.csv" kernels.csv
ln -s "$data/nccl-tests.txt" nccl.txt
ln -s "$data/search-1-of-2.json" part-1.json
ln -s "$data/search-2-of-2.json" part-2.json

is_answer() { # LINE
    case $1 in
    *--get\ * | *--format\ * | *--explain* | *--plot\ -* | *\|* | *\>* | completion* | export* | sweep* | merge\ rows*) return 1 ;;
    esac
}

is_list() { # LINE
    case $1 in list* | show* | lint* | check*) return 0 ;; esac
    return 1
}

look() { # LINE
    local lines widest
    eval "$1" >answer 2>/dev/null # --check decides the exit code
    [ -s answer ] || return
    looked=$((looked + 1))
    lines=$(grep -c ^ answer)
    widest=$(awk '/^ *--shape [^ ]* \\$/ { next } length > n { n = length } END { print n + 0 }' answer)
    is_list "${1#scaleplan }" || [ "$lines" -le 12 ] || { echo "$1: $lines lines"; failed=1; }
    [ "$widest" -le 80 ] || { echo "$1: $widest columns"; failed=1; }
}

while read -r line; do
    is_answer "${line#scaleplan }" && look "${line%%&&*}"
done < <(scaleplan help --format json | jq -r '.[].examples[]? | (.command // .line // .)')
examples=$looked

# Odd numbers of devices, several machines, pools, experts, adapters, tensor cores of others, limits that are not kept.
while read -r line; do look "scaleplan $line"; done <<'EOF'
search --model llama3-70b --hw h100-504 --batch 1024x8192
search --model llama3-70b --hw gb200-504 --batch 1024x8192
search --model llama3-70b --hw h20-504 --batch 1024x8192 --tokens 1T
search --model llama3-8b --hw h100-504 --batch 1024x8192 --tokens 1T
search --model llama3-405b --hw h100-16384 --batch 2048x8192 --tokens 15T
search --model deepseek-v3 --hw h800-2048 --batch 15360x4096 --precision fp8
search --model mixtral-8x22b --hw h100-504 --batch 1008x8192 --tokens 2T --budget 1M
search --model llama3-70b --hw h100-504,h200-504,b200-504 --batch 1024x8192 --tokens 2T --price 2.5
search --model llama3-70b --hw h100-24 --batch 128x8192 --trainable lora
search --model llama3-70b --hw trn2-64 --batch 256x8192
search --model llama3-8b --hw v5e-256 --batch 1024x8192 --framework maxtext
search --model llama3-70b --hw h100-512 --idle 16 --batch 1000x8192 --tokens 2T
search --model llama3-70b --hw h100-512 --batch 1024x8192 --pareto step,memory,cost
search --model llama3-405b --hw h100-64 --batch 2048x8192
serve --model deepseek-v3 --hw h100-96 --engine sglang --input 2000 --output 1000 --disaggregate auto
serve --model deepseek-v3 --hw h100-96 --engine sglang --disaggregate dp32:dp64 --concurrency 16384
serve --model qwen3-32b --weights fp8 --hw h200-32 --engine trtllm --ttft 300ms --tpot 10ms --disaggregate auto
serve --model deepseek-r1 --hw h200-8 --draft-tokens 2 --accepted 1.7 --ep 8
serve --model llama3.1-8b --hw h100-1 --input 1000 --output 100 --context 64000 --concurrency 16
serve --model llama3.1-70b --hw h100-8,mi300x-8,b200-8 --ttft 1s --tpot 30ms --rate 100
serve --model llama3.1-70b --hw h100-8 --rate 5 --simulate 1000
serve --model llama3.1-70b --hw v6e-16
fit --model deepseek-v3 --hw h100-1024 --batch 4096x4096 --tokens 14.8T
fit --model llama3-70b --hw h100-504 --tokens 2T --against v5p-512
fit --model llama3-70b --hw h100-512 --mesh dp=8,fsdp=8,tp=8
step --model deepseek-v3 --hw h800-2048 --pp 16 --ep 64 --batch 15360x4096 --precision fp8 --schedule dualpipe --dispatch deepep
step --model llama3-70b --hw h100-504 --batch 1008x8192
step --model llama3-70b --hw h100-8 --batch 64x8192
step --from pretrain.sh --hw h100-512
memory --model deepseek-v3 --hw h800-2048 --pp 16 --ep 64 --batch 15360x4096 --precision fp8
batch --hw h100-504 --model deepseek-v3 --batch 4M
batch --hw v5p-4096 --model mixtral-8x7b --tp 8 --batch 3M
comm --op ar --bytes 1GB --hw h100-504
rl --model llama3-8b --hw h100-64 --prompts 512 --group 16 --output 4000
rl --model qwen3-32b --hw h100-120 --prompts 256 --group 16 --output 8000 --search
scaling --compute 1e25
train --model llama3-405b --hw h100-16384 --tokens 15T --capex 40000 --in-use 80% --pue 1.3
need --model llama3-70b --hw h100-504 --batch 1024x8192 --for days=30 --tokens 1T
sensitivity --model deepseek-v3 --hw h800-2048 --pp 16 --ep 64 --batch 15360x4096
validate runs.csv
calibrate runs.csv --hw h100 --framework nemo
EOF
[ "$looked" -ge $((examples + 40)) ] || { echo "only $((looked - examples)) questions were answered"; failed=1; }
[ "$looked" -ge 100 ] || { echo "only $looked examples were looked at"; failed=1; }
[ $failed -eq 0 ] && echo "$looked answers are short"
exit $failed
