# torchtitan: batches in tokens, a recipe that takes a registry's configuration.
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.llama3.config_registry import llama3_8b


def long_context():
    config = llama3_8b()
    config.parallelism.data_parallel_shard_degree = 8
    config.parallelism.context_parallel_degree = 8
    config.training.max_context_length = 65536
    config.training.num_tokens_per_microbatch_per_dp_rank = 65536
    config.training.num_tokens_per_train_step = 2097152
    config.activation_checkpoint = FullAC.Config()
    return config
