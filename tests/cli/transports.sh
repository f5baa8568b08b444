#!/usr/bin/env bash
# transports.sh FIT COLLECTIVES.csv FOLDER: the curves of the networks in FOLDER are what FIT makes of the measurements.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$2" "$3" "$work" || exit 1
for file in "$work"/*.json; do
  diff "$3/${file##*/}" "$file" ||
    { echo "configs/networks is not what the measurements make of it: cmake --build ... --target transports"; exit 1; }
done
