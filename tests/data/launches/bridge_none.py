# Megatron-Bridge: None takes back what stands above it.
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def config():
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_size = 2
    cfg.model.virtual_pipeline_model_parallel_size = 4
    cfg.model.virtual_pipeline_model_parallel_size = None
    cfg.model.pipeline_model_parallel_layout = None
    cfg.model.recompute_granularity = None
    cfg.train.micro_batch_size = 1
    cfg.train.global_batch_size = 64
    cfg.dataset.sequence_length = 4096
    cfg.mixed_precision = "bf16_mixed"
    return cfg
