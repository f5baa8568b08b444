#!/usr/bin/env bash
# documents.sh SOURCE: what a person reads stays readable and whole. README.md and docs/ have at most 2,600 lines, docs/dev
# at most 600, README.md at most 95; every link leads to a file that is there and to a heading that it has; a page links to
# each page; each page has one title.
set -u
cd "$1" || exit 2
failed=0
fail() { echo "$*"; failed=1; }
mapfile -t users < <(printf '%s\n' README.md docs/*.md)
mapfile -t developers < <(printf '%s\n' docs/dev/*.md)
lines() { cat "$@" | wc -l; }

at_most() { # LIMIT WHAT FILE...
  local limit=$1 what=$2 n
  shift 2
  n=$(lines "$@")
  [ "$n" -le "$limit" ] || fail "$what: $n lines, at most $limit"
}
at_most 95 README.md README.md
at_most 2600 "README.md and docs" "${users[@]}"
at_most 600 docs/dev "${developers[@]}"

# A heading as the anchor of a link: small letters, blanks as dashes, without other signs.
anchors() {
  awk '/^ *```/ { code = !code } !code && sub(/^#+ /, "")' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g'
}
reached=" README.md "
while IFS=: read -r page link; do
  [[ $link =~ ^(https?|mailto): ]] && continue
  file=${link%%#*} anchor=
  [[ $link == *'#'* ]] && anchor=${link#*#}
  target=$page
  [ -n "$file" ] && target=$(realpath -m --relative-to=. "$(dirname "$page")/$file")
  if [ ! -e "$target" ]; then
    fail "$page: $link is not there"
    continue
  fi
  reached+="$target "
  [ -z "$anchor" ] || anchors "$target" | grep -qxF "$anchor" || fail "$page: $target has no heading for #$anchor"
done < <(for page in "${users[@]}" "${developers[@]}"; do
  awk '/^ *```/ { code = !code } !code' "$page" | grep -oE '\]\([^) ]+\)' | sed -E "s/^\]\((.*)\)$/\1/; s,^,$page:,"
done)
for page in "${users[@]}" "${developers[@]}"; do
  [[ $reached == *" $page "* ]] || fail "$page: no page links to it"
  [ "$(awk '/^ *```/ { code = !code } !code && /^# /' "$page" | wc -l)" = 1 ] || fail "$page: not one title"
done
# The citation is of this version and its day.
version=$(sed -n 's/^project(scaleplan VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
day=$(sed -n 's/^set(SCALEPLAN_DATE \([0-9-]*\)).*/\1/p' CMakeLists.txt)
grep -qx "version: $version" CITATION.cff || fail "CITATION.cff: not of version $version"
grep -qx "date-released: $day" CITATION.cff || fail "CITATION.cff: not of $day"
grep -q "^## $version\$" docs/CHANGELOG.md || fail "docs/CHANGELOG.md: says nothing of $version"
# The last row of the table of pieces of physics, which nothing prints, is the fit of the first table: "9.0, 8.7".
awk -F' *[|] *' '
  /^\| \*\*its publication left out\*\*/ { for (i = 3; i <= 6; i++) one[i] = $i }
  /^\| \*\*its stack left out\*\*/ { for (i = 3; i <= 6; i++) two[i] = $i }
  /^### What each piece/ { on = 1 }
  on && /^\|/ { rows++; for (i = 3; i <= 6; i++) last[i] = $i }
  on && rows && !/^\|/ { exit }
  END {
    for (i = 3; i <= 6; i++) {
      wanted = one[i] ", " two[i]
      gsub(/[*]/, "", wanted)
      if (one[i] == "" || last[i] != wanted) { print "docs/accuracy.md: the pieces end with " last[i] ", the fit has " wanted; wrong = 1 }
    }
    exit wrong
  }' docs/accuracy.md || failed=1
[ $failed = 0 ] && echo "$(lines "${users[@]}") lines for users, $(lines "${developers[@]}") for developers"
exit $failed
