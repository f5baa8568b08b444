"""rl_accuracy.py PROGRAM [STEPS]: `rl` beside measured GRPO steps (tests/data/rl-steps.csv), and the fit of its constants.

The rows have the settings of the recipes that their source names; lengths are log-normal with sigma 0.5 (not stated), their
mean after the cut the one measured; prompts what tokens a second leave (110 in the one row where these disagree). The constants of include/scaleplan/rl_constants.def are fitted to all rows, each with
what is expected of it, by least squares of ln(step), noise 0.15, Huber's weights beyond two deviations. `left out` is the
error of a row by constants fitted without any row of its model. Prints each row with its parts, the constants, the errors; and
steps of verl that state their parts and not their lengths (tests/data/rl-parts.csv): the mean answer is the one that gives the
measured log-probabilities, degrees and mini-batches are assumed, the other parts compared. Nothing is fitted to these.
"""
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys

SIGMA, NOISE, ROOT = 0.5, 0.15, os.path.join(os.path.dirname(__file__), "..", "..")


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def cut_mean(mean, cut):
    """Mean of a log-normal length that ends at `cut`."""
    z = (math.log(cut) - math.log(mean)) / SIGMA + SIGMA / 2
    return mean * normal(z - SIGMA) + cut * (1 - normal(z))


def uncut_mean(mean, cut):
    low, high = mean, 1e7
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cut_mean(middle, cut) < mean else (low, middle)
    return low


def command(program, row, loop):
    words = [program, "rl", "--framework", "megatron", "--micro-batch", "1", "--format", "json", "--loop", loop]
    for name in ("model", "hw", "prompts", "group", "minibatches", "input", "remat", "weights"):
        words += ["--" + name, row[name]]
    for name in ("gen_tp", "memory_fraction", "pack"):
        words += ["--" + name.replace("_", "-"), row[name]] if row[name] else []
    words += ["--output", f"lognormal:{uncut_mean(float(row['response']), float(row['longest'])):.1f}:{SIGMA}"]
    words += ["--max-response", row["longest"]]
    for degree in ("tp", "pp", "cp", "ep"):
        words += ["--" + degree, row[degree]] if row[degree] != "1" else []
    if row["train"]:
        words += ["--split", f"{row['train']}:{row['generate']}", "--stale", row["stale"]]
    return words


def answer(program, row, loop):
    said = subprocess.run(command(program, row, loop), capture_output=True, text=True, check=False)
    if said.returncode != 0:
        sys.exit(f"{row['model']} {row['hw']}: {said.stderr.strip()}")
    return json.loads(said.stdout)


def parts(x, c):
    """Seconds by part from the ideal answer and constants."""
    apart = x["stale"] > 0
    return {"generation": c["generation"] * x["generation_s"], "work": c["generation"] * x["work_s"],
            "latency": c["generation"] * x["latency_s"], "training": c["passes"] * x["training_s"] + x["from_host"] / c["sleep"],
            "refit": x["refit_s"] + x["refit_matrices"] * c["tensor_apart_s" if apart else "tensor_s"],
            "wake": x["wake_s"] / c["sleep"], "rest": c["step_s"]}


def step_s(x, c):
    """The forms rl_colocated_s and rl_split_s."""
    p = parts(x, c)
    if not x["split"]:
        return p["generation"] + p["training"] + p["refit"] + p["wake"] + p["rest"]
    circle = (p["latency"] + p["training"] + p["refit"] + p["rest"]) / (x["stale"] + 1) - p["refit"]
    return max(p["work"], p["training"] + p["rest"], circle) + p["refit"]


def constants():
    with open(os.path.join(ROOT, "include/scaleplan/rl_constants.def"), encoding="utf-8") as file:
        found = re.findall(r'^SP_RL_CONSTANT\(\w+, "(\w+)", "\w*", ([\d.e-]+), [\d.e-]+, ([\d.e-]+), ([\d.e-]+),', file.read(), re.M)
    return [(key, float(value), float(expected), float(spread)) for key, value, expected, spread in found]


def fit(rows, known):
    def values(theta):
        return {key: expected * math.exp(spread * t) for (key, _, expected, spread), t in zip(known, theta)}

    def residuals(theta):
        c, out = values(theta), []
        for x in rows:
            d = math.log(step_s(x, c) / x["measured"]) / NOISE
            out.append(d if abs(d) < 2 else math.copysign(math.sqrt(4 * abs(d) - 4), d))
        return out + list(theta)

    theta, damping, n = [0.0] * len(known), 1e-2, len(known)
    at = residuals(theta)
    for _ in range(80):
        slopes = []
        for i in range(n):
            near = theta[:]
            near[i] += 1e-4
            slopes.append([(a - b) / 1e-4 for a, b in zip(residuals(near), at)])
        system = [[sum(a * b for a, b in zip(slopes[i], slopes[j])) for j in range(n)]
                  + [-sum(a * b for a, b in zip(slopes[i], at))] for i in range(n)]
        for i in range(n):
            system[i][i] *= 1 + damping
        for i in range(n):
            pivot = max(range(i, n), key=lambda k: abs(system[k][i]))
            system[i], system[pivot] = system[pivot], system[i]
            for k in range(n):
                if k != i:
                    share = system[k][i] / system[i][i]
                    system[k] = [a - share * b for a, b in zip(system[k], system[i])]
        tried = [t + max(-1, min(1, system[i][n] / system[i][i])) for i, t in enumerate(theta)]
        there = residuals(tried)
        if sum(r * r for r in there) < sum(r * r for r in at):
            theta, at, damping = tried, there, max(damping / 3, 1e-6)
        else:
            damping *= 4
    return values(theta)


