#!/usr/bin/env bash
# huggingface.sh PROGRAM SOURCE: real Hugging Face configs, where ../shared/data/hf has them (exit 77 where not). Each counts
# exactly as was derived tensor by tensor apart from the program, or stands below as one that is not read yet and says so.
set -uo pipefail
program=$1 data=$2/../shared/data
[ -d "$data/hf" ] && command -v jq >/dev/null || exit 77
unread='Qwen--Qwen3-VL- Qwen2.5-VL mlc--llava ipex-reduced--t5 ipex-reduced--whisper roberta-base vit-base
  Qwen3.5 Qwen3-Next DeepSeek-V3.2 mamba-130m Nemotron-3'
failed=0 n=0 refused=0

while IFS=$'\t' read -r file total active text; do
  n=$((n + 1))
  got=$("$program" import "$data/hf/$file" --get params.total,params.active 2>&1 | paste -sd' ')
  [ "$got" = "$total $active" ] && continue
  for part in $unread; do
    [[ $file == *"$part"* ]] || continue
    [[ $got == *'is not known'* || $got == "$text "* ]] && refused=$((refused + 1)) && continue 2
  done
  echo "$file: $got, expected $total $active"
  failed=1
done < <(jq -r 'to_entries[] | [.key, .value.total, .value.active, .value.text // "-"] | @tsv' "$data/hf_expected.json")
echo "$n configs, $((n - refused)) exact"
[ "$n" -ge 89 ] || failed=1
exit "$failed"
