#!/bin/bash
# The JSON has an optimizer, which replaces --optim, and checkpoints that the Trainer calls for no model.
cat >zero.json <<JSON
{"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto", "train_batch_size": "auto",
 "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2}, "optimizer": {"type": "AdamW"},
 "activation_checkpointing": {"partition_activations": true, "cpu_checkpointing": true}}
JSON
deepspeed --num_gpus 8 train.py --deepspeed zero.json --model_name_or_path meta-llama/Llama-3.1-8B --model_max_length 2048 \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --optim paged_adamw_8bit --bf16 True
