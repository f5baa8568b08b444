# torchtitan: a configuration that is copied field by field, with one section changed.
from dataclasses import fields, replace

from torchtitan.distributed.pipeline_parallel import pipeline_llm
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.llama3.config_registry import llama3_8b
from torchtitan.trainer import Trainer


def _base():
    config = llama3_8b()
    config.parallelism.data_parallel_shard_degree = 8
    config.parallelism.context_parallel_degree = 8
    config.training.max_context_length = 65536
    config.training.num_tokens_per_microbatch_per_dp_rank = 65536
    config.training.num_tokens_per_train_step = 2097152
    config.activation_checkpoint = FullAC.Config()
    return config


def _convert(base_config, pipelining_fn):
    kept = {f.name: getattr(base_config, f.name) for f in fields(base_config)}
    kept["parallelism"] = replace(base_config.parallelism, context_parallel_degree=4)
    kept["pipelining_fn"] = pipelining_fn
    return Trainer.Config(**kept)


def long_context():
    return _convert(_base(), pipeline_llm)
