#!/bin/bash
# The arguments are the command's, though the Python beside it names a class of them.
torchrun --nproc_per_node=4 own_class_train.py --model_name_or_path meta-llama/Llama-2-7b-hf \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --model_max_length 1024 \
    --bf16 True --fsdp "full_shard auto_wrap" --gradient_checkpointing True
