#!/usr/bin/env bash
# structure.sh SOURCE: sizes that the code keeps (docs/testing.md): no function of src over 64 lines, no file over 600; no
# function keeps something from one call to the next; and every .c and .h of src, tests and include, and every script of the page, begins with a comment that says what it is.
set -u
cd "$1" || exit 2
failed=0
fail() { echo "$*"; failed=1; }
while read -r lines file; do
  [ "$lines" -le 600 ] || fail "$file: $lines lines, at most 600"
done < <(find src -name '*.[ch]' -exec wc -l {} + | grep -v ' total$')
functions=$(bash tests/tools/functions.sh src)
while read -r lines place name; do
  [ "$lines" -le 64 ] || fail "$place: $name has $lines lines, at most 64"
done <<<"$functions"
while read -r line; do
  fail "$line: a static that changes; commands run inside commands"
done < <(cd src && grep -rnE '^[[:space:]]+static ' --include='*.[ch]' . |
  grep -vE 'static (const |inline |.*\*const )|\\$')
while read -r line; do
  fail "$line: returns a text of its own block (SP_ROOM); take the caller's room"
done < <(grep -rnE 'return (sp_safe|sp_human_text|sp_nearest_hint|sp_json_place)\(|return .*SP_ROOM' --include='*.[ch]' src)
while read -r file; do
  fail "$file: begins without a comment that says what it is"
done < <(find src tests include -name '*.[ch]' -not -path 'tests/fuzz/*/*' -exec awk '
  FNR == 1 && !/^\/\*/ || FNR == 2 && first == "/*" && !/[[:alpha:]]/ { print FILENAME }
  { first = $0 }' {} +)
# The page's files too: a comment at the head, at most 350 lines.
while read -r lines file; do
  [ "$lines" -le 350 ] || fail "$file: $lines lines, at most 350"
  head -1 "$file" | grep -q '^// [A-Za-z]' || fail "$file: begins without a comment that says what it is"
done < <(find src/web tests/web -name '*js' -exec wc -l {} + | grep -v ' total$')
n=$(wc -l <<<"$functions")
[ "$n" -gt 1000 ] || fail "only $n functions found"
[ $failed = 0 ] && echo "$n functions of src"
exit $failed
