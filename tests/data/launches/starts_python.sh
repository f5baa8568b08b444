#!/bin/bash
# A script of one's own, whose parser has the command's options.
torchrun --nproc_per_node 4 started_training.py --model Qwen/Qwen3-8B --batch-size 2 --lora
