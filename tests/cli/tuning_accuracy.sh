#!/usr/bin/env bash
# tuning_accuracy.sh PROGRAM FILE: what the program says of measured runs of fine-tuning that took no part in any fit.
# A row of FILE has a group, a system, what was measured (bytes of a device, or tokens a second), the command that
# answers it, why it is not judged, and its source, between tabs. Prints the mean error of each system and group, and of
# the rows of a system whose first three have scaled it; fails where a group is further off than docs/tuning.md says.
set -euo pipefail
program=$1 file=$2
answers=$(mktemp)
trap 'rm -f "$answers"' EXIT
tail -n +2 "$file" | awk -F '\t' '$5 == "" { print $4 }' | sort -u | while IFS= read -r ask; do
  read -ra words <<< "$ask"
  printf '%s\t%s\n' "$ask" "$("$program" "${words[@]}")"
done > "$answers"
awk -F '\t' '
  function size(x) { return x < 0 ? -x : x }
  function total(name, rows, sum, limit) {
    printf "%-15s %3d rows, mean %5.1f %%%s\n", name, rows, 100 * sum / rows, limit ? "  (at most " limit ")" : ""
    far = far || (limit && 100 * sum / rows > limit)
  }
  BEGIN { limit["bf16"] = 3; limit["packed"] = 12; limit["checkpointed"] = 8; limit["two GPUs"] = 5; limit["nvidia8"] = 10; limit["amd8"] = 15 }
  NR == FNR { answer[$1] = $2; next }
  FNR == 1 { next }
  $5 != "" { print "left out: " $2 ": " $5; next }
  {
    error = answer[$4] / $3 - 1
    sum[$1] += size(error); n[$1]++
    name = $1 "\t" $2
    of[name] += error; rows[name]++
    if (!($1 in known)) { known[$1] = 1; groups[++g] = $1 }
    if ($4 !~ /^search/) next
    all += size(error); speeds++
    if (rows[name] <= 3) shift[name] += log(1 + error) / 3
    else { after += size(exp(log(1 + error) - shift[name]) - 1); judged++ }
  }
  END {
    for (name in rows) {
      split(name, part, "\t")
      printf "%-15s %-32s %3d rows %+6.1f %%\n", part[1], part[2], rows[name], 100 * of[name] / rows[name] | "sort"
    }
    close("sort")
    for (i = 1; i <= g; i++) total(groups[i], n[groups[i]], sum[groups[i]], limit[groups[i]])
    total("all speeds", speeds, all, 15)
    total("after three", judged, after, 6)
    exit far
  }' "$answers" "$file"
