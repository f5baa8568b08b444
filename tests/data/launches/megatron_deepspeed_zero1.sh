#!/bin/bash
# Megatron-DeepSpeed: the script writes DeepSpeed's file and hands it over with the arguments.
TP=2
PP=2
ZERO_STAGE=1
MICRO_BATCH=2
GLOBAL_BATCH=256
CONFIG=ds_config.json
cat <<EOF > $CONFIG
{
  "train_batch_size": $GLOBAL_BATCH,
  "train_micro_batch_size_per_gpu": $MICRO_BATCH,
  "zero_optimization": {"stage": $ZERO_STAGE},
  "fp16": {"enabled": true}
}
EOF
deepspeed --num_nodes 4 --num_gpus 8 pretrain_gpt.py \
    --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --vocab-size 50304 \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP \
    --micro-batch-size $MICRO_BATCH --global-batch-size $GLOBAL_BATCH \
    --fp16 --checkpoint-activations \
    --deepspeed --deepspeed_config $CONFIG --zero-stage $ZERO_STAGE --deepspeed-activation-checkpointing
