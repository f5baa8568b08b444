#!/usr/bin/env bash
# rooms.sh [SOURCE]: files, lines, and the median and longest function of each room of src, then of all.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$tools/../..}/src"
row() { # NAME FILES...
  local name=$1
  shift
  bash "$tools/functions.sh" "$name" | sort -n | awk -v room="$name" -v files="$(find "$name" -name '*.[ch]' -o -name '*.def' | wc -l)" \
    -v lines="$(find "$name" \( -name '*.[ch]' -o -name '*.def' \) -exec cat {} + | wc -l)" '
    { n++; size[n] = $1; where = $2 " " $3 }
    END { printf "%-9s %5d %6d %9d %6d %7d  %s\n", room, files, lines, n, n ? size[int((n + 1) / 2)] : 0, size[n], where }'
}
printf '%-9s %5s %6s %9s %6s %7s\n' room files lines functions median longest
for room in */; do
  [ -z "$(find "$room" -name '*.c' -print -quit)" ] || row "${room%/}"
done
row .
