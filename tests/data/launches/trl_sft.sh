#!/bin/bash
# TRL's sft under accelerate, whose settings lie beside.
accelerate launch --config_file accelerate_fsdp.yaml trl/scripts/sft.py \
    --model_name_or_path mistralai/Mistral-7B-v0.1 \
    --dataset_name trl-lib/Capybara \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 \
    --max_length 4096 \
    --bf16 \
    --learning_rate 2.0e-5 \
    --output_dir sft
