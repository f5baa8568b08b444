from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

base = dict(per_device_train_batch_size=2, max_length=4096)
kwargs = {"output_dir": "out", **base, "gradient_accumulation_steps": 4, "bf16": True}
kwargs["gradient_accumulation_steps"] = 8
kwargs.update({"gradient_checkpointing": False, "per_device_train_batch_size": 3})
lora = {"r": 32, "target_modules": ["q_proj", "v_proj"]}
trainer = SFTTrainer(
    model="mistralai/Mistral-7B-Instruct-v0.3",
    args=SFTConfig(**kwargs),
    peft_config=LoraConfig(**lora),
)
