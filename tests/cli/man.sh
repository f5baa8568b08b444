#!/usr/bin/env bash
# man.sh PROGRAM FOLDER: every command has a page with all of its options; mandoc finds no fault in them (where it is).
set -u
source "$(dirname "$0")/needs.sh"
program=$1 folder=$2
failed=0 pages=0
for command in $("$program" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  page="$folder/scaleplan-$command.1"
  [ -s "$page" ] || { echo "no page of $command"; failed=1; continue; }
  pages=$((pages + 1))
  grep -q "scaleplan.-$command (1)" "$folder/scaleplan.1" || { echo "scaleplan(1) lacks $command"; failed=1; }
  for option in $("$program" "$command" --help all | grep -oE '^  --[a-z0-9-]+' | sed 's/^  --//; s/-/\\\\-/g'); do
    grep -q "^.fB.-.-$option" "$page" || { echo "$page lacks --$option"; failed=1; }
  done
done
if has mandoc; then
  mandoc -T lint -W warning "$folder"/*.[15] || failed=1
fi
[ $failed = 0 ] && [ $pages -gt 20 ] && echo "$pages pages"
