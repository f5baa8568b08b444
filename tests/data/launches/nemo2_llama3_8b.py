# NeMo 2: fields of a recipe, set over those of its function.
from nemo.collections import llm


def configure(nodes):
    recipe = llm.llama3_8b.pretrain_recipe(name="llama3_8b", num_nodes=nodes, num_gpus_per_node=8)
    recipe.trainer.strategy.tensor_model_parallel_size = 2
    recipe.trainer.strategy.pipeline_model_parallel_size = 2
    recipe.trainer.strategy.context_parallel_size = 1
    recipe.trainer.strategy.sequence_parallel = True
    recipe.data.micro_batch_size = 1
    recipe.data.global_batch_size = 256
    recipe.data.seq_length = 8192
    return recipe
