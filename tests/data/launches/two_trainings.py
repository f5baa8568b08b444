# Two trainings of one file: which is read is asked for. The adapters of the second hang on a branch.
from transformers import TrainingArguments
from trl import GRPOConfig


def warm_up(rank=0):
    return TrainingArguments("out", per_device_train_batch_size=4, bf16=True)


def improve():
    if adapted:
        lora = LoraConfig(r=8)
    return GRPOConfig(per_device_train_batch_size=8, max_prompt_length=1024, max_completion_length=3072)
