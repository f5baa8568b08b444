#!/bin/bash
# Megatron-Bridge's recipes by name, once for each line of degrees.
RECIPE=${1:-llama31_8b_sft_config}
for config in "4,1,2" "2,2,1"; do
    IFS=',' read -r TP PP CP <<<"$config"
    torchrun --nproc_per_node=8 --nnodes=2 scripts/training/run_recipe.py --recipe $RECIPE \
        -tp $TP --pipeline_model_parallel_size $PP -cp $CP --global_batch_size 64 -mb 1 \
        model.seq_length=8192
done
