# A class of the program's own with the name of one of TRL's is no training; texts are cut before the training.
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

from env.reward import RewardConfig

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-7B")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
reward = RewardConfig(per_device_train_batch_size=9, weight=2)
cutoff_len = 768


def tokenize(row):
    return tokenizer(row["text"], truncation=True, max_length=cutoff_len, padding=False, return_tensors=None)


def answer(prompt):
    return model.generate(**tokenizer(prompt, truncation=True, max_length=64, return_tensors="pt"))


args = TrainingArguments(output_dir="o", per_device_train_batch_size=4, gradient_accumulation_steps=2, bf16=True)
Trainer(model=model, args=args, train_dataset=data.map(tokenize)).train()
