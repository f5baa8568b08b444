#!/usr/bin/env bash
# huggingface.sh PROGRAM SOURCE: real Hugging Face configs, where ../shared/data/hf has them (exit 77 where not): each counts
# exactly as was derived tensor by tensor apart from the program, and its text part where that was derived too.
set -uo pipefail
program=$1 data=$2/../shared/data
[ -d "$data/hf" ] && command -v jq >/dev/null || exit 77
failed=0 n=0

while IFS=$'\t' read -r file total active text; do
  n=$((n + 1))
  got=$("$program" import "$data/hf/$file" --get params.total,params.active,params.text 2>&1 | paste -sd' ')
  [[ $got == "$total $active "* ]] && [[ $text == - || $got == *" $text" ]] && continue
  echo "$file: $got, expected $total $active $text"
  failed=1
done < <(jq -r 'to_entries[] | [.key, .value.total, .value.active, .value.text // "-"] | @tsv' "$data/hf_expected.json")
echo "$n configs"
[ "$n" -ge 89 ] || failed=1
exit "$failed"
