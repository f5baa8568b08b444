#!/usr/bin/env bash
# page.sh PROGRAM: the page of `fit --report` stands alone (nothing loaded, nothing run), escapes what others named,
# is light and prints on two pages. The pages are counted where chromium is installed; the rest is checked anywhere.
set -uo pipefail
program=$(realpath "$1") || exit 2
source "$(dirname "$0")/needs.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
failed=0
wrong() { echo "$1: $2" >&2; failed=1; }

check() { # NAME ARGUMENTS...: writes NAME.html and looks at it
    local name=$1 page=$1.html
    shift
    "$program" fit "$@" --report "$page" >answer 2>errors || { wrong "$name" "$(cat errors)"; return; }
    { head -1 "$page" | grep -q '^<!DOCTYPE html>' && tail -1 "$page" | grep -q '^</body></html>'; } || wrong "$name" "no whole page"
    ! grep -qiE '<(script|link|iframe|object|embed|img)|(src|href)=|url\(|@import| on[a-z]+=' "$page" || wrong "$name" "loads or runs something"
    [ "$(stat -c %s "$page")" -lt 40000 ] || wrong "$name" "larger than 40 kB"
    grep -qF "$(head -1 answer | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')" "$page" || wrong "$name" "says another verdict"
    [ "$(grep -o '<svg' "$page" | wc -l)" = "$(grep -o '</svg>' "$page" | wc -l)" ] || wrong "$name" "half a picture"
    if has chromium; then
        timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" --no-pdf-header-footer \
            --print-to-pdf="$scratch/$name.pdf" "file://$scratch/$page" >/dev/null 2>&1 || wrong "$name" "does not print"
        local pages
        pages=$(grep -ao '/Count [0-9]*' "$name.pdf" | grep -o '[0-9]*' | sort -n | tail -1)
        [ "${pages:-0}" -ge 1 ] && [ "$pages" -le 2 ] || wrong "$name" "prints on ${pages:-0} pages"
    fi
}

check yes --model llama3-70b --hw h100-512 --batch 1024x8192 --tokens 1.4T
check no --model llama3-405b --hw v5e-16
check slices --model llama2-7b --hw gcp:v5e-4x4 --batch 1M --tokens 2T --price 1.2
check size --params 25M --hw a100-40gb-8

# A model of somebody else's, whose name is markup.
mkdir -p files
cat >'files/x.json' <<'MODEL'
{"name": "<script>alert(1)</script>&\"", "layers": 12, "d_model": 768, "d_ff": 3072, "heads": 12, "vocab": 50257}
MODEL
check markup --model files/x.json --hw h100-8
grep -q '&lt;script&gt;' markup.html || wrong markup "the name is not there"

# The text is that of the answer without a page; rows write no files.
diff <("$program" fit --model llama3-8b --hw h100-8) <("$program" fit --model llama3-8b --hw h100-8 --report a.html) || wrong text "differs"
"$program" sweep fit --model llama3-8b --hw h100-8,h100-16 --report b.html >/dev/null 2>&1 && wrong sweep "writes a page"
"$program" fit --model llama3-8b --hw h100-8 --report /nowhere/x.html >/dev/null 2>&1
[ $? = 3 ] || wrong nowhere "no exit code 3"
exit $failed
