#!/usr/bin/env python3
"""Time the kernels of training alone on one GPU, with PyTorch, for `scaleplan calibrate`.

    python3 measure.py > kernels.csv
    scaleplan calibrate kernels.csv --hw h100 -o ~/.config/scaleplan/kernels/h100.json

A row is a matmul [m, k] x [k, n] or causal attention on one sequence, forward, with its time in seconds: the median of
repeats after a warm-up, each repeat on operands that the cache does not hold. Shapes are those of layers of dense
models from 1 to 400 B parameters. Notes go to stderr. Clocks are what they are: lock them, or measure on a warm GPU.
"""
import argparse
import csv
import statistics
import sys

import torch

TOKENS = (512, 2048, 8192, 32768)
# (n, k) of query, output, up and down projections: 2048, 4096, 8192 and 16384 wide
WEIGHTS = ((2048, 2048), (8192, 2048), (4096, 4096), (14336, 4096), (4096, 14336), (8192, 8192), (28672, 8192),
           (16384, 16384), (53248, 16384))
ATTENTION = ((16, 128), (32, 128), (64, 128))  # heads, head_dim
SEQUENCES = (1024, 2048, 4096, 8192, 16384, 32768)
COLUMNS = ("op", "dtype", "m", "n", "k", "heads", "head_dim", "seq", "time_s")


def median_time(run, copies, repeats):
    """Median seconds of run(i) over the copies of its operands in turn."""
    for i in range(3):
        run(i % copies)
    torch.cuda.synchronize()
    times = []
    for i in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run(i % copies)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def copies_of(nbytes):
    """How many operands of this size are larger than any cache together, 8 at most."""
    return max(1, min(8, 2 ** 28 // nbytes))


def matmul_bf16(m, n, k, repeats):
    count = copies_of(2 * (m * k + n * k))
    a = [torch.randn(m, k, device="cuda", dtype=torch.bfloat16) for _ in range(count)]
    b = [torch.randn(n, k, device="cuda", dtype=torch.bfloat16) for _ in range(count)]
    return median_time(lambda i: a[i] @ b[i].t(), count, repeats)


def matmul_fp8(m, n, k, repeats):
    """With the cast of the 16-bit input, as a training step has it; weights are cast once a step."""
    count = copies_of(2 * m * k + n * k)
    a = [torch.randn(m, k, device="cuda", dtype=torch.bfloat16) for _ in range(count)]
    b = [torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn) for _ in range(count)]
    one = torch.ones((), device="cuda")

    def run(i):
        torch._scaled_mm(a[i].to(torch.float8_e4m3fn), b[i].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    return median_time(run, count, repeats)


def attention(heads, head_dim, seq, repeats):
    count = copies_of(6 * heads * head_dim * seq)
    qkv = [[torch.randn(1, heads, seq, head_dim, device="cuda", dtype=torch.bfloat16) for _ in range(3)]
           for _ in range(count)]
    return median_time(lambda i: torch.nn.functional.scaled_dot_product_attention(*qkv[i], is_causal=True), count,
                       repeats)


def rows(repeats, with_fp8):
    """Every measured row; a shape that the GPU cannot hold, or a format that it lacks, is noted and left out."""
    for dtype, time in (("bf16", matmul_bf16),) + ((("fp8", matmul_fp8),) if with_fp8 else ()):
        for m in TOKENS:
            for n, k in WEIGHTS:
                yield attempt({"op": "matmul", "dtype": dtype, "m": m, "n": n, "k": k}, time, m, n, k, repeats)
    for heads, head_dim in ATTENTION:
        for seq in SEQUENCES:
            row = {"op": "attention", "dtype": "bf16", "heads": heads, "head_dim": head_dim, "seq": seq}
            yield attempt(row, attention, heads, head_dim, seq, repeats)


def attempt(row, time, *arguments):
    try:
        row["time_s"] = f"{time(*arguments):.6g}"
    except RuntimeError as error:  # out of memory, or no kernel
        print(f"measure.py: left out {row}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None
    finally:
        torch.cuda.empty_cache()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20, help="timed runs of each shape (default 20)")
    parser.add_argument("--no-fp8", action="store_true", help="leave 8-bit matmuls out")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("measure.py: PyTorch sees no GPU")
    major, minor = torch.cuda.get_device_capability()
    with_fp8 = not options.no_fp8 and (major, minor) >= (8, 9)  # Ada and later multiply in 8 bits
    print(f"measure.py: {torch.cuda.get_device_name()}, PyTorch {torch.__version__}", file=sys.stderr)
    table = csv.DictWriter(sys.stdout, COLUMNS)
    table.writeheader()
    for row in rows(options.repeats, with_fp8):
        if row:
            table.writerow(row)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
