import inspect
from trl import GRPOConfig, GRPOTrainer

MODEL = "Qwen/Qwen2.5-7B-Instruct"


def make_config(**kwargs):
    known = set(inspect.signature(GRPOConfig.__init__).parameters)
    kwargs.pop("unknown_to_all")
    kwargs.pop("deepspeed")
    kwargs["gradient_accumulation_steps"] = 8
    kept = {k: v for k, v in kwargs.items() if k in known}
    return GRPOConfig(bf16=True, **kept)


config = make_config(
    output_dir="out",
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    num_generations=8,
    max_prompt_length=512,
    max_completion_length=1536,
    gradient_checkpointing=True,
    unknown_to_all=1,
    deepspeed="none.json",
)
trainer = GRPOTrainer(model=MODEL, args=config, reward_funcs=len)
