#!/usr/bin/env bash
# verdicts.sh PROGRAM SOURCE: every command says of one plan, on devices a little larger and smaller than it, the same of
# yes, tight and no, and the word that follows from its bytes: odds below 15 %, below 40 %, or above (awk integrates the
# normal distribution itself).
set -u
program=$(realpath "$1") source=$(realpath "$2") failed=0 compared=0
type jq awk >/dev/null 2>&1 || { echo "jq and awk are needed"; exit 77; }
scratch=$(mktemp -d) && cd "$scratch" || exit 2
trap 'rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME=$scratch LC_ALL=C
mkdir -p scaleplan/hardware

# CHIP BYTES: the chip with that much memory
make_chip() { sed "s/\"hbm_bytes\": {\"value\": [0-9.e+]*/\"hbm_bytes\": {\"value\": $2/" "$source/configs/hardware/$1.json" >"scaleplan/hardware/$1.json"; }

word_of() { # DEVICE CAPACITY RESIDUAL
    awk -v d="$1" -v c="$2" -v r="$3" 'BEGIN {
        if (r == 0) { print (d < c ? "yes" : "no"); exit }
        z = log(d / c) / r
        n = 20000; from = -12; h = (z - from) / n # Simpson
        for (i = 0; i <= n; i++) { x = from + i * h; odds += exp(-x * x / 2) * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) }
        odds *= h / 3 / sqrt(2 * 3.14159265358979)
        print (odds < .15 ? "yes" : odds < .4 ? "tight" : "no") }'
}

same() { # WHO EXPECTED SAID
    compared=$((compared + 1))
    [ "$2" = "$3" ] || { echo "$1: \"$3\" where its bytes say \"$2\""; failed=1; }
}

get() { "$program" "$@" 2>/dev/null; }

chip_for() { # CHIP DEVICE RESIDUAL SIGMAS: leaves a plan of so many bytes so many deviations of its estimate
    make_chip "$1" "$(awk -v d="$2" -v r="$3" -v s="$4" 'BEGIN { printf "%.0f", d * exp(s * r) }')"
}

residual_of() { # FRAMEWORK; without a spread of its own it has none
    local is
    is=$(sed -n 's/.*"memory_residual": \([0-9.]*\).*/\1/p' "$source/configs/frameworks/$1.json")
    echo "${is:-0}"
}

sides="-0.4 0 0.24 0.27 0.7 1.02 1.05 2"

# One plan by all commands
try() { # TARGET CHIP MACHINE MODEL BATCH FRAMEWORK DP TP PP ZERO MICRO REMAT
    local target=$1 chip=$2 hw=$3 model=$4 batch=$5 framework=$6
    shift 6
    local dp=$1 tp=$2 pp=$3 zero=$4 micro=$5 remat=$6 device residual expected sigmas at
    local all=(--model "$model" --hw "$hw" --batch "$batch" --framework "$framework")
    local plan=("${all[@]}" --dp "$dp" --tp "$tp" --pp "$pp" --zero "$zero" --micro-batch "$micro" --remat "$remat")
    local fixed=dp=$dp,tp=$tp,pp=$pp,vpp=1,cp=1,zero=$zero,micro-batch=$micro,remat=$remat,ep=1,etp=1,offload=off
    rm -f "scaleplan/hardware/$chip.json"
    device=$(get step "${plan[@]}" --get memory.device_bytes)
    residual=$(residual_of "$framework")
    [ -n "$device" ] || { echo "step ${plan[*]}: no answer"; failed=1; return; }
    for sigmas in $sides; do
        chip_for "$chip" "$device" "$residual" "$sigmas"
        expected=$(word_of "$device" "$(get step "${plan[@]}" --get memory.capacity_bytes)" "$residual")
        at="$model on $hw, $framework, $sigmas deviations free"
        same "step, $at" "$expected" "$(get step "${plan[@]}" --get memory.verdict)"
        same "step's lines, $at" "$expected" "$(get step "${plan[@]}" | sed -n 's/^memory  *fits, tightly.*/tight/p; s/^memory  *fits:.*/yes/p; s/^memory  *does not fit.*/no/p')"
        same "step -, $at" "$expected" "$(get step "${plan[@]}" --format json | jq -c . | get step - | jq -r .memory.verdict)"
        same "sweep, $at" "$expected" "$(get sweep step "${plan[@]}" --get memory.verdict | tail -1 | cut -d, -f2)"
        same "memory, $at" "$expected" "$(get memory "${plan[@]}" --get memory.verdict)"
        same "search, $at" "$expected" "$(get search "${all[@]}" --fix "$fixed" --get memory.verdict)"
        same "need, $at" "$expected" "$(get need "${plan[@]}" --for fits --get memory.verdict)"
        same "need's goal, $at" "$([ "$expected" = no ] && echo false || echo true)" "$(get need "${plan[@]}" --for fits --format json | jq .met)"
        same "sensitivity, $at" "$expected" "$(get sensitivity "${plan[@]}" --get memory.verdict)"
        same "export, $at" "$expected" "$(get export --to "$target" "${plan[@]}" --format json | jq -r .memory.verdict)"
        {
            echo "hw,framework,devices,model,seq,batch_sequences,micro_batch,tp,pp,dp,zero,remat,measured_step_s"
            echo "$chip,$framework,${hw##*-},$model,${batch#*x},${batch%x*},$micro,$tp,$pp,$dp,$zero,$remat,1"
        } >runs.csv
        same "validate, $at" "$expected" "$(get validate runs.csv --format json | jq -r '.runs[0].memory.verdict')"
    done
}

