# Supervised tuning: adapters of every linear layer, sequences shared by two.
torchrun --standalone --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer \
    data.train_files=train.parquet data.train_batch_size=64 data.micro_batch_size_per_gpu=4 data.max_length=4096 \
    model.partial_pretrain=Qwen/Qwen2.5-7B model.lora_rank=32 model.target_modules=all-linear \
    ulysses_sequence_parallel_size=2 use_remove_padding=true trainer.total_epochs=2 "$@"
