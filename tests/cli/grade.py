#!/usr/bin/env python3
"""grade.py PROGRAM CASE_FILE...: what --grade says of wrong answers.

Random wrong answers, log-uniform within a factor of 100 of the right one, get a reason in at most 5 % of cases. Slips of
a known kind, made here from formulas of the sources, get theirs, or it is among those that are named. No reason is of a
kind that the answer's unit does not have.
"""
import json
import math
import random
import subprocess
import sys
import tempfile

program, files = sys.argv[1], sys.argv[2:]


def grade(cases, options, answers):
    run = subprocess.run([program, "check", *cases, *options, "--grade", "-", "--format", "json"],
                         input=answers, capture_output=True, text=True)
    return json.loads(run.stdout)["answers"]


def grade_cases(cases, answers):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cases, file)
        file.flush()
        return grade([file.name], [], answers)


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool) and x != 0


failed = False


def fail(text):
    global failed
    failed = True
    print(text)


# Random wrong answers.
dice = random.Random(28)
asked = named = 0
for seed in range(1, 5):
    for form in "%.3g", "%.5g":
        options = ["--random", str(seed), "--count", "1000"] if seed % 2 else []
        wrong = [f"{row['question']} {form % (row['right'] * math.exp(dice.uniform(-1, 1) * math.log(100)))}"
                 for row in grade(files, options, "") if is_number(row["right"])]
        for row in grade(files, options, "\n".join(wrong)):
            if row["given"] is not None and not row["correct"] and is_number(row["right"]):
                asked += 1
                named += row["remark"] is not None
print(f"{asked} random answers, a reason for {100 * named / asked:.1f} %")
if asked < 3000 or named > 0.05 * asked:
    fail("too many reasons, or too few answers")

# Slips: words of the command, key, the right value, the wrong value, what must be among the reasons.
HBM_H100, PEAK_H100 = 80 * 2**30, 989.4e12
GPT3 = 6 * 175e9 * 300e9
SLIPS = [
    ("memory --params 7e9", "weights_bytes", 14e9, 14e9 * 8, "bits"),
    ("memory --params 7e9", "weights_bytes", 14e9, 28e9, "another format"),
    ("memory --params 7e9", "weights_bytes", 14e9, 14e9 / 2**30 * 1e9, "10^9 for 2^30"),
    ("memory --params 70e9 --precision adam12 --dp 64 --zero 3", "memory.states_bytes", 12 * 70e9 / 64, 12 * 70e9,
     "64 devices"),
    ("comm --op ag --bytes 1GB --hw v5p:8x8x8 --group-axes 8", "ring_s", 1e9 / 180e9, 1e9 / 90e9, "one direction"),
    ("comm --op ag --bytes 1GB --hw v5p:8x8x8 --group-axes 8", "ring_s", 1e9 / 180e9, 8e9 / 180e9, "bits"),
    ("comm --op ar --bytes 1GB --hw a100-8", "time_s", 2 * 7 / 8 * 1e9 / 300e9, 2 * 1e9 / 300e9, "(n-1)/n"),
    ("comm --op ar --bytes 1GB --hw a100-8", "time_s", 2 * 7 / 8 * 1e9 / 300e9, 2 * 7 / 8 * 1e9 / 600e9,
     "one direction"),
    ("comm --op ar --bytes 1GB --hw a100-8", "time_s", 2 * 7 / 8 * 1e9 / 300e9, 2 * 7 / 8 * 1e12 / 300e9, "ms for s"),
    ("flops --params 175e9 --tokens 300e9", "pf_days", GPT3 / 8.64e19, GPT3 / 3 / 8.64e19, "2 P for 6 P"),
    ("flops --params 175e9 --tokens 300e9", "petaflops", GPT3 / 1e15, GPT3 / 1e15 * 4 / 3, "8 P for 6 P"),
    ("flops --params 175e9 --tokens 300e9", "petaflops", GPT3 / 1e15, GPT3 / 1e15 * 2 / 3, "4 P for 6 P"),
    ("train --params 70e9 --tokens 15e12 --hw h100-1024 --mfu 40%", "seconds",
     6 * 70e9 * 15e12 / (1024 * PEAK_H100 * 0.4), 6 * 70e9 * 15e12 / (PEAK_H100 * 0.4), "1024 devices"),
    ("train --params 70e9 --tokens 15e12 --hw h100-1024 --mfu 40%", "days",
     6 * 70e9 * 15e12 / (1024 * PEAK_H100 * 0.4) / 86400, 6 * 70e9 * 15e12 / (1024 * PEAK_H100 * 0.4) / 3600, "hours"),
    ("train --params 70e9 --tokens 15e12 --hw h100-1024 --mfu 40%", "days",
     6 * 70e9 * 15e12 / (1024 * PEAK_H100 * 0.4) / 86400, 6 * 70e9 * 15e12 / (1024 * PEAK_H100 * 0.4), "days for sec"),
    ("train --params 70e9 --tokens 15e12 --hw h100-1024 --mfu 40%", "device_hours",
     6 * 70e9 * 15e12 / (PEAK_H100 * 0.4) / 3600, 6 * 70e9 * 15e12 / PEAK_H100 / 3600, "share that is reached"),
    ("train --params 70e9 --hw h100-64 --days 1 --mfu 40% --constants textbook", "tokens",
     64 * 990e12 * 0.4 * 86400 / (6 * 70e9), 64 * 990e12 * 86400 / (6 * 70e9), "share that is reached"),
    ("flops --params 70e9 --hw h100-256 --tokens-per-s 250000", "mfu", 6 * 70e9 * 250000 / (256 * PEAK_H100),
     3 * 70e9 * 250000 / (256 * PEAK_H100), "sparse"),
    ("pipeline --pp 4 --microbatches 8", "bubble_fraction", 3 / 11, 300 / 11, "per cent"),
    ("pipeline --pp 4 --microbatches 8", "bubble_fraction", 3 / 11, 8 / 11, "efficiency"),
    ("pipeline --pp 4 --microbatches 8", "efficiency", 8 / 11, 11 / 8, "reciprocal"),
    ("roofline --matmul 1024x4096x8192 --hw h100", "flops", 2 * 1024 * 4096 * 8192, 1024 * 4096 * 8192, "multiply-add"),
]
cases = [{"id": str(i), "args": words.split(), "question": words, "expect": {key: right}, "rel_tol": 1e-3}
         for i, (words, key, right, _, _) in enumerate(SLIPS)]
