# Megatron-Bridge: recipes that other functions make, of another file; the model by its name.
from bridge_common import _common, _degrees, _lora

DEGREES = {"tensor_parallel_size": 2, "pipeline_parallel_size": 2}


def llama_sft():
    cfg = _common(seq_length=2048)
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-8B").to_megatron_provider(load_weights=False)
    _degrees(cfg, **DEGREES)
    cfg.train.global_batch_size = 64
    cfg.train.micro_batch_size = 1
    return cfg


def llama_lora(dim: int = 16):
    cfg = llama_sft()
    cfg.model.pipeline_model_parallel_size = 1
    cfg.peft = _lora(dim=dim, target_modules=["linear_qkv", "linear_proj"])
    return cfg


def llama_layout(stages):
    cfg = llama_sft()
    if stages:
        cfg.model.tensor_model_parallel_size = 8
    return cfg
