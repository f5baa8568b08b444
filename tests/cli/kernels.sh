#!/usr/bin/env bash
# kernels.sh FIT FOLDER CSV...: the files of FOLDER are what FIT makes of the measurements. Exit 77 where those are not.
set -u
fit=$1 folder=$2
shift 2
for csv in "$@"; do
  [ -r "$csv" ] || { echo "$csv is not here: what it says of kernels is not fitted again"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$fit" "$@" "$work" && diff -r "$folder" "$work" ||
  { echo "configs/kernels is not what the measurements make of it: cmake --build ... --target kernels"; exit 1; }