# The plan that `fit` chooses, whose bytes it says; FSDP is that of torchtitan
try_fit() { # CHIP MACHINE MODEL BATCH STRATEGY
    local ask=(fit --model "$3" --hw "$2" --batch "$4" --strategy "$5" --microbatches 1 --remat full) bytes sigmas
    rm -f "scaleplan/hardware/$1.json"
    bytes=$(get "${ask[@]}" --get best.device_bytes)
    for sigmas in $sides; do
        chip_for "$1" "$bytes" "$(residual_of torchtitan)" "$sigmas"
        same "fit, $5, $sigmas deviations free" \
            "$(word_of "$(get "${ask[@]}" --get best.device_bytes)" "$(get memory --model "$3" --hw "$2" --get memory.capacity_bytes)" "$(residual_of torchtitan)")" \
            "$(get "${ask[@]}" --get best.memory.verdict)"
    done
}

# An engine takes its share of the memory when it starts, and of it 2.5 GB a device for itself (configs/engines/vllm.json): what
# needs no more than the rest fits.
try_serve() { # CHIP MACHINE MODEL CONCURRENCY
    local total share
    rm -f "scaleplan/hardware/$1.json"
    total=$(get serve --model "$3" --hw "$2" --concurrency "$4" --get total_bytes)
    for share in 0.98 0.999 1.001 1.02; do
        make_chip "$1" "$(awk -v t="$total" -v n="${2##*-}" -v s=$share 'BEGIN { printf "%.0f", (t * s / n + 2.5e9) / 0.9 }')"
        same "serve, $share of what is needed" "$(awk -v s=$share 'BEGIN { print (s > 1 ? "yes" : "no") }')" \
            "$(get serve --model "$3" --hw "$2" --concurrency "$4" --memory-fraction 0.9 --get memory.verdict)"
    done
}

try megatron h100 h100-8 llama3-8b 64x8192 nemo 8 1 1 1 1 full
try megatron h100 h100-16 llama3-70b 64x8192 megatron 1 8 2 1 1 selective
try torchtitan h100 h100-8 llama3-8b 64x8192 torchtitan 8 1 1 3 2 full
try maxtext v5e v5e-16 llama3-8b 64x8192 maxtext 16 1 1 3 1 full
try megatron a100 a100-16 mixtral-8x7b 64x4096 nemo 16 1 1 1 1 full
try_fit h100 h100-8 llama3-8b 8x8192 fsdp
try_fit a100 a100-8 llama3-8b 8x8192 fsdp_tp
try_serve h100 h100-4 llama3-70b 8
echo "$compared verdicts compared"
exit $failed
