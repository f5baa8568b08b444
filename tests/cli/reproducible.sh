#!/usr/bin/env bash
# reproducible.sh PROGRAM OTHER...: the same bytes from every build, every number of threads, every run.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work
sed -n 's/^"\(.*\)",$/\1/p' "$root/tests/unit/command_lines.inc" | sed 's/\\"/"/g' > "$work/lines"
programs=()
for program in "$@"; do
  programs+=("$(realpath "$program")")
done
set -- "${programs[@]}"
cd "$root" || exit 2 # the lines name files from there
say_all() { # PROGRAM THREADS FILE
  while read -r line; do
    echo "$ $line"
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=$2 "$1" $line --format json 2>&1 </dev/null
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=$2 "$1" $line 2>&1 </dev/null
  done < "$work/lines" > "$3"
}
# All at once: they are many short processes, and their answers must not depend on what else runs.
first=$1
say_all "$first" 1 "$work/first" &
runs=1
start() { # PROGRAM THREADS
  runs=$((runs + 1))
  said[runs]="$1 with $2 threads"
  say_all "$1" "$2" "$work/$runs" &
}
start "$first" 1
start "$first" 2
start "$first" 5
shift
for other in "$@"; do
  start "$other" 2
done
wait
for ((run = 2; run <= runs; run++)); do
  cmp -s "$work/first" "$work/$run" || {
    echo "${said[run]} says something else:"
    diff "$work/first" "$work/$run" | head -10
    exit 1
  }
done
[ "$(wc -l < "$work/lines")" -gt 50 ] && echo "$(wc -l < "$work/lines") command lines, $runs times: the same $(wc -c < "$work/first") bytes (as $first)"
