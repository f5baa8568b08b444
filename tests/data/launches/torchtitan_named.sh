#!/bin/bash
# torchtitan: a TOML that the command names, and an argument over it.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
torchrun --nnodes 2 --nproc_per_node 8 -m torchtitan.train --job.config_file "$ROOT/torchtitan_older.toml" --training.seq_len 4096
