#!/usr/bin/env python3
"""Plans a second through scaleplan.stream, beside the program fed with the same lines: the ratio of the two.

    PYTHONPATH=PREFIX/lib/python3/dist-packages tests/bench/stream.py PROGRAM [PLANS]
"""
import json
import subprocess
import sys
import time

import scaleplan

n = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
common = {"model": "llama3-8b", "hw": "h100-64", "batch": "512x8192", "get": "step_s"}
plans = [{"id": i, "tp": 1 << i % 4, "pp": 1 << i // 4 % 3, "micro_batch": 1} for i in range(n)]
lines = "\n".join(map(json.dumps, plans)).encode()
start = time.perf_counter()
subprocess.run([sys.argv[1], "step", "-", *(f"--{k}={v}" for k, v in common.items())], input=lines,
               stdout=subprocess.DEVNULL, check=True)
middle = time.perf_counter()
for row in scaleplan.stream("step", plans, **common):
    pass
end = time.perf_counter()
print(f"module {n / (end - middle):.0f} plans/s, program {n / (middle - start):.0f} plans/s on one core, "
      f"ratio {(middle - start) / (end - middle):.2f}")
