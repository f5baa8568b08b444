swift sft --model Qwen/Qwen2.5-7B --train_type full --dataset a.jsonl --max_length 8192 --deepspeed zero3 --sequence_parallel_size 2
