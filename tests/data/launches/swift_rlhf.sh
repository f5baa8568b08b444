# Preference tuning by ms-swift: adapters and recomputation unless told otherwise, DeepSpeed by its file's name.
nproc=8
NPROC_PER_NODE=$nproc swift rlhf --rlhf_type dpo --model Qwen/Qwen3-8B --dataset pairs.jsonl \
    --torch_dtype bfloat16 --per_device_train_batch_size 2 --gradient_accumulation_steps $(expr 32 / $nproc) \
    --max_length 2048 --deepspeed zero2 --lora_rank 16 --target_modules all-linear --beta 0.1
