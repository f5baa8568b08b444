# TRL from Python: what its own options have by default, and a length that only its data tell.
import argparse

from trl import GRPOConfig, GRPOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--max-completion-length", type=int, default=768)
parser.add_argument("--batch-size", type=int, default=None)
parser.add_argument("--dtype", default="BF16")
parser.add_argument("--recompute", action="store_true")
args = parser.parse_args()

dataset = load()
longest = max(len(row) for row in dataset)
settings = GRPOConfig(
    bf16=args.dtype.lower() == "bf16",
    gradient_checkpointing=args.recompute,
    per_device_train_batch_size=args.batch_size or 4,
    gradient_accumulation_steps=(
        2  # passes
    ),
    max_prompt_length=longest + 1,
    max_completion_length=args.max_completion_length,
)
GRPOTrainer(model="Qwen/Qwen3-4B", args=settings, train_dataset=dataset).train()
