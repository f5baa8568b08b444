#!/usr/bin/env bash
# Runs every `console` block of the given Markdown files and compares what it prints.
#   docs.sh [--update] PROGRAM FILE...
# A line that starts with "$ " is a command; the lines up to the next one are its output. "exit N" in
# brackets at the end of the command, as in "$ scaleplan fti   # exit 2", is the exit code expected. The blocks of a file
# run one after the other in one folder, so that a later command can read what an earlier one wrote. --update writes
# what the program prints into the files; an exit code that is not the expected one stays a failure.
set -u
update=
[ "$1" = --update ] && { update=1; shift; }
program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$(realpath "$program")" "$work/bin/scaleplan"
PATH="$work/bin:$PATH"
passed=0 failed=0

run_block() { # command, expected file
  local want=0 got=0
  [[ $1 =~ '# exit '([0-9]+)$ ]] && want=${BASH_REMATCH[1]}
  (cd "$work/files" && bash -c "$1") >"$work/actual" 2>&1 </dev/null || got=$?
  [ -n "$update" ] && cat "$work/actual" >>"$work/page"
  if [ "$got" = "$want" ] && { [ -n "$update" ] || diff -u "$2" "$work/actual" >"$work/diff"; }; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: $ %s\nexit code %s, expected %s\n' "$file" "$1" "$got" "$want"
    cat "$work/diff"
  fi
}

for file in "$@"; do
  command='' inside=0
  rm -rf "$work/files" && mkdir "$work/files"
  : >"$work/page" && : >"$work/diff"
  while IFS= read -r line || [ -n "$line" ]; do
    if [ "$inside" = 0 ]; then
      printf '%s\n' "$line" >>"$work/page"
      [ "$line" = '```console' ] && inside=1
      continue
    fi
    if [ "$line" = '```' ] || [ "${line:0:2}" = '$ ' ]; then
      [ -n "$command" ] && run_block "$command" "$work/expected"
      command=''
      printf '%s\n' "$line" >>"$work/page"
      [ "$line" = '```' ] && { inside=0; continue; }
      command=${line:2}
      : >"$work/expected"
    else
      printf '%s\n' "$line" >>"$work/expected"
    fi
  done <"$file"
  [ -n "$update" ] && ! cmp -s "$work/page" "$file" && cat "$work/page" >"$file"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
