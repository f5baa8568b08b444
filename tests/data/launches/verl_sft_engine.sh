#!/bin/bash
# verl's newer supervised tuning: micro-batches are of tokens unless told otherwise.
torchrun --standalone --nproc_per_node=8 -m verl.trainer.sft_trainer \
    engine=${ENGINE:-fsdp} \
    engine.ulysses_sequence_parallel_size=2 \
    engine.strategy=${STRATEGY:-fsdp2} \
    model.path=Qwen/Qwen2.5-7B \
    data.train_batch_size=64 \
    data.max_length=4096 \
    data.use_dynamic_bsz=${DYNAMIC:-true} \
    data.micro_batch_size_per_gpu=1 \
    data.max_token_len_per_gpu=8192
