#!/usr/bin/env bash
# run.sh COMPILER...: compiles src/core and those of its tests that need nothing else with each compiler ("cc -m32",
# "musl-gcc -static") and runs them.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for compiler in "$@"; do
  passed=0
  mkdir -p "$work/objects"
  find "$root/src/core" -name '*.c' | while read -r source; do
    $compiler -std=c11 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -ffp-contract=off -D_GNU_SOURCE -I"$root/include" -I"$root/src" \
      -c "$source" -o "$work/objects/$(basename "$source").o"
  done
  for test in "$root"/tests/unit/test_*.c; do
    grep -E '#include "([a-z]+/|fit_case|launched|asked)' "$test" | grep -qv '"core/' && continue
    grep -l 'cmocka_run' "$test" >/dev/null || continue
    $compiler -std=c11 -O2 -ffp-contract=off -D_GNU_SOURCE -I"$root/tests/portable" -I"$root/include" -I"$root/src" \
      "$test" "$work"/objects/*.o -lm -o "$work/test"
    "$work/test" > "$work/out" || { echo "$compiler: $(basename "$test") failed"; exit 1; }
    passed=$((passed + 1))
  done
  for test in model memory step network pipeline collective; do
    $compiler -std=c11 -O2 -ffp-contract=off -D_GNU_SOURCE -I"$root/tests/portable" -I"$root/include" \
      "$root"/tests/obvious/{$test,listing,world}.c "$work"/objects/*.o -lm -o "$work/test"
    "$work/test" > "$work/out" || { echo "$compiler: obvious/$test.c failed"; exit 1; }
    passed=$((passed + 1))
  done
  echo "$compiler: $passed files of tests passed"
  [ $passed -ge 12 ]
done
