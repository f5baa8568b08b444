# NeMo 2: a recipe whose trainer is a function of its own; a branch that its parameter decides.
from typing import Optional

import nemo_run as run

from nemo.collections import llm


def model():
    return run.Config(llm.LlamaModel, config=run.Config(llm.Llama31Config70B))


def trainer(
    tensor_parallelism: int = 1,
    pipeline_parallelism: int = 1,
    context_parallelism: int = 2,
    num_nodes: int = 1,
    num_gpus_per_node: int = 8,
):
    strategy = run.Config(
        nl.MegatronStrategy,
        tensor_model_parallel_size=tensor_parallelism,
        pipeline_model_parallel_size=pipeline_parallelism,
        context_parallel_size=context_parallelism,
        sequence_parallel=True,
        ddp=run.Config(DistributedDataParallelConfig, overlap_grad_reduce=True),
    )
    return run.Config(
        nl.Trainer, devices=num_gpus_per_node, num_nodes=num_nodes, plugins=bf16_mixed(), strategy=strategy
    )


def pretrain_recipe(num_nodes: int = 4, performance_mode: bool = False):
    recipe = run.Partial(
        pretrain,
        model=model(),
        trainer=trainer(tensor_parallelism=4, pipeline_parallelism=2, num_nodes=num_nodes),
        data=run.Config(MockDataModule, seq_length=8192, global_batch_size=256, micro_batch_size=1),
    )
    if performance_mode:
        recipe.trainer.strategy.tensor_model_parallel_size = 8
    return recipe


def finetune_recipe(peft_scheme: Optional[str] = "lora", nodes: int = 1):
    recipe = run.Partial(
        finetune,
        model=model(),
        trainer=trainer(tensor_parallelism=8, context_parallelism=1, num_nodes=nodes),
        data=run.Config(MockDataModule, seq_length=2048, global_batch_size=32, micro_batch_size=1),
    )
    if peft_scheme is None or peft_scheme.lower() == "none":
        recipe.data.global_batch_size = 128
    elif peft_scheme.lower() in ["lora", "dora"]:
        recipe.peft = run.Config(LoRA)
        recipe.peft.dim = 8
    return recipe
