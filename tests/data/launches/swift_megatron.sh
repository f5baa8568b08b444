# ms-swift over Megatron-LM: its names have underscores, its switches values, its defaults are its own.
NPROC_PER_NODE=8 \
NNODES=2 \
megatron sft \
    --model Qwen/Qwen3-30B-A3B \
    --dataset data.jsonl \
    --tuner_type lora \
    --lora_rank 16 \
    --target_modules linear_qkv linear_proj \
    --tensor_model_parallel_size 2 \
    --pipeline_model_parallel_size 2 \
    --expert_model_parallel_size 4 \
    --sequence_parallel true \
    --overlap_grad_reduce false \
    --global_batch_size 32 \
    --recompute_granularity full \
    --recompute_method uniform \
    --recompute_num_layers 1 \
    --packing true \
    --max_length 4096
