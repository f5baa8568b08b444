#!/bin/bash
# Names of before April 2026; what is trained stands in a here-document.
read -r -d '' arguments <<END
openrlhf.cli.train_dpo \
   --pretrain mistralai/Mistral-7B-v0.1 --dataset ./pairs.jsonl --chosen_key good --rejected_key bad \
   --train_batch_size 64 --micro_train_batch_size 2 --max_len 4096 --zero_stage 2 --bf16 \
   --beta 0.05 --learning_rate 1e-6 --max_epochs 2 --ref_offload --gradient_checkpointing \
   --ds_tensor_parallel_size 2 --save_path ./out --logging_steps 2
END
deepspeed --module $arguments
