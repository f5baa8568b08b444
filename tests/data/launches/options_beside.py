LORA = {"r": 8, "target_modules": ["q_proj", "v_proj"]}
UNUSED = {"r": 64}
STEPS = 32
