#!/bin/bash
# MindSpeed-LLM: Megatron-LM's arguments with adapters and Gemma's gated MLP.
torchrun --nproc_per_node 8 --nnodes 1 posttrain_gpt.py \
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \
    --group-query-attention --num-query-groups 8 --gelu-tanh --padded-vocab-size 128256 \
    --untie-embeddings-and-output-weights --disable-bias-linear --normalization RMSNorm \
    --position-embedding-type rope --seq-length 4096 --max-position-embeddings 4096 \
    --micro-batch-size 2 --global-batch-size 32 --tensor-model-parallel-size 2 \
    --lora-r 8 --lora-alpha 32 --lora-target-modules linear_qkv linear_proj \
    --use-distributed-optimizer --bf16
