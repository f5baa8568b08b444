# Megatron-Bridge: a recipe whose model is a class of the library, in fp8 by the name of its precision.
from megatron.bridge.models.llama import Llama31ModelProvider8B
from megatron.bridge.training.config import ConfigContainer, DistributedDataParallelConfig, TrainingConfig


def pretrain():
    model = Llama31ModelProvider8B(tensor_model_parallel_size=2, context_parallel_size=2, seq_length=8192)
    return ConfigContainer(
        model=model,
        train=TrainingConfig(global_batch_size=512, micro_batch_size=1),
        ddp=DistributedDataParallelConfig(use_distributed_optimizer=True),
        mixed_precision="bf16_with_fp8_current_scaling_mixed",
    )
