#!/bin/bash
# The actor on two nodes, the critic on one of four; names of since April 2026.
ray job submit --address="http://127.0.0.1:8265" --runtime-env-json='{"env": {}}' -- \
   python3 -m openrlhf.cli.train_ppo_ray \
   --actor.model_name_or_path Qwen/Qwen2.5-7B-Instruct --actor.num_nodes 2 --actor.num_gpus_per_node 8 \
   --critic.model_name_or_path Qwen/Qwen2.5-3B --critic.num_nodes 1 --critic.num_gpus_per_node 4 \
   --vllm.num_engines 4 --vllm.tensor_parallel_size 4 --train.batch_size 256 --rollout.batch_size 512 \
   --rollout.n_samples_per_prompt 4 --data.max_len 6144 --ds.zero_stage 3 --ds.ring_attn_size 2 \
   --ds.packing_samples --train.dynamic_batch_enable --train.max_tokens_per_gpu 12288 \
   --ds.grad_accum_dtype fp32 --actor.gradient_checkpointing_enable --actor.adam.lr 1e-6
