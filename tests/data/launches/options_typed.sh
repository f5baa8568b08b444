torchrun --nproc_per_node 4 options_behind.py --model mistralai/Mistral-7B-v0.3 --batch 4 --per_device_train_batch_size 64
