#!/usr/bin/env bash
# memcheck.sh PROGRAM: one command line of each command, and refusals, under valgrind: no error, nothing lost. Needs a
# build without sanitizers (exit 77 without valgrind).
set -u
source "$(dirname "$0")/needs.sh"
need valgrind
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export root program work HOME=$work OMP_NUM_THREADS=1
lines=(
  "fit --model llama2-13b --hw v5p-4096 --explain"
  "step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192 --format csv"
  "step --from $root/tests/data/launch-megatron.sh --hw h100-64"
  "search --model llama3-8b --hw h100-64 --batch 256x8192"
  "sweep step --model llama3-8b --hw h100-64 --tp 1,2 --batch 64x1024 --get step_s --format csv"
  "merge $root/tests/data/search-1-of-2.json $root/tests/data/search-2-of-2.json"
  "memory --model llama3-8b --precision mixed18 --zero 3 --dp 8"
  "flops --model mixtral-8x7b --seq 4096"
  "batch --model llama3-70b --hw v5p-8960"
  "roofline --matmul 512x4096x8192 --hw b200"
  "comm --op all-gather --array bf16[2048,8192] --hw v5e-32 --axes 4"
  "shard bf16[256,2048] I_XY,J --mesh X=4,Y=8,Z=2"
  "pipeline --pp 4 --microbatches 8 --schedule zb-h1"
  "serve --model llama3-70b --hw h100-8 --tp 8 --concurrency 64"
  "need --model llama2-13b --hw v5p-4096 --batch 3M --strategy fsdp --for compute-bound"
  "sensitivity --model llama3-8b --hw h100-64 --batch 256x8192 --tp 2"
  "train --model llama2-70b --tokens 2T --hw a100-2048"
  "scaling --flops 1e21"
  "lr --step 100"
  "import $root/tests/data/huggingface-config.json -o out.json"
  "export --to maxtext --model llama2-13b --hw v5p-4096 --tp 4 --batch 4096x4096"
  "list"
  "show h100"
  "lint $root/configs/models/llama3-8b.json $root/configs/models/mixtral-8x7b.json"
  "check $root/tests/textbook/learning.json $root/tests/textbook/roofline.json"
  "validate $root/tests/data/runs.csv"
  "fit --model lama --hw h100-8"
  "fit --model $root/README.md --hw h100-8"
  "validate $root/README.md"
  "fit --help"
)

# Runs one line under valgrind; says what is wrong with it.
one() { # LINE
  local line=$1 code folder
  folder=$(mktemp -d "$work/XXXXXX")
  # shellcheck disable=SC2086
  (cd "$folder" && valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite,indirect "$program" $line > out 2> err </dev/null)
  code=$?
  if [ $code = 99 ] || [ $code -gt 4 ]; then
    echo "valgrind: scaleplan $line"
    grep '^==' "$folder/err" | head -20
    return 1
  fi
  case $line in
  *lama\ * | *README* | validate*README*) [ $code = 3 ] ;;
  *) [ $code = 0 ] ;;
  esac || { echo "scaleplan $line: exit $code"; cat "$folder/err"; return 1; }
}
export -f one
printf '%s\0' "${lines[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'one "$1"' _ {} || exit 1
echo "${#lines[@]} command lines, no error, nothing lost"
