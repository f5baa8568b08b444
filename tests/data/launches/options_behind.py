# A training whose options, defaults and settings stand behind it or in a file beside.
import argparse
import torch
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer
from peft import LoraConfig

from options_beside import LORA, UNUSED


def train(args):
    half = args.half and not args.wide
    model = AutoModelForCausalLM.from_pretrained(
        args.model, torch_dtype=torch.bfloat16 if half else torch.float32
    )
    config = SFTConfig(
        per_device_train_batch_size=args.batch,
        gradient_accumulation_steps=STEPS,
        max_length=args.length,
        gradient_checkpointing=args.again,
        bf16=torch.cuda.is_available() or torch.backends.mps.is_available(),
    )
    SFTTrainer(model=model, args=config, peft_config=LoraConfig(**LORA)).train()


STEPS = 4
if __name__ == "__main__":
    DEFAULTS = dict(batch=2, length=4096)
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="Qwen/Qwen2.5-7B")
    parser.add_argument("--batch", type=int, default=DEFAULTS["batch"])
    parser.add_argument("--length", type=int, default=DEFAULTS["length"])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--half", action="store_true", default=True)
    parser.add_argument("--wide", action="store_true")
    train(parser.parse_args())
