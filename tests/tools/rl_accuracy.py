"""rl_accuracy.py PROGRAM [STEPS]: `rl` beside measured GRPO steps (tests/data/rl-steps.csv), and the fit of its constants.

The rows have the settings of the recipes that their source names; lengths are log-normal with sigma 0.5 (not stated), their
mean after the cut the one measured; prompts what tokens a second leave (110 in the one row where these disagree). The
constants of include/scaleplan/rl_constants.def are fitted to the rows whose `fit` is yes, each with what is expected of it, by
least squares of ln(step), noise 0.15, Huber's weights beyond two deviations. `left out` is the error of a row by constants
fitted without any row of its model. Rows that are not fitted lack settings (a split, or a batch) or wait for tools.

tests/data/rl-parts.csv has steps that state parts, with the settings of the scripts beside them (degrees, tokens of a micro-batch,
mini-batches); the chip is assumed where weights are sent. Where they do not state lengths, two of a task's facts tell them: answers
reach the limit ("up to 28K"), so the longest of a batch, half of the time, is as long; and the mean is the one that gives the update on the
fewest separate devices. There nothing else is in it: with both sides on the same devices verl's times of log-probabilities and
updates include what is moved to and from hosts. (By the log-probabilities there the mean would be 1,936 tokens, which 16 H20 update in
no less than 8 x 7.07e9 x 8,192 x 2,136 / (16 x 148 TFLOP/s) = 418 s: 314 were measured.) Nothing is fitted to these.

Prints the tables of docs/rl.md. Exits 1 where the constants are not what the rows give, or an error is above its goal.
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


def cut_mean(mean, cut, sigma=SIGMA):
    """Mean of a log-normal length that ends at `cut`."""
    z = (math.log(cut) - math.log(mean)) / sigma + sigma / 2
    return mean * normal(z - sigma) + cut * (1 - normal(z))


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
    words += row["options"].split()
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


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups.items()


def of_machine(row):
    chip, devices = row["hw"].split("-")
    return chip.upper(), devices


def told(row):
    """Devices of a step, how they are divided, and the settings that tell it from its neighbours."""
    side = f"{row['train']}:{row['generate']}" if row["train"] else of_machine(row)[1]
    return side + (f" ({row['settings']})" if row.get("settings") else "")


def print_steps(rows):
    """A line per model: devices, seconds measured (error %, with the model left out)."""
    print("| model | devices: seconds measured (error %, with the model left out) |\n|---|---|")
    for model, steps in grouped(rows, lambda x: x["model"]):
        print(f"| {model} | " + "; ".join(
            f"{chip} " + ", ".join(f"{told(x)}: {x['measured']:.4g} ({x['said'] / x['measured'] - 1:+.0%}, {x['out']:+.0%})".replace("%", "") for x in of_chip)
            for chip, of_chip in grouped(steps, lambda x: of_machine(x)[0])) + " |")


PARTS = {"generation_s": "generation", "exposed_generation_s": "exposed", "logprob_s": "log-probs", "reference_s": "reference",
         "update_s": "update", "refit_s": "weights"}


def reaching(mean, longest, n):
    """Sigma of log-normal answers of this mean, the median of whose longest of n is `longest`: ln(longest / mean) = z sigma - sigma^2 / 2."""
    z = statistics.NormalDist().inv_cdf(0.5 ** (1 / n))
    return z - math.sqrt(max(0, z * z - 2 * math.log(longest / mean)))


def ask_parts(program, row, lengths):
    words = [program, "rl", "--format", "json", "--remat", "full", *row["options"].split()]
    words += ["--output", f"lognormal:{lengths[0]:.0f}:{lengths[1]:.3g}"]
    for name in ("model", "hw", "prompts", "group", "minibatches", "input", "pack", "algorithm", "stale"):
        words += ["--" + name, row[name]] if row[name] else []
    words += ["--split", f"{row['train']}:{row['generate']}"] if row["train"] else []
    said = subprocess.run(words + ["--max-response", row["longest"]], capture_output=True, text=True, check=False)
    return json.loads(said.stdout) if said.returncode == 0 else sys.exit(f"{row['model']} {told(row)}: {said.stderr}")


def lengths_of(program, row, rows, known):
    """The mean that is stated, and SIGMA; else that which gives the update on the fewest separate devices, and the sigma whose longest
    answer is at the limit."""
    if row["response"]:
        return float(row["response"]), SIGMA
    if row["model"] not in known:
        first = min((x for x in rows if x["model"] == row["model"] and x["train"] and x["update_s"]), key=lambda x: int(x["train"]))
        limit, n = float(first["longest"]), int(first["prompts"]) * int(first["group"])
        low, high = 100.0, limit
        for _ in range(14):
            middle = math.sqrt(low * high)
            of = middle, reaching(middle, limit, n)
            low, high = (middle, high) if ask_parts(program, first, of)["update_s"] < float(first["update_s"]) else (low, middle)
        known[row["model"]] = low, reaching(low, limit, n), cut_mean(low, limit, reaching(low, limit, n))
        first["update_s"] = ""
    return known[row["model"]][:2]


def print_parts(program):
    """A line per model and machine: devices, the mean answer taken, and each stated part with its error."""
    with open(os.path.join(ROOT, "tests/data/rl-parts.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    known = {}
    print("| steps by part | seconds measured (error %) |\n|---|---|")
    for (model, machine), runs in grouped(rows, lambda row: (row["model"], " ".join(reversed(of_machine(row))))):
        texts = []
        for row in runs:
            of = ask_parts(program, row, lengths_of(program, row, rows, known))
            texts.append(f"{told(row)}: " + ", ".join(
                f"{name} {float(row[part]):.4g} ({of[part] / float(row[part]) - 1:+.0%})".replace("%", "") for part, name in PARTS.items() if row[part]))
        print(f"| {model}, {machine} | " + "; ".join(texts) + " |")
    print("mean answers: " + ", ".join(f"{model} {mean:.0f} (sigma {sigma:.2f})" for model, (_, sigma, mean) in known.items()))


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
    taken = [x for x in rows if x["fit"] == "yes"]
    fitted = fit(taken, known)
    for model, steps in grouped(rows, lambda x: x["model"]):
        without = fit([x for x in taken if x["model"] != model], known)
        for x in steps:
            x["out"] = step_s(x, without) / x["measured"] - 1
    print_steps(rows)
    print_parts(program)
    print("constants: " + ", ".join(f"{key} {value:.3g} (fitted {fitted[key]:.4g})" for key, value in given.items()))
    far = [key for key, value in given.items() if abs(value / fitted[key] - 1) > 0.02]
    medians = {}
    for name, of, errors in (("ideal", taken, [x["ideal"] / x["measured"] - 1 for x in taken]),
                             ("fitted", taken, [x["said"] / x["measured"] - 1 for x in taken]), ("left out", rows, [x["out"] for x in rows])):
        sizes = sorted(abs(math.log1p(e)) for e in errors)
        medians[name] = statistics.median(map(abs, errors))
        print(f"{name}: {len(of)} rows, median {medians[name]:.1%}, mean {statistics.mean(map(abs, errors)):.1%}, bias "
              f"{statistics.median(errors):+.1%}, 80 % within a factor of exp({sizes[math.ceil(0.8 * len(sizes)) - 1]:.3f})")
    if far:
        print(f"not what the rows give: {', '.join(far)} of include/scaleplan/rl_constants.def")
    sys.exit(bool(far) or medians["left out"] > 0.25 or medians["fitted"] > 0.085)


main()
