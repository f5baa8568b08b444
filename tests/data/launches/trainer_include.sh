# DeepSpeed by the devices that it names, and a JSON that says no format: the arguments' one is put in.
deepspeed --include localhost:0,1,4,5 train.py --model_name_or_path models/Qwen2.5-7B/ --per_device_train_batch_size 2 --fp16 True \
    --gradient_accumulation_steps 4 --model_max_length 1024 --deepspeed trainer_plain.json
