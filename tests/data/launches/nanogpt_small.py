# A config over nanoGPT's train.py: 16 passes of all devices together.
out_dir = 'out-small'
init_from = 'scratch'
batch_size = 8
block_size = 512 # tokens
gradient_accumulation_steps = 2 * 8
n_layer = 24
n_head = 16
n_embd = n_head * 64
dropout = 0.1
dtype = 'bfloat16' if torch.cuda.is_available() else 'float16'
