# Branches that options decide, a dictionary's values.
import argparse

from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

SETTINGS = {"length": 2048, "lora": {"rank": 64}}

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="Qwen/Qwen3-4B")
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--steps", type=int, default=None)
parser.add_argument("--lora", action="store_true")
args = parser.parse_args()

model = AutoModelForCausalLM.from_pretrained(args.model)
peft_config = None
if args.lora:
    peft_config = LoraConfig(r=SETTINGS["lora"]["rank"], target_modules="all-linear")
config = SFTConfig(
    per_device_train_batch_size=args.batch_size,
    gradient_accumulation_steps=4,
    max_length=SETTINGS["length"],
)
SFTTrainer(model=model, args=config, peft_config=peft_config).train()
