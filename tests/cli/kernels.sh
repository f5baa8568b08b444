#!/usr/bin/env bash
# kernels.sh FIT FOLDER CSV...: the files of FOLDER that FIT wrote are what it makes of the measurements. Exit 77 where those
# are not. Files of other sources stand beside them.
set -u
fit=$1 folder=$2
shift 2
for csv in "$@"; do
  [ -r "$csv" ] || { echo "skipped: lacks $csv"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/written" "$work/there"
grep -lF fit_kernels.c "$folder"/*.json | xargs -I{} cp {} "$work/there"
"$fit" "$@" "$work/written" && diff -r "$work/there" "$work/written" ||
  { echo "configs/kernels is not what the measurements make of it: cmake --build ... --target kernels"; exit 1; }
