#!/usr/bin/env bash
# circles.sh NM OBJECT...: no files of src use one another's functions or tables in a circle, whatever they include. The
# table of commands (cli/commands.c) names every command and is not counted.
set -u
nm=$1; shift
uses=$("$nm" -A -P "$@" 2>/dev/null | sed 's,^.*/CMakeFiles/,,' | awk ' # a folder may have spaces
  match($1, /\.dir\/.*\.c\.o:/) {
    file = substr($1, RSTART + 5, RLENGTH - 10)
    sub(/^(\.\/)?src\//, "", file) # Ninja writes ./src
    if ($3 == "U") used[file, $2] = 1; else if ($3 ~ /^[A-TV-Z]$/) defined[$2] = file
  }
  END {
    for (key in used) {
      split(key, of, SUBSEP); to = defined[of[2]]
      if (to && to != of[1] && of[1] != "cli/commands") print of[1], to, of[2]
    }
  }' | sort)
[ "$(wc -l <<<"$uses")" -gt 500 ] || { echo "nm found few uses between files of $*"; exit 1; }
pairs=$(awk 'NR == FNR { there[$1, $2] = $3; next }
  $1 < $2 && ($2, $1) in there && !seen[$1, $2]++ { print $1, $2, there[$1, $2], there[$2, $1] }' \
  <(echo "$uses") <(echo "$uses"))
failed=0
while read -r a b there back; do
  echo "$a uses $b ($there), and $b uses $a ($back)"
  failed=1
done < <(grep . <<<"$pairs")
longer=$(cut -d' ' -f1,2 <<<"$uses" | sort -u | tsort 2>&1 >/dev/null | grep -v 'tsort: -: ' | sed 's/^tsort: //')
[ -z "$longer" ] || { echo "files in a circle:"; echo "$longer"; failed=1; }
[ $failed = 0 ] && echo "$(cut -d' ' -f1,2 <<<"$uses" | sort -u | wc -l) uses of files by files, none in a circle"
exit $failed
