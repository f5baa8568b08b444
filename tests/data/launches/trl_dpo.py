"""Preference tuning set up in Python: defaults of its own options, a product, a value by its name."""
import argparse

from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer

STEPS = 2 * 4  # of one update


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=2048)
    options = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained("another/tokenizer")
    model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1", torch_dtype=torch.bfloat16)
    adapters = LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj", "v_proj"])
    arguments = DPOConfig(
        output_dir="out",
        per_device_train_batch_size=2,  # pairs
        gradient_accumulation_steps=STEPS,
        max_length=options.length,
        gradient_checkpointing=True,
        bf16=True,
    )
    DPOTrainer(model=model, args=arguments, peft_config=adapters, processing_class=tokenizer).train()


if __name__ == "__main__":
    main()
