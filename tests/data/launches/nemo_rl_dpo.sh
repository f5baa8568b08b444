#!/bin/bash
# The files that it starts from lie beside it; what stands behind it wins.
uv run examples/run_dpo.py --config nemo_rl_base.yaml ~grpo +dpo.max_num_steps=10 \
  policy.train_global_batch_size=64 policy.sequence_packing.enabled=false policy.dtensor_cfg.context_parallel_size=1
