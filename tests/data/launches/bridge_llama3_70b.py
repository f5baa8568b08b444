# Megatron-Bridge: a function that changes a recipe.
from megatron.bridge.recipes.llama import llama3_70b_pretrain_config


def config():
    cfg = llama3_70b_pretrain_config()
    cfg.model.tensor_model_parallel_size = 8
    cfg.model.pipeline_model_parallel_size = 4
    cfg.model.virtual_pipeline_model_parallel_size = 5
    cfg.model.sequence_parallel = True
    cfg.train.micro_batch_size = 1
    cfg.train.global_batch_size = 128
    cfg.dataset.sequence_length = 8192
    cfg.mixed_precision = "bf16_mixed"
    return cfg
