#!/usr/bin/env bash
# Mixtral 8x7B, an expert a rank of the data-parallel group, matmuls in 8 bits.
set -e
TP=${1:-2}
EP=${2:-8}
MODEL="--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32"
MODEL="$MODEL --group-query-attention --num-query-groups 8 --kv-channels 128"
MODEL="$MODEL --swiglu --normalization RMSNorm --disable-bias-linear"
MODEL="$MODEL --untie-embeddings-and-output-weights --position-embedding-type rope --vocab-size 32000"
EXPERTS="--num-experts 8 --moe-router-topk 2 --moe-grouped-gemm --moe-token-dispatcher-type alltoall"
DEGREES="--tensor-model-parallel-size $TP --expert-model-parallel-size $EP --expert-tensor-parallel-size 1"
if [ $TP -gt 1 ]; then
    DEGREES+=" --sequence-parallel"
fi
torchrun --nproc-per-node 8 --nnodes 8 pretrain_gpt.py $MODEL $EXPERTS $DEGREES \
    --seq-length 4096 --max-position-embeddings 4096 \
    --micro-batch-size 1 --global-batch-size $((32 * EP)) \
    --bf16 --fp8-format hybrid --use-distributed-optimizer
