#!/usr/bin/env bash
# static.sh PROGRAM: builds the one static file (preset `static`), runs it in a root that holds nothing else, and compares
# its bytes with those of PROGRAM, the release build. Exits with 77, and says what is missing, where a machine has no
# tools for it or grants no root of its own.
set -euo pipefail
program=$(realpath "$1")
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
for tool in cmake dpkg-source xz readelf; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done
enter=("$(command -v unshare || true)" --map-root-user --wd=/ --root)
[ "$(id -u)" != 0 ] || enter=("$(command -v chroot)")
"${enter[@]}" / true 2>/dev/null || { echo "skipped: no right to change the root"; exit 77; }

cd "$source"
{ cmake --preset static && cmake --build --preset static; } > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
static=$source/build/static/scaleplan

# One file, hardened as the release build is.
segments=$(readelf -lW "$static")
! grep -q INTERP <<< "$segments" || fail "it asks for an interpreter"
! readelf -dW "$static" | grep NEEDED || fail "it asks for libraries"
grep -q GNU_RELRO <<< "$segments" || fail "no RELRO"
grep -q 'GNU_STACK.* RW ' <<< "$segments" || fail "executable stack"
readelf -hW "$static" | grep -q 'Type: *DYN' || fail "not position-independent"
bytes=$(stat -c %s "$static")
[ "$bytes" -le 4000000 ] || fail "$bytes bytes, expected at most 4000000"

# Two folders with the same files: one is the root of the static file, in the other the release build runs.
settings=(HOME=/ PATH=/ LC_ALL=C OMP_NUM_THREADS=2) # a locale of UTF-8 is a file, which an empty root lacks
mkdir "$work/empty" "$work/folder"
cp "$static" "$work/empty/scaleplan"
for folder in "$work/empty" "$work/folder"; do
  cp configs/models/llama3-8b.json "$folder/model.json"
  sed -n '1p; 2,3s/^[^,]*/größer/p' tests/data/runs.csv > "$folder/wide.csv"
  cp tests/data/{runs.csv,launch-megatron.sh,huggingface-config.json} "$folder"
  printf 'distributed_type: FSDP\nnum_processes: 64\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n' > "$folder/fsdp.yaml"
  sed 's/"name": "[^"]*"/"name": "llama-größer"/' configs/models/llama3-70b.json > "$folder/wide.json"
done
lines=0
while read -r line; do
  read -ra words <<< "$line"
  (cd "$work/folder" && env -i "${settings[@]}" "$program" "${words[@]}" < "$source/configs/models/llama3-8b.json" > "$work/expected" 2>&1) && wanted=0 || wanted=$?
  env -i "${settings[@]}" "${enter[@]}" "$work/empty" /scaleplan "${words[@]}" < "$source/configs/models/llama3-8b.json" > "$work/said" 2>&1 && got=0 || got=$?
  [ "$got" = "$wanted" ] || fail "scaleplan $line: exit $got, expected $wanted"
  cmp "$work/expected" "$work/said" || { diff "$work/expected" "$work/said" | head -5; fail "scaleplan $line: other bytes"; }
  lines=$((lines + 1))
done << 'END'
--version
fit --model llama2-13b --hw v5p-4096 --batch 3M
fit --model llama2-13b --hw v5p-4096 --batch 3M --explain
fit --model model.json --hw h100-64 --batch 2M --report page.html
fit --model lama2-13b --hw v5p-4096
step --model llama3-70b --hw h100-256 --tp 4 --pp 4 --vpp 5 --batch 512x8192 --format json
step --from launch-megatron.sh --hw h100-64
step --from fsdp.yaml --model llama3-8b --hw h100-64 --batch 256x8192
search --model llama3-8b --hw h100-64 --batch 256x8192
serve --model llama3-70b --hw h100-8 --tp 8 --concurrency 64
flops --model - --seq 4096
memory --model wide.json --precision mixed18 --zero 3 --dp 8
list models
roofline --matmul 512x4096x8192 --hw b200 --plot -
roofline --matmul 512x4096x8192 --hw b200 --plot roof.svg
validate runs.csv
validate wide.csv
import huggingface-config.json -o out.json
export --to megatron --model llama3-8b --hw h100-64 --batch 256x8192 -o launch
nothing
END

# What was written has the same bytes too.
rm "$work/empty/scaleplan"
diff -r "$work/folder" "$work/empty" || fail "other files"
for file in page.html out.json launch; do
  [ -s "$work/empty/$file" ] || fail "$file is missing"
done

# On a terminal, where there is one to be had: colours, widths and broken lines.
if script -qec true /dev/null > /dev/null 2>&1 < /dev/null; then
  on_terminal() { env -i TERM=xterm PATH=/usr/bin:/bin LC_ALL=C.UTF-8 script -qec "stty cols 70; '$1' validate '$work/folder/wide.csv'" /dev/null < /dev/null; }
  cmp <(on_terminal "$program") <(on_terminal "$static") || fail "other bytes on a terminal"
fi
echo "$bytes bytes: $lines lines in an empty root as from $program"
