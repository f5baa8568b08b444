# LLaMA-Factory by words; the devices are those that its process sees.
export CUDA_VISIBLE_DEVICES=0,1,2
CUDA_VISIBLE_DEVICES=4,5 llamafactory-cli train --stage sft --do_train --model_name_or_path Qwen/Qwen2.5-7B --dataset d \
    --finetuning_type lora --cutoff_len 2048 --per_device_train_batch_size 1 --gradient_accumulation_steps 4 --bf16
