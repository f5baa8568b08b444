#!/bin/bash
# MaxText: two slices with copies between them.
export LIBTPU_INIT_ARGS="--xla_enable_async_all_gather=true"
RUN_NAME=${RUN_NAME:-gemma}
python3 -m MaxText.train MaxText/configs/base.yml run_name=$RUN_NAME model_name=gemma-7b \
    dcn_data_parallelism=2 ici_fsdp_parallelism=16 ici_tensor_parallelism=4 \
    per_device_batch_size=0.5 max_target_length=8192 remat_policy=full steps=30
