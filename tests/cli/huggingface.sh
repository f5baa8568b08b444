#!/usr/bin/env bash
# huggingface.sh PROGRAM SOURCE: configs of Hugging Face count as was derived apart from the program, in all and active, and
# their text part without a tower or encoder: each row of tests/data/huggingface.jsonl, which holds every family, other name of
# one and tower that the program knows; and, where ../shared/data/hf lies beside the repository, whole files of the Hub.
set -uo pipefail
program=$1 rows=$2/tests/data/huggingface.jsonl hf=$2/src/hf real=$2/../shared/data
source "$(dirname "$0")/needs.sh"
folder=$(mktemp -d "${TMPDIR:-/tmp}/hugging face.XXXXXX") # with a space, as people's folders have
trap 'rm -r "$folder"' EXIT
failed=0 n=0

fail() {
    echo "$*"
    failed=1
}

count() { # NAME FILE TOTAL ACTIVE [TEXT]
    local got
    n=$((n + 1))
    got=$("$program" import "$2" --get params.total,params.active,params.text 2>&1 | paste -sd' ')
    [[ "$got " == "$3 $4 ${5:+$5 }"* ]] || fail "$1: $got, expected $3 $4 ${5-}"
}

# As a file of the Hub: with keys that do not change a model's size.
around='{torch_dtype: "bfloat16", transformers_version: "4.57.1", use_cache: true, bos_token_id: 1, eos_token_id: 2,
         pad_token_id: null, initializer_range: 0.02, hidden_act: "silu", attention_dropout: 0.0, rope_theta: 10000.0}'
while IFS=$'\t' read -r name total active text document; do
    printf '%s\n' "$document" >"$folder/config.json"
    count "$name" "$folder/config.json" "$total" "$active" "$text"
done < <(jq -r "[.name, .total, .active, .text // .total, ($around + .config | tojson)] | join(\"\\t\")" "$rows")

# None is without a row: a family or another name of one, a tower and what it stands beside.
known=$(jq -r '.config | .. | objects | .model_type // empty' "$rows" | sort -u)
towers=$(jq -r '.config | select(.vision_config // .audio_config) | "\(.model_type) \(.vision_config.model_type)", .model_type' "$rows")
while IFS= read -r type; do
    grep -qxF "$type" <<<"$known" || fail "no row of the model_type $type"
done < <(sed -n 's/^\(FAMILY\|SAME\|SIZES\)("\([^"]*\)".*/\2/p' "$hf/families.def")
while IFS= read -r tower; do
    grep -qxF "$tower" <<<"$towers" || fail "no row of the tower $tower"
done < <(sed -n 's/^    {"\([a-z0-9_]*\)", "\([a-z0-9_]*\)", ".*norm".*/\1 \2/p; s/^    {"\([a-z0-9_]*\)", NULL, .*/\1/p' \
    "$hf/towers.c" && sed -n '/} sounds\[\]/p' "$hf/encoders.c" | grep -o '{"[a-z0-9_]*' | tr -d '{"')
echo "$n configs of our own"
[ "$n" -ge 200 ] || fail "only $n rows"

# Whole files of the Hub. Their active parameters of a mixture leave out the tower beside it, ours have it as those of dense
# models do; of a picture's patches ours count the work of all, for which the rows above have values. A total without that of
# the text is the text's alone.
has shared || exit "$failed"
n=0
while IFS=$'\t' read -r file total active text; do
    jq -e .patch_size "$real/hf/$file" >/dev/null && active=$("$program" import "$real/hf/$file" --get params.active)
    part=.
    [ -n "$text" ] || part='del(.vision_config)'
    jq "$part" "$real/hf/$file" >"$folder/$file"
    count "$file" "$folder/$file" "$total" "$active" "$text"
done < <(jq -r 'to_entries[] | .key as $file | .value | (if .active == .total then 0 else .total - (.text // .total) end) as $tower
    | [$file, .total, .active + $tower, .text // ""] | @tsv' "$real/hf_expected.json")
echo "$n configs of the Hub"
[ "$n" -ge 89 ] || fail "only $n files"
exit "$failed"
