#!/usr/bin/env bash
# headers.sh CC SOURCE: every header of include/ compiles alone, as C11 and (where there is a compiler of it) as C++11,
# its functions have C linkage for both, and no parameter of a prototype has one letter for a name.
set -u
source "$(dirname "$0")/needs.sh"
cc=$1
cd "$2/include/scaleplan" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 n=0
fail() { echo "$*"; failed=1; }
for header in *.h; do
  n=$((n + 1))
  echo "#include <scaleplan/$header>" | tee "$work/alone.c" > "$work/alone.cc"
  "$cc" -std=c11 -pedantic -Wall -Wextra -Werror -I.. -fsyntax-only "$work/alone.c" || fail "$header: not C"
  if has c++; then
    c++ -std=c++11 -pedantic -Wall -Wextra -Werror -I.. -fsyntax-only "$work/alone.cc" || fail "$header: not C++"
  fi
  [ "$header" = scaleplan.h ] && continue
  grep -q '^extern "C" {$' "$header" || fail "$header: no extern \"C\""
  grep -q "^#include <scaleplan/$header>$" scaleplan.h || fail "$header: scaleplan.h does not include it"
done
letters=$(for header in *.h; do "$cc" -fpreprocessed -dD -E -P "$header" 2>/dev/null; done | tr '\n' ' ' | tr ';' '\n' |
  grep -oE 'sp_[a-z0-9_]+\([^{}]*\)$' | grep -E '[ *][A-Za-z](,|\)|\[)')
[ -z "$letters" ] || fail "parameters of one letter: $letters"
[ $failed = 0 ] && [ $n -gt 15 ] && echo "$n headers compile alone"
