#!/bin/bash
# Sums as older shells write them, a JSON behind a folder that a command says, accelerate's own name for it.
HERE="$(cd "$(dirname "$0")" && pwd)"
NODES=2
GPUS=8
STEPS=$(expr 128 / $GPUS / $NODES)
accelerate launch --num_machines $NODES --num_processes $[NODES * GPUS] --deepspeed_config_file "$HERE/deepspeed_zero3_auto.json" train.py \
    --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1 --gradient_accumulation_steps $STEPS --model_max_length 4096 --bf16
