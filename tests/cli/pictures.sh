#!/usr/bin/env bash
# pictures.sh [--write] PROGRAM ROOT: draws every picture of docs/pictures.md, as SVG, PNG and in the terminal,
# and checks that each is whole and that the SVG says what the one in docs/img says. --write draws docs/img anew.
# Exit code 77, a skipped test, without gnuplot.
set -uo pipefail
write=
[ "${1:-}" = --write ] && { write=1; shift; }
program=$(realpath "$1") && root=$(realpath "$2") || exit 2
source "$(dirname "$0")/needs.sh"
need gnuplot
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bin" "$scratch/docs/img"
ln -s "$program" "$scratch/bin/scaleplan"
export PATH="$scratch/bin:$PATH" LC_ALL=C.UTF-8
unset XDG_CONFIG_HOME SCALEPLAN_CONFIG_PATH
cd "$scratch" || exit 2
failed=0 drawn=0
wrong() { echo "$line: $*" >&2; failed=1; }
words() { grep -o '<text>.*</text>' "$1"; }

while IFS= read -r line; do
    svg=${line##* }
    bash -c "$line" >answer 2>errors || wrong "$(cat errors)"
    plain=${line% --plot*}
    plain=${plain/ --heat/} plain=${plain/ --stack/}
    bash -c "${plain/ --where/}" >plain
    # A search says how long it took.
    diff <(grep -v 'search *[0-9].* s' plain) <(grep -v 'search *[0-9].* s' answer) >/dev/null ||
        [[ $line == *' search '* ]] || wrong "the answer differs with --plot"
    { head -1 "$svg" | grep -q '^<?xml' && tail -2 "$svg" | grep -q '^</svg>'; } || wrong "no whole SVG"
    if has xmllint; then
        xmllint --noout "$svg" || wrong "no well-formed SVG"
    fi
    [ "$(stat -c %s "$svg")" -lt 64000 ] || wrong "larger than 64 kB"
    if [ -n "$write" ]; then
        cp "$svg" "$root/$svg"
    else
        diff <(words "$root/$svg") <(words "$svg") || wrong "$svg says something else: pictures.sh --write"
    fi
    bash -c "${line%.svg}.png" >/dev/null 2>errors || wrong "$(cat errors)"
    [ "$(head -c 4 "${svg%.svg}.png" | od -An -c | tr -d ' ')" = '211PNG' ] || wrong "no PNG"
    tail -c 8 "${svg%.svg}.png" | grep -aq IEND || wrong "half a PNG"
    drawn=$((drawn + 1))
    [[ $line == *' sweep '* ]] && continue # whose rows are what the terminal shows
    bash -c "${line% *} -" >terminal 2>errors || wrong "$(cat errors)"
    [ "$(wc -l <terminal)" -gt $(($(wc -l <plain) + 6)) ] || wrong "nothing drawn in the terminal"
    grep -q $'[\x1b\f]' terminal && wrong "control characters in the terminal's picture"
    grep -q ' $' <(tail -20 terminal) && wrong "spaces at line ends"
done < <(grep '^scaleplan .*--plot docs/img/' "$root/docs/pictures.md")

line="files"
[ -z "$(find . -name '*.svg.*' -o -name '*.png.*')" ] || wrong "a temporary file is left"

# Several machines: each has its points, its name in the key, and its limit.
line="machines"
scaleplan search --model llama3-70b --hw h100-64,b200-64 --batch 256x8192 --top 20 --plot two.svg >/dev/null || wrong "not drawn"
grep -q 'limit 182 GB of b200-64' two.svg && grep -q 'limit 81.6 GB of h100-64' two.svg || wrong "limits: $(grep -o 'limit[^<]*' two.svg)"
[ "$(grep -c '>h100-64<\|>b200-64<' two.svg)" = 2 ] || wrong "a machine is not in the key"
# PDF where gnuplot has cairo; a picture never takes the place of the report.
line="pdf"
if gnuplot -e 'print GPVAL_TERMINALS' 2>&1 | grep -q ' pdfcairo '; then
    scaleplan roofline --hw h100 --plot r.pdf >/dev/null && [ "$(head -c 5 r.pdf)" = '%PDF-' ] || wrong "no PDF"
fi
scaleplan roofline --hw h100 --plot r.svg >r.svg 2>errors && wrong "the picture took the report's place"
grep -q 'standard output goes to r.svg' errors || wrong "$(cat errors)"
# Weight gradients are as dark as forwards: they are hatched.
scaleplan pipeline --pp 2 --microbatches 2 --schedule zb-h1 --plot halves.svg >/dev/null || wrong "not drawn"
grep -q "url(#gpPat" halves.svg || wrong "nothing is hatched"

# A name may hold anything; the target may be a symbolic link; an old picture is replaced.
line="names"
# shellcheck disable=SC2016
name='it'"'"'s `touch pwned` @x <b>'
sed "s|\"name\": *\"[^\"]*\"|\"name\": \"$name\"|; s|\"aliases\": *\[[^]]*\],||" "$root/configs/models/llama3-8b.json" >evil.json
echo old >real.svg
ln -s real.svg link.svg
scaleplan memory --model evil.json --hw h100 --batch 1x8192 --plot link.svg >/dev/null || wrong "not drawn"
[ -L link.svg ] || wrong "the link is replaced"
# (an apostrophe for the quote, which gnuplot would read as its own)
grep -q "it’s \`touch pwned\` @x &lt;b" real.svg || wrong "the name is not in the picture"
[ ! -e pwned ] || wrong "a name was run"
[ "$(umask)" != 0022 ] || [ "$(stat -c %a real.svg)" = 644 ] || wrong "mode $(stat -c %a real.svg)"

# When gnuplot fails, or dies half-way, nothing is left and the old picture stays.
line="failures"
mkdir broken
for script in 'echo half; echo "line 3: cannot" >&2; exit 1' 'kill -9 $$' 'exit 0'; do
    printf '#!/bin/sh\n%s\n' "$script" >broken/gnuplot
    chmod +x broken/gnuplot
    PATH="$scratch/broken:$PATH" scaleplan pipeline --pp 4 --plot real.svg >out 2>err
    [ $? = 4 ] || wrong "exit code with: $script"
    [ "$(wc -l <err)" = 1 ] || wrong "not one line with: $script"
    [ ! -s out ] || wrong "an answer with: $script"
    grep -q 'touch pwned' real.svg || wrong "the old picture is gone with: $script"
done
[ -z "$(find . -name '*.svg.*')" ] || wrong "a temporary file is left"

[ "$drawn" -ge 6 ] || { echo "only $drawn pictures in docs/pictures.md"; failed=1; }
echo "$drawn pictures drawn"
exit $failed
