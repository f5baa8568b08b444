# ms-swift before 3.0: its own program, names and targets.
CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 llm_sft.py --model_id_or_path qwen/Qwen2.5-7B --sft_type lora \
    --dtype AUTO --batch_size 2 --gradient_accumulation_steps 8 --max_length 2048 --lora_rank 8 --lora_target_modules DEFAULT \
    --gradient_checkpointing true --deepspeed zero2
