#!/usr/bin/env bash
# quoted.sh DOCUMENT NAME COMMAND...: runs a tool that prints tables, then compares the tables of the document below
# the line <!-- printed by NAME --> with what it printed: all numbers of a row stand in one line of the output, in one
# that has the row's first cell where some line has it. A row whose first cell is *in italics* is not printed: a goal,
# or what was before.
set -u
document=$1 name=$2
shift 2
command -v "$1" >/dev/null || { echo "skipped: lacks $1"; exit 77; }
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$@" 2>&1 | tee "$output"
code=${PIPESTATUS[0]}
awk -v marker="<!-- printed by $name -->" -v document="$document" '
  # The numbers of a text: 37,812 is one, 8.8! and (85) and +3 % too; those inside words are none.
  function numbers(text, out,    n, words, i, count, word) {
    split("", out)
    while (match(text, /[0-9],[0-9][0-9][0-9]/))
      text = substr(text, 1, RSTART) substr(text, RSTART + 2)
    gsub(/[|*!%()+,:;]/, " ", text)
    n = split(text, words, " ")
    for (i = 1; i <= n; i++)
      if (words[i] ~ /^-?[0-9]+(\.[0-9]+)?$/)
        out[++count] = words[i]
    return count + 0
  }
  # Whether a printed number is the wanted one, which may have fewer decimals.
  function is(has, wanted,    dot, half) {
    dot = index(wanted, ".")
    half = 0.5 / 10 ^ (dot ? length(wanted) - dot : 0)
    return has - wanted <= half * 1.001 && wanted - has <= half * 1.001
  }
  function holds(line, wanted, n,    i, k, found, has, m) {
    m = numbers(line, has)
    for (i = 1; i <= n; i++) {
      found = 0
      for (k = 1; k <= m && !found; k++)
        if (has[k] != "" && is(has[k], wanted[i])) { found = 1; has[k] = "" }
      if (!found)
        return 0
    }
    return 1
  }
  FNR == NR { line[++lines] = $0; next }
  $0 == marker { marked = 1; rows = 0; next }
  !marked { next }
  /^\|[-|]+\|$/ { body = 1; next }
  /^\|/ && body {
    rows++
    split($0, cell, "|")
    label = cell[2]
    gsub(/^ +| +$|\*\*/, "", label)
    n = numbers(substr($0, length(cell[2]) + 2), wanted)
    if (label ~ /^\*.*\*$/ || n == 0)
      next
    named = ok = 0
    for (i = 1; i <= lines; i++)
      named += index(line[i], label) > 0
    for (i = 1; i <= lines && !ok; i++)
      ok = (!named || index(line[i], label) > 0) && holds(line[i], wanted, n)
    compared++
    if (!ok) { print document ":" FNR ": not what is printed: " $0; wrong++ }
    next
  }
  body { marked = body = 0 }
  END {
    printf "%s: %d rows compared, %d differ\n", document, compared, wrong
    exit wrong > 0 || compared == 0
  }' "$output" "$document" || exit 1
exit "$code"
