"""groups.py RUNS.csv: how many of the statistics that `validate --by COLUMN` prints of a file differ from those of its own
runs, grouped by Python: errors that count, one of each configuration. Prints the file's runs, the statistics, those that differ.
"""
import csv, json, subprocess, sys

with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
ids = [row["config_group"] or row["id"] for row in rows]


def near(a, b):
    return a is b or (None not in (a, b) and abs(a - b) <= 1e-9 * max(1, abs(b)))


def counts(kind, run):
    """By the reason beside a run: a part of it that is left out, or all."""
    reason = run["reason"] or ""
    return "omits" not in reason and not (kind == "memory" and "its memory" in reason)


def statistics(errors):
    groups = {}
    for error, of in zip(errors, ids):
        if error is not None:
            groups.setdefault(of, []).append(error)
    means = [sum(group) / len(group) for group in groups.values()]
    n = len(means)
    return (n, sum(map(abs, means)) / n, sum(means) / n) if n else (0, None, None)


tried = wrong = 0
columns = list(rows[0])
for column in [columns[0], "hardware", "framework", "n_devices", "memory_level", "tier", columns[-1]]:
    answer = json.loads(subprocess.run(["scaleplan", "validate", sys.argv[1], "--by", column, "--format", "json"],
                                       stdout=subprocess.PIPE, check=True).stdout)
    values = list(dict.fromkeys(row[column] for row in rows))
    wrong += [group["group"] for group in answer["groups"]] != [value or None for value in values]
    for group, value in [(answer, None)] + list(zip(answer["groups"], values)):
        for kind, key in (("time", "error_pct"), ("memory", "memory_error_pct")):
            n, size, bias = statistics([run.get(key) if counts(kind, run) and value in (None, row[column]) else None
                                        for row, run in zip(rows, answer["runs"])])
            of = group[kind]
            tried += 1
            if of["n"] != n or not near(of["mean_abs_pct_error"], size) or not near(of["bias_pct"], bias):
                wrong += 1
                print(column, value, kind, of, n, size, bias, file=sys.stderr)
print(len(rows), tried, wrong)