def compare_parts(program):
    with open(os.path.join(ROOT, "tests/data/rl-parts.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        def at(mean):
            words = [program, "rl", "--format", "json", "--remat", "full", *row["training"].split(), "--output", f"lognormal:{mean:.0f}:{SIGMA}"]
            for name in ("model", "hw", "prompts", "group", "minibatches", "input", "pack", "algorithm"):
                words += ["--" + name, row[name]]
            said = subprocess.run(words + ["--max-response", row["longest"]], capture_output=True, text=True, check=False)
            return json.loads(said.stdout) if said.returncode == 0 else sys.exit(said.stderr)
        low, high = 100.0, 30000.0
        for _ in range(12):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if at(middle)["logprob_s"] < float(row["logprob_s"]) else (low, middle)
        of = at(low)
        print(f"{row['source'][:4]} {row['model']} {row['hw']}: answers of {of['output']:.0f} by the log-probabilities; " + ", ".join(
            f"{key[:-2]} {of[key]:.0f} of {float(row[key]):.0f} s ({of[key] / float(row[key]) - 1:+.0%})"
            for key in ("generation_s", "reference_s", "update_s") if row[key]))


def main():
    program = sys.argv[1]
    steps = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "tests/data/rl-steps.csv")
    with open(steps, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    known = constants()
    given = {key: value for key, value, _, _ in known}
    for x in rows:
        row = dict(x)
        x["stale"], x["split"], x["measured"] = int(row["stale"]), bool(row["train"]), float(row["step_s"])
        ideal = answer(program, row, "ideal")
        for key in ("generation_s", "work_s", "latency_s", "training_s", "refit_s", "wake_s", "refit_matrices"):
            x[key] = float(ideal[key])
        x["ideal"] = ideal["step_s"]
        said = answer(program, row, "fitted")
        x["from_host"] = max(0.0, ideal["reference_s"] - ideal["logprob_s"])
        x["training_s"] -= x["from_host"]
        x["said"], x["latency_s"] = said["step_s"], said["latency_s"] / given["generation"]
        if abs(step_s(x, given) / x["said"] - 1) > 2e-3:
            print(f"{row['model']} {row['hw']}: the program says {x['said']:.2f}, this file {step_s(x, given):.2f}")
    fitted = fit(rows, known)
    for model in sorted({x["model"] for x in rows}):
        without = fit([x for x in rows if x["model"] != model], known)
        for x in rows:
            if x["model"] == model:
                x["out"] = step_s(x, without) / x["measured"] - 1
    for x in rows:
        p = parts(x, given)
        side = f"{x['train']}:{x['generate']}" if x["split"] else "colocated"
        print(f"{x['source'][:11]} {x['model']:16} {x['hw']:9} {side:9} stale {x['stale']}: measured {x['measured']:6.1f} s, "
              f"{x['said']:6.1f} ({x['said'] / x['measured'] - 1:+4.0%}; left out {x['out']:+4.0%}; ideal {x['ideal'] / x['measured'] - 1:+4.0%}): "
              + ", ".join(f"{key} {p[key]:.1f}" for key in ("generation", "work", "latency", "training", "refit", "wake", "rest")))
    print("fitted: " + ", ".join(f"{key} {value:.4g}" for key, value in fitted.items()))
    for name, errors in (("ideal", [x["ideal"] / x["measured"] - 1 for x in rows]),
                         ("fitted", [x["said"] / x["measured"] - 1 for x in rows]), ("left out", [x["out"] for x in rows])):
        sizes = sorted(abs(math.log1p(e)) for e in errors)
        print(f"{name}: {len(errors)} rows, median {statistics.median(map(abs, errors)):.1%}, mean "
              f"{statistics.mean(map(abs, errors)):.1%}, bias {statistics.median(errors):+.1%}, 80 % within a factor of "
              f"exp({sizes[math.ceil(0.8 * len(sizes)) - 1]:.3f})")
    for model in sorted({x["model"] for x in rows}):
        errors = [x["out"] for x in rows if x["model"] == model]
        print(f"  {model} left out: {len(errors)} rows, median {statistics.median(errors):+.1%}")
    compare_parts(program)


main()
