#!/usr/bin/env bash
# functions.sh FOLDER: prints LINES FILE:LINE NAME for every function in its .c files, counting lines between the braces.
# Assumes clang-format's layout: only a function's opening brace is alone in the first column.
set -eu
find "$1" -name '*.c' | sort | xargs --no-run-if-empty awk '
  /^[A-Za-z]/ { name = $0; line = FNR }
  /^{$/ { body = FNR }
  /^}$/ && body {
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    print FNR - body - 1, FILENAME ":" line, name
    body = 0
  }'
