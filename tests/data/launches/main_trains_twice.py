# Two trainings of one function, each with adapters of its own.
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import DPOConfig, SFTConfig


def main():
    model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1")

    adapters = LoraConfig(r=8, target_modules=["q_proj", "v_proj"])
    sft = SFTConfig("first", per_device_train_batch_size=4, bf16=True, max_length=2048)
    train(model, sft, adapters)
    adapters = LoraConfig(r=32, target_modules=["q_proj", "v_proj"])
    dpo = DPOConfig("second", per_device_train_batch_size=2, bf16=True, max_length=1024)
    train(model, dpo, adapters)
