#!/usr/bin/env bash
# help.sh PROGRAM: a command's --help is one screen of at most 60 lines of 80 columns; --help all has every option that
# `help --format json` lists, under its heading, and every key of --shape that a model file has.
set -u
program=$1
failed=0 commands=0
fail() { echo "$*"; failed=1; }
table=$("$program" help --format json)
for command in $(jq -r '.[].name' <<<"$table"); do
  commands=$((commands + 1))
  short=$("$program" "$command" --help) all=$("$program" "$command" --help all)
  lines=$(wc -l <<<"$short") widest=$(awk '{ if (length > w) w = length } END { print w }' <<<"$short")
  [ "$lines" -le 60 ] || fail "$command --help has $lines lines, at most 60"
  [ "$widest" -le 80 ] || fail "$command --help has $widest columns, at most 80"
  [ "$(awk '{ if (length > w) w = length } END { print w }' <<<"$all")" -le 80 ] || fail "$command --help all is wider than 80"
  [ "$("$program" help "$command" all)" = "$all" ] || fail "help $command all differs from $command --help all"
  while IFS=$'\t' read -r name heading; do
    grep -qE -- "--$name( |\$)" <<<"$short" || fail "$command --help does not name --$name"
    sed -n "/^$heading:\$/,/^\$/p" <<<"$all" | grep -qE -- "^  --$name( |\$)" ||
      fail "$command --help all has no --$name under \"$heading\""
  done < <(jq -r --arg c "$command" '.[] | select(.name == $c) | .options[] | [.name, .heading] | @tsv' <<<"$table")
  grep -q -- '^  --shape' <<<"$all" || continue
  keys=$(sed -n '/^keys of --shape/,/^$/p' <<<"$all")
  for key in layers d_model heads kv_heads head_dim d_ff vocab moe.experts moe.top_k moe.d_ff_expert mla.kv_lora_rank; do
    grep -qE " $key( |\$)" <<<"$keys" || fail "$command --help all does not list the key $key of --shape"
  done
done
bare=$("$program" 2>&1)
[ "$(grep -c '^  scaleplan [a-z]' <<<"$bare")" = 4 ] || fail "scaleplan alone does not show four commands"
[ "$(wc -l < <("$program" --help))" -le 60 ] || fail "scaleplan --help has more than 60 lines"
[ $failed = 0 ] && [ $commands -gt 20 ] && echo "the help of $commands commands"
