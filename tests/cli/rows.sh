#!/usr/bin/env bash
# rows.sh PROGRAM RUNS.csv: what `validate` keeps of a row of 550 bytes, as text and as JSON, is at most 1,000 bytes: the most
# memory that it has for 16,000 rows, less that for 8,000. RUNS.csv is repeated.
set -u
program=$(realpath "$1") runs=$(realpath "$2")
# shellcheck source-path=SCRIPTDIR source=needs.sh
. "$(dirname "$0")/needs.sh"
need python3
scratch=$(mktemp -d) && cd "$scratch" || exit 2
trap 'rm -rf "$scratch"' EXIT
few=8000 many=16000 most=1000 failed=0
python3 - "$runs" $few $many << 'END' || exit 2
import csv, sys

with open(sys.argv[1], newline="") as file:
    header, *rows = csv.reader(file)
name, group, words = (header.index(column) for column in ("id", "config_group", "source_ref"))
for n in sys.argv[2:]:
    with open(n + ".csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        for i in range(int(n)):
            row = list(rows[i % len(rows)])
            row[name], row[group] = "%s-%d" % (row[name], i), "%08x" % (i * 2654435761 % 2**32)
            row[words] += "x" * max(0, 550 - len(",".join(row)))
            out.writerow(row)
END

most_memory() { # WORD...: kB. A child counts what its parent had when it was made, so that this one is small.
  python3 -ISc 'import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss)
sys.exit(status != 0)' "$program" validate "$@"
}

for how in '' '--json --by hardware'; do
  # shellcheck disable=SC2086
  less=$(most_memory $few.csv $how) && more=$(most_memory $many.csv $how) || exit 2
  kept=$(((more - less) * 1024 / (many - few)))
  echo "validate $how: $less kB for $few rows, $more kB for $many: $kept bytes a row, at most $most"
  ((kept > 0 && kept <= most)) || failed=1
done
exit $failed
