#!/usr/bin/env bash
# pictures.sh [--write] PROGRAM ROOT: draws every picture of docs/pictures.md as SVG in three widths, in the terminal and,
# where there is rsvg-convert, as PNG, and looks at each (pictures.py); the SVG says what the one in docs/img says.
# --write draws docs/img anew.
set -uo pipefail
write=
[ "${1:-}" = --write ] && { write=1; shift; }
program=$(realpath "$1") && root=$(realpath "$2") || exit 2
here=$(realpath "$(dirname "$0")")
source "$here/needs.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bin" "$scratch/docs/img"
ln -s "$program" "$scratch/bin/scaleplan"
export PATH="$scratch/bin:$PATH" LC_ALL=C.UTF-8
unset XDG_CONFIG_HOME SCALEPLAN_CONFIG_PATH
cd "$scratch" || exit 2
failed=0 drawn=0
wrong() { echo "$line: $*" >&2; failed=1; }
words() { grep -o '<text[^>]*>[^<]*' "$1" | sed 's/.*>//'; }
has xmllint && lint=1 || lint=
has python3 && looks=1 || looks=
has rsvg-convert && converts=1 || converts=

# The picture of a command at this width: well formed, its texts apart, its boxes as long as they should be.
look() { # COMMAND NAME WIDTH
    bash -c "$1 --plot $2.svg --plot-width $3" >/dev/null 2>errors || { wrong "$(cat errors)"; return; }
    [ -z "$lint" ] || xmllint --noout "$2.svg" 2>errors || wrong "$(cat errors)"
    [ -z "$looks" ] && return
    bash -c "$1 --plot $2.json" >/dev/null 2>&1
    python3 "$here/pictures.py" "$2.svg" "$2.json" 2>errors || wrong "$3 px: $(cat errors)"
}