for form in "%.3g", "%.4g", "%.10g":
    answers = "\n".join(f"{i + 1} {form % slip[3]}" for i, slip in enumerate(SLIPS))
    for slip, row in zip(SLIPS, grade_cases(cases, answers)):
        if abs(row["right"] / slip[2] - 1) > 1e-3:
            fail(f"{slip[0]}: {slip[1]} is {row['right']}, by hand {slip[2]}")
        if row["correct"] or slip[4] not in (row["remark"] or ""):
            fail(f"{slip[0]}: {row['given']} for {row['right']} gets \"{row['remark']}\", not \"{slip[4]}\"")

# Kinds that a unit does not have: a share is in no bits, bytes or days; FLOPs and tokens are not.
NEVER = [
    ("pipeline --pp 4 --microbatches 40", "efficiency", 40 / 43, ["bits", "binary", "for seconds", "(n-1)/n", "2 P"]),
    ("flops --params 175e9 --tokens 300e9", "petaflops", GPT3 / 1e15, ["bits", "binary", "for seconds", "(n-1)/n"]),
    ("batch --hw v5p", "critical.dp.1", 2550, ["binary", "for seconds", "(n-1)/n", "2 P"]),
    ("train --params 1e9 --tokens 1e12 --hw h100-40 --mfu 40%", "seconds", 6e21 / (40 * PEAK_H100 * 0.4),
     ["bits", "binary", "(n-1)/n"]),
]
FACTORS = [2, 3, 4, 1.5, 4 / 3, 8, 1.024, 1.024**2, 1.024**3, 1.024**4, 60, 3600, 24, 86400, 40, 40 / 39, 1e3, 1e6]
FACTORS += [1 / f for f in FACTORS]
for words, key, right, kinds in NEVER:
    cases = [{"id": str(i), "args": words.split(), "question": words, "expect": {key: right}} for i in range(len(FACTORS))]
    answers = "\n".join(f"{i + 1} {right * factor:.6g}" for i, factor in enumerate(FACTORS))
    for factor, row in zip(FACTORS, grade_cases(cases, answers)):
        for kind in kinds:
            if kind in (row["remark"] or ""):
                fail(f"{words}: {factor:.4g} times {key} gets \"{row['remark']}\"")
sys.exit(failed)
