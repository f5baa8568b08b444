#!/bin/bash
# The exercise book is what the program writes from the textbook cases, and every case in it passes.
#   exercises.sh PROGRAM SOURCE_DIR            compares docs/exercises.md with the generated text
#   exercises.sh --write PROGRAM SOURCE_DIR    writes docs/exercises.md
set -u -o pipefail
export LC_ALL=C
write=no
if [ "${1-}" = --write ]; then
    write=yes
    shift
fi
program=$1
page=$2/docs/exercises.md
generated=$(mktemp)
trap 'rm -f "$generated"' EXIT

if ! "$program" check "$2"/tests/textbook/*.json --book > "$generated"; then
    "$program" check "$2"/tests/textbook/*.json | grep -v ' yes '
    echo "exercises.sh: cases fail" >&2
    exit 1
fi
if [ "$write" = yes ]; then
    cp "$generated" "$page"
else
    diff -u "$page" "$generated"
fi