while IFS= read -r line; do
    svg=${line##* }
    bash -c "$line" >answer 2>errors || wrong "$(cat errors)"
    plain=${line% --plot*}
    plain=${plain/ --heat/} plain=${plain/ --stack/}
    bash -c "${plain/ --where/}" >plain
    # A search says how long it took.
    diff <(grep -v 'search *[0-9].* s' plain) <(grep -v 'search *[0-9].* s' answer) >/dev/null ||
        [[ $line == *' search '* ]] || wrong "the answer differs with --plot"
    if [ -n "$write" ]; then
        cp "$svg" "$root/$svg"
    else
        diff <(words "$root/$svg") <(words "$svg") || wrong "$svg says something else: pictures.sh --write"
    fi
    [ "$(stat -c %s "$svg")" -lt 64000 ] || wrong "larger than 64 kB"
    for width in 390 720; do
        look "${line% --plot*}" picture $width
    done
    if [ -n "$converts" ]; then
        bash -c "${line%.svg}.png" >/dev/null 2>errors || wrong "$(cat errors)"
        [ "$(head -c 4 "${svg%.svg}.png" | od -An -c | tr -d ' ')" = '211PNG' ] || wrong "no PNG"
        tail -c 8 "${svg%.svg}.png" | grep -aq IEND || wrong "half a PNG"
    fi
    drawn=$((drawn + 1))
    [[ $line == *' sweep '* ]] && continue # whose rows are what the terminal shows
    bash -c "${line% *} -" >terminal 2>errors || wrong "$(cat errors)"
    [ "$(wc -l <terminal)" -gt $(($(wc -l <plain) + 6)) ] || wrong "nothing drawn in the terminal"
    grep -q $'[\x1b\f]' terminal && wrong "control characters in the terminal's picture"
    grep -q ' $' <(tail -20 terminal) && wrong "spaces at line ends"
done < <(grep '^scaleplan .*--plot docs/img/' "$root/docs/pictures.md")

line="files"
[ -z "$(find . -name '*.svg.*' -o -name '*.png.*')" ] || wrong "a temporary file is left"

scaleplan validate --example >runs.csv
# What is hard to place: many boxes, many rules, long names, bars beyond their limit.
while IFS= read -r line; do
    for width in 390 720; do
        look "scaleplan $line" picture $width
    done
done <<'END'
pipeline --pp 16 --microbatches 32 --chunks 4 --schedule interleaved
pipeline --pp 8 --microbatches 20 --schedule dualpipe
step --model deepseek-v3 --hw h100-2048
memory --model llama3-8b --hw h100 --batch 1x8192
search --model llama3-70b --hw h100-64,b200-64,h200-64,a100-64 --batch 256x8192 --top 20
serve --model llama3-70b --hw h100-8,h200-8,b200-8 --pareto
rl --model llama3-8b --hw h100-16 --split 8:8 --stale 1 --prompts 32 --group 16
fit --model deepseek-v3 --hw h100-64
batch --hw h100-64 --model llama3-70b --tp 8 --batch 4M
comm --op a2a --bytes 64MB --hw gb200-64
roofline --model mixtral-8x7b --batch 256 --hw b200
flops --model deepseek-v3
need --model llama3-70b --hw h100-256 --batch 512x8192 --for step=8s
train --model llama3-8b --hw h100-1024 --loss 2.0
validate runs.csv
END
# Several machines: each has its points, its name in the key, and its limit.
line="machines"
scaleplan search --model llama3-70b --hw h100-64,b200-64 --batch 256x8192 --top 20 --plot two.svg >/dev/null || wrong "not drawn"
grep -q 'limit 182 GB of b200-64' two.svg && grep -q 'limit 81.6 GB of h100-64' two.svg || wrong "limits: $(grep -o 'limit[^<]*' two.svg)"
[ "$(grep -c '>h100-64<\|>b200-64<' two.svg)" = 2 ] || wrong "a machine is not in the key"
# Bars are as long as what the answer says: of each figure, from the goal's value to that with less and with more of it. The key
# has the colours of the bars.
line="bars"
scaleplan sensitivity --model llama3-70b --hw h100-256 --batch 512x8192 --plot bars.svg --format json >bars.json || wrong "not drawn"
if [ -n "$looks" ]; then
    mapfile -t bars < <(jq '.value as $v | .sensitivity[] | (.low, .high) - $v | fabs' bars.json)
    [ ${#bars[@]} -gt 8 ] || wrong "bars: ${bars[*]}"
    python3 "$here/pictures.py" --bars bars.svg "${bars[@]}" || wrong "other lengths"
fi
for fill in '#0072B2' '#E69F00'; do
    [ "$(grep -c "fill=\"$fill\"" bars.svg)" = 2 ] || wrong "$fill is not once in the key and once on bars"
done
# PDF; a picture never takes the place of the report; the same command, the same bytes.
line="pdf"
if [ -n "$converts" ]; then
    scaleplan roofline --hw h100 --plot r.pdf >/dev/null && [ "$(head -c 5 r.pdf)" = '%PDF-' ] || wrong "no PDF"
fi
scaleplan roofline --hw h100 --plot r.svg >r.svg 2>errors && wrong "the picture took the report's place"
grep -q 'standard output goes to r.svg' errors || wrong "$(cat errors)"
scaleplan roofline --hw h100 --plot r1.svg >/dev/null && scaleplan roofline --hw h100 --plot r2.svg >/dev/null
cmp r1.svg r2.svg || wrong "two pictures of one command differ"
# Weight gradients are as dark as forwards: they are hatched.
scaleplan pipeline --pp 2 --microbatches 2 --schedule zb-h1 --plot halves.svg >/dev/null || wrong "not drawn"
grep -q 'url(#h2)' halves.svg || wrong "nothing is hatched"

# A name may hold anything; the target may be a symbolic link; an old picture is replaced.
line="names"
# shellcheck disable=SC2016
name='it'"'"'s `touch pwned` @x <b>'
sed "s|\"name\": *\"[^\"]*\"|\"name\": \"$name\"|; s|\"aliases\": *\[[^]]*\],||" "$root/configs/models/llama3-8b.json" >evil.json
echo old >real.svg
ln -s real.svg link.svg
scaleplan memory --model evil.json --hw h100 --batch 1x8192 --plot link.svg >/dev/null || wrong "not drawn"
[ -L link.svg ] || wrong "the link is replaced"
grep -q "it's \`touch pwned\` @x &#60;b" real.svg || wrong "the name is not in the picture"
# Nothing that is typed is markup.
line="markup"
for evil in '<script>alert(1)</script>' '"/><script>' "]]>&lt;script&amp;" '</title><script>'; do
    file="$(tr / _ <<<"$evil").json"
    jq --arg name "$evil" '.name = $name | del(.aliases)' "$root/configs/models/llama3-8b.json" >"$file"
    scaleplan memory --model "$file" --hw h100 --batch 1x8192 --plot typed.svg >/dev/null 2>errors || wrong "$(cat errors)"
    scaleplan sweep memory --model "$file,llama3-8b" --hw h100 --batch 1x8192 --get memory.total_bytes --plot swept.svg >/dev/null 2>errors ||
        wrong "$(cat errors)"
    grep -q 'script' typed.svg || wrong "$evil is not in the picture"
    grep -q '<script' typed.svg swept.svg && wrong "markup of $evil"
    [ -z "$lint" ] || xmllint --noout typed.svg swept.svg || wrong "no XML with $evil"
done
[ ! -e pwned ] || wrong "a name was run"
[ "$(umask)" != 0022 ] || [ "$(stat -c %a real.svg)" = 644 ] || wrong "mode $(stat -c %a real.svg)"

# When rsvg-convert fails, or dies half-way, nothing is left and the old picture stays.
line="failures"
mkdir broken
echo "old picture" >real.png
for script in 'echo half; echo "line 3: cannot" >&2; exit 1' 'kill -9 $$' 'exit 0'; do
    printf '#!/bin/sh\n%s\n' "$script" >broken/rsvg-convert
    chmod +x broken/rsvg-convert
    PATH="$scratch/broken:$PATH" scaleplan pipeline --pp 4 --plot real.png >out 2>err
    [ $? = 4 ] || wrong "exit code with: $script"
    [ "$(wc -l <err)" = 1 ] || wrong "not one line with: $script"
    [ ! -s out ] || wrong "an answer with: $script"
    grep -q 'old picture' real.png || wrong "the old picture is gone with: $script"
done
[ -z "$(find . -name '*.png.*')" ] || wrong "a temporary file is left"

[ "$drawn" -ge 6 ] || { echo "only $drawn pictures in docs/pictures.md"; failed=1; }
echo "$drawn pictures drawn"
exit $failed
