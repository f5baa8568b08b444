#!/usr/bin/env bash
# functions.sh FOLDER: LINES FILE:LINE NAME of every function of its .c files, in lines between the braces. As clang-format
# lays the code out, only a function's opening brace stands alone in the first column.
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
