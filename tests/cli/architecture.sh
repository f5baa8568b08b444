#!/usr/bin/env bash
# architecture.sh SOURCE: every #include of src/ follows the arrows between rooms, and no files include each other in a
# circle. A header and the .c of its name count as one file. docs/dev/architecture.md draws the rooms.
set -u
cd "$1/src" || exit 2
allowed="base:
core:
host:base
hf:base
config:hf base
answer:base
pictures:answer host base
launch:config base
study:config host base
runs:study config host base
cli:launch study answer pictures config hf host base
commands:cli answer pictures launch runs study config hf host base
manual:cli answer config base
python:cli config host base"
failed=0
while read -r file include; do
  from=${file%%/*} to=${include%%/*}
  [ "$from" = "$to" ] && continue
  line=$(grep "^$from:" <<<"$allowed") || { echo "$file: no room is called $from"; failed=1; continue; }
  [[ " ${line#*:} " == *" $to "* ]] || { echo "$file includes $include: $from may not know $to"; failed=1; }
done < <(grep -ro '^#include "[^"]*"' --include='*.[ch]' . | sed 's,^\./,,; s/:#include "/ /; s/"$//')
circles=$(grep -ro '^#include "[^"]*"' --include='*.[ch]' . | sed 's,^\./,,; s/:#include "/ /; s/"$//' |
  sed -E 's/\.[ch]( |$)/\1/g'  | sed -E 's/_internal( |$)/\1/g' | awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null | grep -v '^tsort: -$' | sed 's/^tsort: //')
[ -z "$circles" ] || { echo "files in a circle:"; echo "$circles"; failed=1; }
files=$(find . -name '*.[ch]' | wc -l)
# Every file that the page names is there, and so is every room.
cd .. || exit 2
while read -r named; do
  compgen -G "$named" >/dev/null || { echo "docs/dev/architecture.md names $named, which is not there"; failed=1; }
done < <(grep -ohE '(src|include|tests)/[A-Za-z0-9_/*]+\.(c|h|def|inc|test|jsonl)' docs/dev/architecture.md docs/dev/extending.md | grep -v NAME | sort -u)
for room in src/*/; do
  room=${room%/}
  [ "$room" = src/install ] || grep -q "^    $room " docs/dev/architecture.md || { echo "docs/dev/architecture.md does not draw $room"; failed=1; }
done
[ $failed = 0 ] && echo "$files files follow the arrows"
exit $failed
