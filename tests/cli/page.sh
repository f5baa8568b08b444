#!/usr/bin/env bash
# page.sh PROGRAM: a page of --report stands alone (nothing loaded, nothing run), escapes what others named,
# is light and prints on one page. The pages are counted where chromium is installed; the rest is checked anywhere.
set -uo pipefail
program=$(realpath "$1") || exit 2
source "$(dirname "$0")/needs.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
failed=0
wrong() { echo "$1: $2" >&2; failed=1; }

escaped() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/'"'"'/\&#39;/g'; }

check() { # NAME COMMAND ARGUMENTS...: writes NAME.html and looks at it
    local name=$1 page=$1.html
    shift
    "$program" "$@" --report "$page" >answer 2>errors || { wrong "$name" "$(cat errors)"; return; }
    { head -1 "$page" | grep -q '^<!DOCTYPE html>' && tail -1 "$page" | grep -q '^</body></html>'; } || wrong "$name" "no whole page"
    ! grep -qiE '<(script|link|iframe|object|embed|img)|(src|href)=|url\(|@import| on[a-z]+=' "$page" || wrong "$name" "loads or runs something"
    [ "$(stat -c %s "$page")" -lt 40000 ] || wrong "$name" "larger than 40 kB"
    [ "$(grep -o '<svg' "$page" | wc -l)" = "$(grep -o '</svg>' "$page" | wc -l)" ] || wrong "$name" "half a picture"
    if has chromium; then
        timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" --no-pdf-header-footer \
            --print-to-pdf="$scratch/$name.pdf" "file://$scratch/$page" >/dev/null 2>&1 || wrong "$name" "does not print"
        local pages
        pages=$(grep -ao '/Count [0-9]*' "$name.pdf" | grep -o '[0-9]*' | sort -n | tail -1)
        [ "${pages:-0}" = 1 ] || wrong "$name" "prints on ${pages:-0} pages"
    fi
}

check yes fit --model llama3-70b --hw h100-512 --batch 1024x8192 --tokens 1.4T
check no fit --model llama3-405b --hw v5e-16
check slices fit --model llama2-7b --hw gcp:v5e-4x4 --batch 1M --tokens 2T --price 1.2
check size fit --params 25M --hw a100-40gb-8

check search search --model llama3-70b --hw h100-512,gb200-256 --batch 512x8192 --tokens 1T
check none search --model llama3-405b --hw h100-8
check step step --model llama3-70b --hw h100-512 --batch 512x8192 --tp 4 --pp 4 --cp 2
check serve serve --model llama3-70b --hw h100-8
check services serve --model llama3-70b --hw h100-8,h200-8
check long search --model deepseek-v3 --hw h100-1024,h200-1024 --batch 4096x4096 --tokens 10T --top 20

# The page of `fit` has the plan, the step and the range of `search`, never those of a flat utilisation, and its command is one that
# `step` accepts with that step. A size alone, and the book's rule, have the closed form's verdict.
problem='--model glm-4.5-air --hw h100-512 --batch 1024x8192 --tokens 8T'
check boss fit $problem
"$program" search $problem --format json >search.json
"$program" fit $problem --report x.html --format json | jq -e --slurpfile s search.json \
    '.expected as $e | $s[0].plans[0] | [.step_s, .days, .cost_usd, .dp, .tp, .pp, .cp, .ep, .time.low_s, .mfu] == ($e | [.step_s, .days, .cost_usd, .dp, .tp, .pp, .cp, .ep, .time.low_s, .mfu])' >/dev/null ||
    wrong boss "is not what search says"
for name in boss search; do
    command=$(sed -n 's:.*<code>scaleplan \(.*\)</code>.*:\1:p' $name.html)
    shown=$(sed -n 's:.*<dt>step</dt><dd>\([^<]*\)</dd>.*:\1:p' $name.html)
    said=$("$program" $command | sed -n 's/^step *\([0-9.]* [a-z]*\) (.*/\1/p')
    [ -n "$said" ] && [ "$shown" = "$said" ] || wrong $name "shows a step of $shown, its command $said"
done
grep -qF "$("$program" fit --params 25M --hw a100-40gb-8 --get verdict | escaped)" size.html || wrong size "says another verdict"
"$program" fit --model llama2-13b --hw v5p-4096 --batch 3M --constants textbook --report book.html >answer
grep -qF "$(head -1 answer | escaped)" book.html || wrong book "says another verdict"
grep -q '40 %' boss.html && wrong boss "has a flat utilisation"

# A model of somebody else's, whose name is markup.
mkdir -p files
cat >'files/x.json' <<'MODEL'
{"name": "<script>alert(1)</script>&\"", "layers": 12, "d_model": 768, "d_ff": 3072, "heads": 12, "vocab": 50257}
MODEL
check markup fit --model files/x.json --hw h100-8
grep -q '&lt;script&gt;' markup.html || wrong markup "the name is not there"

# The text is that of the answer without a page; rows write no files.
diff <("$program" fit --model llama3-8b --hw h100-8) <("$program" fit --model llama3-8b --hw h100-8 --report a.html) || wrong text "differs"
"$program" sweep fit --model llama3-8b --hw h100-8,h100-16 --report b.html >/dev/null 2>&1 && wrong sweep "writes a page"
"$program" fit --model llama3-8b --hw h100-8 --report /nowhere/x.html >/dev/null 2>&1
[ $? = 4 ] || wrong nowhere "no exit code 4"
exit $failed
