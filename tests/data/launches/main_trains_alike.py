# Two trainings of one function and class, on one model.
from transformers import AutoModelForCausalLM, TrainingArguments


def main():
    model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1")
    Trainer(model, TrainingArguments("short", per_device_train_batch_size=4, bf16=True)).train()
    Trainer(model, TrainingArguments("long", per_device_train_batch_size=1, bf16=True)).train()
