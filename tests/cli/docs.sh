#!/usr/bin/env bash
# Runs every `console` block of the given Markdown files and compares what it prints.
#   docs.sh PROGRAM FILE...
# A line that starts with "$ " is a command; the lines up to the next one are its output. "exit N" in
# brackets at the end of the command, as in "$ scaleplan fti   # exit 2", is the exit code expected.
set -u
program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(realpath "$program")" "$work/scaleplan"
PATH="$work:$PATH"
passed=0 failed=0

run_block() { # command, expected file
  local want=0 got=0
  [[ $1 =~ '# exit '([0-9]+)$ ]] && want=${BASH_REMATCH[1]}
  (cd "$work" && bash -c "$1") >"$work/actual" 2>&1 </dev/null || got=$?
  if [ "$got" = "$want" ] && diff -u "$2" "$work/actual" >"$work/diff"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: $ %s\nexit code %s, expected %s\n' "$file" "$1" "$got" "$want"
    cat "$work/diff"
  fi
}

for file in "$@"; do
  command='' inside=0
  while IFS= read -r line || [ -n "$line" ]; do
    if [ "$inside" = 0 ]; then
      [ "$line" = '```console' ] && inside=1
      continue
    fi
    if [ "$line" = '```' ] || [ "${line:0:2}" = '$ ' ]; then
      [ -n "$command" ] && run_block "$command" "$work/expected"
      command=''
      [ "$line" = '```' ] && { inside=0; continue; }
      command=${line:2}
      : >"$work/expected"
    else
      printf '%s\n' "$line" >>"$work/expected"
    fi
  done <"$file"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
