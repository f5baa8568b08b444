#!/bin/bash
# Hugging Face's Trainer: its arguments fill what DeepSpeed's file leaves "auto".
deepspeed --num_gpus=8 --num_nodes=2 run_clm.py \
    --deepspeed deepspeed_zero3_auto.json \
    --model_name_or_path meta-llama/Llama-2-13b-hf \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 2 \
    --block_size 2048 \
    --bf16 true \
    --gradient_checkpointing true \
    --num_train_epochs 1 \
    --output_dir out
