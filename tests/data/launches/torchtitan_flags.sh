#!/usr/bin/bash
# torchtitan by its command line.
NGPU=${NGPU:-"8"}
torchrun --nproc_per_node=${NGPU} --nnodes 4 --rdzv_backend c10d --rdzv_endpoint="localhost:0" \
    -m torchtitan.train \
    --model.name llama3 --model.flavor 70B \
    --training.local_batch_size 1 --training.seq_len 4096 \
    --parallelism.tensor_parallel_degree 8 --parallelism.context_parallel_degree 2 \
    --activation_checkpoint.mode full
