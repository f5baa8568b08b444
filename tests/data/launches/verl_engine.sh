#!/bin/bash
# verl's newer choice of a backend by one word; a judge with a rollout of its own.
ENGINE=${ENGINE:-megatron}
python3 -m verl.trainer.main_ppo \
    model_engine=$ENGINE \
    algorithm.adv_estimator=grpo \
    data.train_batch_size=64 \
    data.max_prompt_length=1024 \
    data.max_response_length=1024 \
    actor_rollout_ref.model.path=Qwen/Qwen3-8B \
    actor_rollout_ref.actor.ppo_mini_batch_size=32 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 \
    actor_rollout_ref.actor.megatron.dtype=bfloat16 \
    actor_rollout_ref.rollout.n=4 \
    reward.reward_model.rollout.tensor_model_parallel_size=4 \
    trainer.n_gpus_per_node=8 \
    trainer.nnodes=1
