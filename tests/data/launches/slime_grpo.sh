#!/bin/bash
# slime: answers of a rollout are trained on in two steps, by Megatron-LM.
MODEL_ARGS=(
    --num-layers 36 --hidden-size 4096 --ffn-hidden-size 12288 --num-attention-heads 32
    --group-query-attention --num-query-groups 8 --kv-channels 128 --qk-layernorm
    --swiglu --normalization RMSNorm --disable-bias-linear
    --untie-embeddings-and-output-weights --position-embedding-type rope --vocab-size 151936
)
ROLLOUT_ARGS=(
    --num-rollout 3000
    --rollout-batch-size 32
    --n-samples-per-prompt 8
    --num-steps-per-rollout 2
    --rollout-max-response-len 8192
)
PERF_ARGS=(
    --tensor-model-parallel-size 2 --sequence-parallel
    --pipeline-model-parallel-size 1 --context-parallel-size 2
    --recompute-granularity full --recompute-method uniform --recompute-num-layers 1
)
ray job submit --address="http://127.0.0.1:8265" -- python3 train.py \
    --actor-num-nodes 1 --actor-num-gpus-per-node 8 \
    "${MODEL_ARGS[@]}" "${ROLLOUT_ARGS[@]}" "${PERF_ARGS[@]}"
