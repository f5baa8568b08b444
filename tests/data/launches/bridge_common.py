# Megatron-Bridge: what recipes of other files start from.
def _common(seq_length=4096, **options):
    cfg = ConfigContainer(
        model=None,
        train=TrainingConfig(global_batch_size=options_of(options), micro_batch_size=2),
        ddp=DistributedDataParallelConfig(use_distributed_optimizer=True),
        dataset=GPTDatasetConfig(seq_length=seq_length),
        mixed_precision="bf16_mixed",
    )
    return cfg


def _degrees(cfg, tensor_parallel_size, pipeline_parallel_size=1):
    cfg.model.tensor_model_parallel_size = tensor_parallel_size
    cfg.model.pipeline_model_parallel_size = pipeline_parallel_size


def _lora(dim=32, **rest):
    return LoRA(dim=dim, **rest)
