#!/bin/bash
# The files that the commands name are written by the script itself.
DS=./conf/zero.json
cat > fsdp.yaml << END
distributed_type: FSDP
mixed_precision: fp16
num_processes: 8
fsdp_config:
  fsdp_sharding_strategy: SHARD_GRAD_OP
END
cat > $DS << END
{"zero_optimization": {"stage": 2}, "fp16": {"enabled": "auto"}, "train_micro_batch_size_per_gpu": "auto",
 "gradient_accumulation_steps": "auto", "train_batch_size": "auto"}
END
ARGS="--model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_length 2048 --fp16 true"
if [ "${1:-fsdp}" = fsdp ]; then
    accelerate launch --config_file fsdp.yaml train.py $ARGS
else
    deepspeed --num_gpus 8 train.py $ARGS --deepspeed $DS
fi
