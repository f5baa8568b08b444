#!/usr/bin/env bash
# structure.sh SOURCE: sizes that the code keeps (docs/dev/testing.md): no function of src over 64 lines, no file over 600; no
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
# What a command puts is worked out already, by a form or in src/study: no `*` or `/` between numbers stands in its puts,
# nor in the rows of a .def; no symbols for formulas, and options by their names in C. Comments and texts do not count.
while read -r line; do
  fail "$line"
done < <(awk '
  FNR == 1 { inside = depth = 0 }
  {
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    while (match(line, /\/\*[^*]*\*+([^\/*][^*]*\*+)*\//)) line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
    if (comment) { if (!match(line, /\*\//)) next; line = substr(line, RSTART + 2); comment = 0 }
    if (match(line, /\/\*/)) { comment = 1; line = substr(line, 1, RSTART - 1) }
    if (line ~ /sp_symbol\(|\(&?[a-z_>.-]*args, ""/) print FILENAME ":" FNR ": a symbol of a formula, or an option by its name as text"
    while (line != "") {
      if (!depth) {
        if (!match(line, /(^|[^A-Za-z_])(sp_put[a-z_]*|Q[FVEBTW](_ID)?|LINE|NOTE)\(/)) break
        line = substr(line, RSTART + RLENGTH)
        depth = 1
      }
      n = length(line)
      for (i = 1; i <= n && depth; i++) {
        c = substr(line, i, 1)
        depth += (c == "(") - (c == ")")
      }
      call = substr(line, 1, i - 1)
      gsub(/sizeof [a-z_]+ \/ sizeof \*[a-z_]+/, "", call)
      if (call ~ /[][A-Za-z0-9_)] [*\/] [A-Za-z0-9_(]/) print FILENAME ":" FNR ": arithmetic in a put: " call
      line = substr(line, i)
    }
  }' src/commands/*.c src/commands/*.def)
# The page's files too: a comment at the head, at most 350 lines.
while read -r lines file; do
  [ "$lines" -le 350 ] || fail "$file: $lines lines, at most 350"
  head -1 "$file" | grep -q '^// [A-Za-z]' || fail "$file: begins without a comment that says what it is"
done < <(find src/web tests/web -name '*js' -exec wc -l {} + | grep -v ' total$')
n=$(wc -l <<<"$functions")
[ "$n" -gt 1000 ] || fail "only $n functions found"
[ $failed = 0 ] && echo "$n functions of src"
exit $failed
