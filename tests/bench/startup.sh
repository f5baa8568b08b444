#!/usr/bin/env bash
# Wall time of `scaleplan fit`, from fork to exit, as a ratio to /bin/true run beside it in turns.
#   startup.sh PROGRAM [ROUNDS]
set -eu
program=$1
rounds=${2:-20}
runs=50
sum_fit=0 sum_true=0
micros() { printf '%s' "${EPOCHREALTIME/[.,]/}"; }
for ((i = 0; i < rounds; i++)); do
  start=$(micros)
  for ((k = 0; k < runs; k++)); do "$program" fit --model llama2-13b --hw v5p-4096 >/dev/null; done
  middle=$(micros)
  for ((k = 0; k < runs; k++)); do /bin/true; done
  end=$(micros)
  sum_fit=$((sum_fit + middle - start)) sum_true=$((sum_true + end - middle))
done
n=$((rounds * runs))
awk -v f="$sum_fit" -v t="$sum_true" -v n="$n" 'BEGIN {
  printf "fit %.3f ms, /bin/true %.3f ms, ratio %.2f (%d runs each)\n", f / n / 1000, t / n / 1000, f / t, n }'
