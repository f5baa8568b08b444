#!/bin/bash
# Fields of the classes as words of a command, over a YAML that lies elsewhere.
srun -N 4 --ntasks-per-node=8 python examples/train.py \
    model.num_layers=32 model.hidden_size=4096 model.num_attention_heads=32 \
    model.tensor_model_parallel_size=4 model.pipeline_model_parallel_size=1 \
    trainer.precision=bf16-mixed model.vocab_size=32000 \
    model.micro_batch_size=2 model.global_batch_size=128 model.encoder_seq_length=4096
