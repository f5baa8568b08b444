/* Rows of files of runs: what each column and word of docs/runs.md means for the model, the
 * machine, the plan and the measurement. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <scaleplan/names.h>

#include "runs/runs.h"
#include "runs/serving_runs.h"

/* Cells of a row, "column=cell;column=cell", over those of every row; and words that the run must
 * contain, or the start of its problem after "! ". */
struct row {
    const char *cells, *says;
};

/* 8192 tokens on each of 64 H100s in nodes of 8: with NeMo ZeRO 1 over all of them and one sequence
 * at a time. */
static const char usual[] =
    "hw=h100;devices=64;framework=nemo;model=llama3-8b;seq=4096;batch_sequences=128";

/* A model by its shape: heads of 2048 / 16, an MLP of 4 x 2048. */
#define SHAPE "model=;layers=24;d_model=2048;heads=16;vocab=50304"
#define EXPERTS SHAPE ";d_ff=5632;moe="

static const struct row training[] = {
    {"", "chip=h100 dpn=8 chips=64 slices=1 own_net=0 layers=32 d=4096 ff=14336 heads=32 kv=8 "
         "hd=128 vocab=128256 gated=1 "
         "tied=0 mtp=0 unpadded=0 experts=0 dp=64 tp=1 pp=1 vpp=1 cp=1 ep=1 etp=1 zero=1 shards=64 "
         "micro=1 seq=4096 "
         "batch=128 sp=0 first=0 last=0 offl=0 dtype=bf16 step=nan mem=nan level=4 stage=-1 "
         "scored=1 fw=nemo prec=mixed16 "
         "schedule=1f1b imbalance=1 rl=1 open_remat=1 open_etp=1 rank=0 id=row_1 group=row_1"},
    /* the machine */
    {"hw=H100-SXM 80GB", "chip=h100 chips=64"},
    {"hw=NVIDIA", "! hw \"NVIDIA\" is not known"},
    {"devices=", "! devices are not stated"},
    {"devices=8", "chips=8 dp=8"},
    {"scaleout_gbps_per_node=400",
     "own_net=1 rate=6250000000 dpn=8"}, /* 400 / 8 bits / 8 devices */
    {"scaleout_gbps_per_node=400;devices_per_node=4", "own_net=1 rate=12500000000 dpn=4"},
    {"scaleout_gbps_per_node=0.1", "own_net=1 rate=1562500"},
    {"scaleout_gbps_per_node=0.01",
     "! scaleout_gbps_per_node \"0.01\" is not a number from 0.1 to 1e+06"},
    {"hw=TPU v5p;framework=maxtext", "chip=v5p chips=64 slices=1 fw=maxtext zero=3 own_net=0"},
    {"hw=TPU v5p;framework=maxtext;dp=2;scaleout_gbps_per_node=400",
     "slices=2 chips=64 dp=64 own_net=0"},
    {"hw=TPU v5p;framework=maxtext;dp=32", "slices=32 shards=2"},
    {"hw=TPU v5p;framework=maxtext;dp=64", "slices=1"}, /* one chip is not a slice */
    {"hw=TPU v5p;framework=maxtext;tp=8;dp=8",
     "slices=1 dp=8 tp=8"}, /* chips of a slice hold one replica */
    {"hw=TPU v5e;framework=maxtext;devices=512;batch_sequences=512",
     "slices=2"}, /* a pod has 256 */
    /* the framework: by its name, by words that mark it, or by default */
    {"framework=;software=torchtitan", "fw=torchtitan zero=3"},
    /* a mark in each of the columns that may have one */
    {"framework=torchtitan at 5a2b", "fw=torchtitan zero=3"},
    {"framework=;source_ref=pytorch torchtitan", "fw=torchtitan zero=3"},
    {"framework=;source_title=Efficient (Korthikanti et al.)", "fw=megatron-2022"},
    {"framework=;source_ref=Megatron-DeepSpeed blog",
     "fw=megatron-deepspeed zero=0"}, /* the longest mark */
    {"framework=no-such", "! framework \"no-such\" is not known"},
    {"framework=;zero=3", "fw=torchtitan zero=3"},
    {"framework=", "fw=nemo"},
    {"framework=;zero=2", "fw=nemo"},
    {"framework=;hw=v5p", "fw=maxtext"},
    {"framework=;zero=FULL_SHARD", "fw=llm-foundry zero=3"},
    /* the framework's defaults, and what a row states */
    {"attention_kernel=unfused", "kernel=unfused"},
    {"attention_kernel=Eager (PyTorch)", "kernel=unfused"},
    {"attention_kernel=fa2", "kernel=fa2"},
    {"attention_kernel=fa3", "kernel=fa3"},
    {"attention_kernel=cuDNN", "kernel=cudnn"},
    {"attention_kernel=flex", "kernel=flex"},
    {"attention_kernel=flash;framework=megatron-2022", "kernel=flash"},
    {"attention_kernel=fused;framework=megatron-2022", "kernel=flash"},
    {"attention_kernel=fa4;framework=megatron-2022", "kernel=flash"},
    {"attention_kernel=sdpa;framework=megatron-2022", "kernel=flash"},
    {"attention_kernel=splash;framework=megatron-2022", "kernel=flash"},
    {"attention_kernel=fa22", "! attention_kernel \"fa22\" is not known"},
    {"logits=unfused", "logits=unfused lb=6"},
    {"logits=fused", "logits=fused lb=6"},
    {"logits=native", "logits=native lb=6"},
    {"logits=linear", "logits=linear lb=6"},
    {"logits=eager", "logits=unfused lb=14 slb=0"},
    {"logits=Chunked 8", "logits=unfused lb=0.75"},
    {"logits=chunked 1", "lb=6"},
    {"logits=chunked 0", "! logits \"chunked 0\" is not known"},
    {"logits=logits", "logits=fused lb=6"},
    {"logits=chunked 4;framework=torchtitan", "lb=1 slb=3.5"},
    {"logits=other", "! logits \"other\" is not known"},
    {"dropout=0.1", "dropout=0.1"},
    {"dropout=0.99", "dropout=0.99"},
    {"dropout=1", "! dropout \"1\" is not a number from 0 to 0.99"},
    {"optimizer=AdamW (fused)", "prec=mixed16"},
    {"optimizer=adam", "prec=mixed16"},
    {"optimizer=muon", "prec=muon"},
    {"optimizer=sgd-of-sorts", "! optimizer \"sgd-of-sorts\" is not known"},
    /* the model */
    {SHAPE, "layers=24 d=2048 ff=8192 heads=16 kv=16 hd=128 vocab=50304 gated=1 tied=0 experts=0 "
            "norms=2 unpadded=0"},
    {SHAPE
     ";d_ff=5632;kv_heads=4;head_dim=64;gated_mlp=0;tied_embeddings=1;mtp_layers=1;vocab_padded=0",
     "ff=5632 kv=4 hd=64 gated=0 tied=1 mtp=1 unpadded=1"},
    {SHAPE ";vocab_padded=1.0;gated_mlp=false", "unpadded=0 gated=0"},
    {SHAPE ";gated_mlp=maybe", "! gated_mlp \"maybe\" is not known; expected 0 or 1"},
    {"model=Llama 3 8B", "layers=32 kv=8"},
    {"model=unheard-of",
     "! layers, d_model, heads or vocab are not stated, and no model \"unheard-of\""},
    {"model=", "! layers, d_model, heads or vocab are not stated"},
    {"model=;layers=24;d_model=2048;heads=16", "! layers, d_model, heads or vocab are not stated"},
    {"model=;layers=1;d_model=1;heads=1;vocab=1", "layers=1 d=1 ff=4 heads=1 kv=1 hd=1 vocab=1"},
    {SHAPE ";kv_heads=0", "! layers"},
    {SHAPE ";d_ff=0", "! layers"},
    {EXPERTS "64/8/2 ff1024 dense_layers=1 dense_ff4096 shared_ff2048",
     "experts=64 top=8 shared=2 ffe=1024 first_dense=1 every=1 dff=4096 sff=2048"},
    {EXPERTS "8/2/0", "experts=8 top=2 shared=0 ffe=5632 first_dense=0 every=1 dff=5632 sff=0"},
    {EXPERTS "8/2/0 every 2nd layer", "every=2"},
    {EXPERTS "8/8/1", "top=8 shared=1"},
    {EXPERTS "8/9/0", "! moe \"8/9/0\": expected EXPERTS/TOP_K/SHARED"},
    {EXPERTS "8/0/0", "! moe"},
    {EXPERTS "0/0/0", "! moe"},
    {EXPERTS "1/1/0", "experts=1 top=1"},
    {EXPERTS "8/2/-1", "! moe"},
    {EXPERTS "8/2", "! moe"},
    {EXPERTS "100000/2/1000", "experts=100000 shared=1000"},
    {EXPERTS "100001/2/0", "! moe"},
    {EXPERTS "8/2/1001", "! moe"},
    {EXPERTS "8/2/0 dense_layers=23", "first_dense=23"},
    {EXPERTS "8/2/0 dense_layers=24", "! moe \"8/2/0 dense_layers=24\" is out of range"},
    {EXPERTS "8/2/0 ff0", "! moe"},
    {EXPERTS "8/2/0 ff1", "ffe=1"},
    {EXPERTS "8/2/0 every 0th", "! moe"},
    {EXPERTS "8/2/0 dense_ff0", "! moe"},
    {EXPERTS "8/2/0 ff", "! moe"},
    {EXPERTS "8/2/0 ff2048x", "! moe"},
    {EXPERTS "8/2/0 ff999999999, dense_layers=2", "ffe=999999999 first_dense=2"},
    {EXPERTS "8/2/0 ff1000000000", "! moe"},
    {SHAPE
     ";q_lora_rank=768;kv_lora_rank=256;qk_nope_head_dim=96;qk_rope_head_dim=32;v_head_dim=80",
     "mla=768/256/96/32/80"},
    {SHAPE ";model=deepseek-v3-L4;moe=256/8/1 ff2048 MLA", "mla=1536/512/128/64/128 layers=24"},
    {SHAPE ";model=deepseek-v3-Lite;moe=256/8/1 ff2048 MLA", "! the ranks of MLA are not known"},
    {SHAPE ";kv_lora_rank=256", "! the ranks of MLA are not known"},
    {SHAPE, "mla=0/0/0/0/0"},
    /* post-training */
    {"kind=pretrain", "rank=0"},
    {"kind=Finetune;method=LoRA;lora_rank=16",
     "rank=16 targets=7"}, /* the seven matmuls of a layer */
    {"kind=finetune;method=full;lora_rank=16", "rank=0"},
    {"method=lora", "! lora_rank is not stated"},
    {"method=lora;lora_rank=1", "rank=1"},
    {"method=dora;lora_rank=16", "! method \"dora\" is not known; expected full or lora"},
    {"method=lora;lora_rank=16;quantization=nf4", "! quantization \"nf4\" is not known"},
    {"kind=rlhf", "! kind \"rlhf\" is not known"},
    /* the plan: degrees, and replicas of what is left */
    {"tp=4;pp=2;vpp=2;batch_sequences=64",
     "tp=4 pp=2 vpp=2 dp=8 sp=1 schedule=interleaved shards=8"},
    {"tp=8;cp=2", "tp=8 cp=2 dp=4 shards=8"},
    {"tp=4;sequence_parallel=0", "sp=0"},
    {"tp=4;framework=internevo", "sp=0"},
    {"tp=4;framework=internevo;sequence_parallel=1", "sp=1"},
    {"sequence_parallel=1", "sp=0"},
    {"tp=0", "! a degree of parallelism is 0"},
    {"vpp=0", "! a degree of parallelism is 0"},
    {"cp=0", "! a degree of parallelism is 0"},
    {"ep=0", "! a degree of parallelism is 0"},
    {"tp=3", "! tp x pp x cp does not divide the devices"},
    {"tp=128", "! tp x pp x cp does not divide the devices"},
    {"tp=8;pp=8", "dp=1"},
    {"tp=1.5", "! tp 1.5 is not whole"},
    {"tp=0x2", "! tp \"0x2\" is not a number from 0 to 1e+12"},
    {"tp=-2", "! tp \"-2\" is not a number"},
    {"tp=1e0", "tp=1"},
    {"seq=", "! seq or batch_sequences is not stated"},
    {"batch_sequences=", "! seq or batch_sequences is not stated"},
    {EXPERTS "64/8/0 ff1024;ep=8", "ep=8 etp=1 open_etp=1"},
    {EXPERTS "64/8/0 ff1024;ep=8;etp=1", "ep=8 etp=1 open_etp=0"},
    {EXPERTS "128/8/0 ff1024;ep=128", "! ep x etp are more than the devices"},
    {EXPERTS "64/8/0 ff1024;ep=64", "ep=64"},
    {"micro_batch=2", "micro=2"},
    {"framework=torchtitan", "micro=2"},            /* a replica's share: 128 / 64 */
    {"framework=torchtitan;pp=2", "micro=2 dp=32"}, /* 128 / 32 replicas over 2 stages */
    {"framework=torchtitan;pp=4;batch_sequences=16", "micro=1 dp=16"},
    {"framework=litgpt;devices=8", "micro=16"},
    {"offload_layers=3;offloads=1", "offl=3 offload=1"},
    {"pp=4;pipeline_layout=first 7 last 9", "first=7 last=9"},
    {"pp=4;pipeline_layout=last 5", "first=0 last=5"},
    {"pp=4;pipeline_layout=first 1", "first=1 last=0"},
    {"pp=4;pipeline_layout=first 0", "! pipeline_layout \"first 0\" is not"},
    {"pp=4;pipeline_layout=first x last 2", "! pipeline_layout"},
    {"pp=4;pipeline_layout=by hand", "! pipeline_layout \"by hand\""},
    /* ZeRO */
    {"zero=none", "zero=0"},
    {"zero=DDP", "zero=0"},
    {"zero=0", "zero=0"},
    {"zero=ZeRO-1 (not stated in the table)", "zero=1"},
    {"zero=1", "zero=1"},
    {"zero=zero2", "zero=2"},
    {"zero=2", "zero=2"},
    {"zero=ZeRO 3", "zero=3 shards=64"},
    {"zero=3", "zero=3"},
    {"zero=zero_3", "zero=3"},
    {"zero=full_shard", "zero=3"},
    {"zero=shard_grad_op", "zero=2"},
    {"zero=fsdp", "zero=3"},
    {"zero=FSDP1", "zero=3"},
    {"zero=FSDP2", "zero=3"},
    {"zero=hsdp", "zero=3 shards=8"}, /* a node's */
    {"zero=hsdp;tp=2;batch_sequences=64", "zero=3 shards=4"},
    {"zero=hybrid_shard", "zero=3 shards=8"},
    {"zero=hsdp;tp=8", "zero=3 shards=8"}, /* no two replicas in a node: all of them */
    {"zero=dist", "zero=1"},
    {"zero=distributed optimizer", "zero=1"},
    {"zero=megatron-fsdp", "zero=3"},
    {"zero=ZeRO-3 (FSDP) shard 16", "zero=3 shards=16"},
    {"zero=fsdp shard 1", "shards=1"},
    {"zero=fsdp shard 3", "! \"fsdp shard 3\" does not divide the 64 replicas"},
    {"zero=fsdp shard 0", "! \"fsdp shard 0\""},
    {"zero=4", "! zero \"4\" is not known"},
    {"zero=ZeRO-33", "! zero"},
    /* formats */
    {"precision=bf16", "dtype=bf16"},
    {"precision=bfloat16", "dtype=bf16"},
    {"precision=float16;hw=a100", "dtype=fp16"},
    {"precision=fp32", "dtype=fp32"},
    {"precision=float32", "dtype=fp32"},
    {"precision=tf32", "dtype=tf32"},
    {"precision=FP8", "dtype=fp8"},
    {"precision=fp8 (int8)", "dtype=int8"},
    {"precision=int8_wo", "dtype=bf16"},
    {"precision=int4_wo", "dtype=bf16"},
    {"precision=mxfp8;hw=b200", "dtype=fp8 recipe=mxfp8"},
    {"precision=fp8-mx;hw=b200", "dtype=fp8 recipe=mxfp8"},
    {"precision=fp8 blockwise", "recipe=blockwise"},
    {"precision=fp8-blockscaled", "recipe=blockwise"},
    {"precision=fp8_sc", "recipe=blockwise"},
    {"precision=fp8 rowwise", "recipe=rowwise"},
    {"precision=fp8_cs", "recipe=tensorwise"},
    {"precision=fp8 tensorwise", "recipe=tensorwise"},
    {"precision=nvfp4;hw=b200", "dtype=fp4"},
    {"precision=mxfp4;hw=b200", "dtype=fp4"},
    {"precision=fp64;hw=v5p", "! v5p publishes no peak for precision \"fp64\""},
    {"precision=fp12", "! precision \"fp12\" is not known"},
    /* recomputation: q k v, core, output, first and last matmul of the MLP, norms, kept in the host
     */
    {"remat=none", "remat=0/0/0/0/0/0 offload=0 modules=0 open_remat=0"},
    {"remat=selective", "remat=0/1/0/0/0/0 rl=1 open_remat=0"},
    {"remat=full", "remat=1/1/1/1/1/1 rl=1"},
    {"remat=every 2nd layer", "remat=1/1/1/1/1/1 rl=0.5"},
    {"remat=full (layer input offloaded)", "remat=1/1/1/1/1/1 offload=1"},
    {"remat=mlp", "remat=1/1/1/0/0/1"},
    {"remat=dots", "remat=0/1/0/0/0/1"},
    {"remat=qkv", "remat=0/1/1/1/0/1 offload=0"},
    {"remat=minimal", "remat=0/1/0/0/0/1 offload=0"},
    {"remat=custom offload", "remat=1/1/1/1/0/1 offload=1"},
    {"remat=custom (layer input)", "! remat"},
    {"remat=none, offload of nothing", "remat=0/0/0/0/0/0 offload=0 rl=0"},
    {"remat=everything", "! remat \"everything\" is not known"},
    {"recompute_modules=mlp core_attn", "modules=2 remat=0/0/0/0/0/0 open_remat=0 rl=1"},
    {"remat=selective;recompute_modules=mlp, layernorm", "modules=2 remat=0/0/0/0/0/0"},
    {"remat=full;recompute_modules=mlp", "modules=1 remat=1/1/1/1/1/1"},
    {"remat=none;recompute_modules=mlp", "modules=1 rl=1"},
    {"recompute_modules=mlps", "! recompute_modules \"mlps\" is not known"},
    {"recompute_modules=", "modules=0 open_remat=1"},
    {"offloads=1", "offload=1"},
    {"offloads=0", "offload=0"},
    /* execution */
    {"dispatch=alltoall", "dispatch=alltoall"},
    {"dispatch=DeepEP", "dispatch=deepep"},
    {"dispatch=hybridep", "dispatch=hybridep"},
    {"dispatch=allgather", "dispatch=allgather"},
    {"dispatch=nccl", "! dispatch \"nccl\" is not known"},
    {"cuda_graph=none", "graph=none"},
    {"cuda_graph=transformer_engine", "graph=te"},
    {"cuda_graph=te", "graph=te"},
    {"cuda_graph=local", "graph=te"},
    {"cuda_graph=full", "graph=full"},
    {"cuda_graph=full_iteration", "graph=full"},
    {"cuda_graph=router", "graph=router"},
    {"cuda_graph=moe_router", "graph=router"},
    {"cuda_graph=all", "! cuda_graph \"all\" is not known"},
    {"cp_kind=ring", "cp_kind=ring"},
    {"cp_kind=p2p", "cp_kind=ring"},
    {"cp_kind=allgather", "cp_kind=allgather"},
    {"cp_kind=all_gather", "cp_kind=allgather"},
    {"cp_kind=ulysses", "cp_kind=ulysses"},
    {"cp_kind=a2a", "cp_kind=ulysses"},
    {"cp_kind=other", "! cp_kind \"other\" is not known"},
    {"capacity=1.25", "capacity=1.25"},
    {"capacity=10", "capacity=10"},
    {"capacity=11", "! capacity \"11\" is not a number from 0 to 10"},
    {"moe_overlap=1", "overlap=1"},
    {"moe_overlap=0", "overlap=0"},
    /* the measurement: 128 x 4096 tokens of 64 devices; the most direct one counts */
    {"measured_step_s=2.5", "step=2.5 mem=nan"},
    {"measured_tokens_per_s_per_device=1000", "step=8.192"},
    {"measured_tokens_per_s=65536", "step=8"},
    {"measured_tokens_per_s=65536;measured_tokens_per_s_per_device=1000", "step=8.192"},
    {"derived_step_s=3", "step=3"},
    {"derived_step_s=3;measured_tokens_per_s=65536", "step=8"},
    {"measured_step_s=2.5;measured_tokens_per_s=65536", "step=2.5"},
    {"derived_step_s=3;measured_mfu=0.5", "step=3"},
    {"measured_step_s=1e-7", "! measured_step_s \"1e-7\" is not a number from 1e-06 to 1e+09"},
    {"measured_step_s=1e9", "step=1000000000"},
    {"measured_mfu=0.4;mfu_peak_used=1000;flops_convention=hardware", "step=nan"},
    {"measured_mfu=0.4;flops_convention=not stated", "step=nan"},
    {"measured_mfu=0.4;flops_convention=own", "step=nan"},
    {"measured_mfu=1.1", "! measured_mfu \"1.1\" is not a number from 1e-06 to 1"},
    {"measured_peak_mem_gb=50;memory_level=live", "mem=50000000000 level=0"},
    {"memory_gib=50;memory_level=reserved", "mem=53687091200 level=1"},
    {"memory_gib=50;measured_peak_mem_gb=40;memory_level=device", "mem=40000000000 level=2"},
    {"memory_gib=50;memory_level=closed-form", "level=3"},
    {"memory_gib=50;memory_level=host", "! memory_level \"host\" is not known"},
    {"pp=4;memory_gib=50;memory_level=live (last stage)", "level=0 stage=3"},
    {"pp=4;measured_stage=last", "stage=3"},
    {"pp=4;measured_stage=first", "stage=0"},
    {"pp=4;measured_stage=fullest", "stage=-1"},
    {"pp=4;measured_stage=2", "stage=2"},
    {"pp=4;measured_stage=3", "stage=3"},
    {"pp=4;measured_stage=4", "! measured_stage 4 is not below pp"},
    /* limits: at them, and beyond */
    {"measured_step_s=1e9", ""},
    {"measured_step_s=1.001e9", "! measured_step_s \"1.001e9\" is not a number from"},
    {"measured_step_s=1e-6", ""},
    {"measured_step_s=0.9e-6", "! measured_step_s \"0.9e-6\" is not a number from 1e-06"},
    {"derived_step_s=1e9", ""},
    {"derived_step_s=1.001e9", "! derived_step_s \"1.001e9\" is not a number from"},
    {"derived_step_s=1e-6", ""},
    {"derived_step_s=0.9e-6", "! derived_step_s \"0.9e-6\" is not a number from 1e-06"},
    {"measured_tokens_per_s_per_device=1e12", ""},
    {"measured_tokens_per_s_per_device=1.001e12",
     "! measured_tokens_per_s_per_device \"1.001e12\" is not a number from"},
    {"measured_tokens_per_s_per_device=1e-6", ""},
    {"measured_tokens_per_s_per_device=0.9e-6",
     "! measured_tokens_per_s_per_device \"0.9e-6\" is not a number from 1e-06"},
    {"measured_tokens_per_s=1e18", ""},
    {"measured_tokens_per_s=1.001e18", "! measured_tokens_per_s \"1.001e18\" is not a number from"},
    {"measured_tokens_per_s=1e-6", ""},
    {"measured_tokens_per_s=0.9e-6",
     "! measured_tokens_per_s \"0.9e-6\" is not a number from 1e-06"},
    {"measured_tflops_per_device=1e6", ""},
    {"measured_tflops_per_device=1.001e6",
     "! measured_tflops_per_device \"1.001e6\" is not a number from"},
    {"measured_tflops_per_device=1e-6", ""},
    {"measured_tflops_per_device=0.9e-6",
     "! measured_tflops_per_device \"0.9e-6\" is not a number from 1e-06"},
    {"mfu_peak_used=1e6", ""},
    {"mfu_peak_used=1.001e6", "! mfu_peak_used \"1.001e6\" is not a number from"},
    {"mfu_peak_used=1e-6", ""},
    {"mfu_peak_used=0.9e-6", "! mfu_peak_used \"0.9e-6\" is not a number from 1e-06"},
    {"measured_peak_mem_gb=1e9", ""},
    {"measured_peak_mem_gb=1.001e9", "! measured_peak_mem_gb \"1.001e9\" is not a number from"},
    {"measured_peak_mem_gb=1e-6", ""},
    {"measured_peak_mem_gb=0.9e-6", "! measured_peak_mem_gb \"0.9e-6\" is not a number from 1e-06"},
    {"memory_gib=1e9", ""},
    {"memory_gib=1.001e9", "! memory_gib \"1.001e9\" is not a number from"},
    {"memory_gib=1e-6", ""},
    {"memory_gib=0.9e-6", "! memory_gib \"0.9e-6\" is not a number from 1e-06"},
    {"scaleout_gbps_per_node=1e6", ""},
    {"scaleout_gbps_per_node=1.001e6", "! scaleout_gbps_per_node \"1.001e6\" is not a number from"},
    {"seq=1e12", ""},
    {"seq=1.001e12", "! seq \"1.001e12\" is not a number from"},
    {"measured_step_s=2.5;scoring=yes", "step=2.5 scored=1"},
    {"measured_step_s=2.5;scoring=memory only", "step=nan scored=1"},
    {"measured_step_s=2.5;scoring=no", "step=2.5 scored=0"},
    {"id=a;config_group=b", "id=a group=b"},
    {"id=a", "id=a group=a"},
};

/* The FLOPs of a step in another form: 6 of each parameter and token, by the chip's peak or the
 * row's own. */
static const struct {
    const char *cells;
    double flops_per_s;
} by_flops[] = {
    {"measured_tflops_per_device=400", 400e12},
    {"measured_mfu=0.5", 0.5 * 989.4e12},
    {"measured_mfu=0.5;mfu_peak_used=1000", 500e12},
    {"measured_mfu=1;mfu_peak_used=312", 312e12},
    {"measured_tflops_per_device=400;measured_mfu=0.1", 400e12},
};

/* Writes a table of rows over `base`, a column for each name in any of them, into a separate
 * file. */
static void write_table(const char *base, const struct row *rows, size_t n, char path[32])
{
    char names[100][64];
    size_t columns = 0;
    snprintf(path, 32, "/tmp/rows-XXXXXX");
    FILE *const out = fdopen(mkstemp(path), "w");
    assert_non_null(out);
    for (size_t i = 0; i <= n; i++)
        for (const char *at = i ? rows[i - 1].cells : base; *at;
             at += strcspn(at, ";"), at += *at == ';') {
            const size_t length = strcspn(at, "=");
            size_t c = 0;
            while (c < columns &&
                   (strlen(names[c]) != length || strncmp(names[c], at, length) != 0))
                c++;
            if (c < columns)
                continue;
            assert_true(columns < 100);
            snprintf(names[columns++], 64, "%.*s", (int)length, at);
        }
    for (size_t i = 0; i <= n; i++) {
        for (size_t c = 0; c < columns; c++) {
            const char *cell = i ? "" : names[c];
            for (int source = 0; i && source < 2; source++) /* the last cell of a column counts */
                for (const char *at = source ? rows[i - 1].cells : base; *at;
                     at += strcspn(at, ";"), at += *at == ';')
                    if (strncmp(at, names[c], strlen(names[c])) == 0 && at[strlen(names[c])] == '=')
                        cell = at + strlen(names[c]) + 1;
            fprintf(out, "%s\"%.*s\"", c ? "," : "", (int)strcspn(cell, ";"), cell);
        }
        fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
}

static int wrong; /* rows, so far */

/* Counts and prints unless the text has each of the words. */
static void check_words(const struct row *row, const char *text)
{
    char copy[600], *rest = copy;
    snprintf(copy, sizeof copy, "%s", row->says);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char whole[80];
        snprintf(whole, sizeof whole, " %s ", word);
        if (!strstr(text, whole))
            wrong++, print_error("\"%s\": expected%sin%s\n", row->cells, whole, text);
    }
}

static void check_problem(const struct row *row, const char *problem)
{
    const bool refused = strncmp(row->says, "! ", 2) == 0;
    if (refused ? strncmp(problem, row->says + 2, strlen(row->says + 2)) != 0 : problem[0] != '\0')
        wrong++, print_error("\"%s\": expected %s, got %s\n", row->cells, row->says, problem);
}

static void say(const struct sp_run *run, char *text, size_t size)
{
    const struct sp_model *const m = &run->model;
    const struct sp_plan *const p = &run->plan;
    const struct sp_execution *const e = &run->plan.execution;
    const struct sp_framework *const f = &run->framework.framework;
    const struct sp_recompute *const r = &run->plan.recompute;
    char id[64];
    snprintf(id, sizeof id, "%s", strncmp(run->id, "row ", 4) ? run->id : "row_1");
    const char *const group = strncmp(run->group, "row ", 4) ? run->group : "row_1";
    int n = snprintf(
        text, size,
        " chip=%s dpn=%lld chips=%lld slices=%lld own_net=%d rate=%.15g layers=%lld d=%lld ff=%lld "
        "heads=%lld kv=%lld "
        "hd=%lld vocab=%lld gated=%d tied=%d mtp=%lld unpadded=%d norms=%lld experts=%lld top=%lld "
        "shared=%lld ffe=%lld "
        "first_dense=%lld every=%lld dff=%lld sff=%lld mla=%lld/%lld/%lld/%lld/%lld rank=%lld "
        "targets=%d ",
        run->chip, (long long)run->devices_per_node, (long long)sp_chips(&run->hw),
        (long long)run->hw.slices, run->own_network, run->hw.network.scaleout_bytes_per_s,
        (long long)m->layers, (long long)m->d_model, (long long)m->d_ff, (long long)m->heads,
        (long long)m->kv_heads, (long long)m->head_dim, (long long)m->vocab, m->gated_mlp,
        m->tied_embeddings, (long long)m->mtp_layers, m->unpadded_vocab,
        (long long)m->norms_per_layer, (long long)m->moe.experts, (long long)m->moe.top_k,
        (long long)m->moe.shared_experts, (long long)m->moe.d_ff_expert,
        (long long)m->moe.dense_layers, (long long)m->moe.every, (long long)m->moe.d_ff_dense,
        (long long)m->moe.d_ff_shared, (long long)m->mla.q_lora_rank,
        (long long)m->mla.kv_lora_rank, (long long)m->mla.qk_nope_head_dim,
        (long long)m->mla.qk_rope_head_dim, (long long)m->mla.v_head_dim,
        (long long)m->tuning.lora_rank, __builtin_popcount(m->tuning.targets));
    n += snprintf(text + n, size - (size_t)n,
                  "dp=%lld tp=%lld pp=%lld vpp=%lld cp=%lld ep=%lld etp=%lld open_etp=%d zero=%d "
                  "shards=%lld micro=%lld seq=%lld "
                  "batch=%lld sp=%d first=%lld last=%lld offl=%lld dtype=%s recipe=%s schedule=%s "
                  "imbalance=%g remat=%g/%g/%g/%g/%g/%g "
                  "offload=%d modules=%d rl=%g open_remat=%d dispatch=%s graph=%s cp_kind=%s "
                  "capacity=%g overlap=%d ",
                  (long long)p->dp, (long long)p->tp, (long long)p->pp, (long long)p->vpp,
                  (long long)p->cp, (long long)p->ep, (long long)p->etp, p->open_etp, p->zero,
                  (long long)p->shards, (long long)p->micro_batch, (long long)p->seq,
                  (long long)p->batch, p->sequence_parallel, (long long)p->first_layers,
                  (long long)p->last_layers, (long long)p->offload_layers, sp_dtype_names[p->dtype],
                  sp_fp8_recipe_names[e->fp8_recipe], sp_schedule_names[p->schedule], p->imbalance,
                  r->qkv, r->core, r->out, r->up, r->down, r->norms, r->offload,
                  __builtin_popcount(r->modules), p->recompute_layers, p->open_remat,
                  sp_dispatch_names[e->dispatch], sp_cuda_graph_names[e->cuda_graph],
                  sp_cp_kind_names[e->cp_kind], e->capacity, e->moe_overlap);
    snprintf(text + n, size - (size_t)n,
             "kernel=%s logits=%s lb=%g slb=%g dropout=%g fw=%s prec=%s step=%.15g mem=%.15g "
             "level=%d stage=%lld scored=%d "
             "id=%s group=%s ",
             sp_attention_kernel_names[f->execution.attention_kernel],
             sp_logits_names[f->execution.logits], f->logit_bytes, f->split_logit_bytes,
             f->execution.dropout, f->name, run->precision.name, run->step_s, run->memory_bytes,
             (int)run->level, (long long)run->stage, run->scored, id, group);
}

static void training_rows(void **state)
{
    (void)state;
    enum { N = sizeof training / sizeof *training };
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_runs runs;
    char path[32], text[3000];
    write_table(usual, training, N, path);
    if (!sp_read_runs(path, &sources, &runs, &error))
        fail_msg("%s", error.text);
    unlink(path);
    assert_int_equal(runs.n, N);
    for (size_t i = 0; i < N; i++) {
        check_problem(&training[i], runs.run[i].problem);
        say(&runs.run[i], text, sizeof text);
        if (training[i].says[0] != '!')
            check_words(&training[i], text);
    }
    assert_int_equal(wrong, 0);
    sp_runs_free(&runs);
}

static void steps_of_flops(void **state)
{
    (void)state;
    enum { N = sizeof by_flops / sizeof *by_flops };
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_runs runs;
    struct row rows[N];
    char path[32];
    for (size_t i = 0; i < N; i++)
        rows[i] = (struct row){by_flops[i].cells, ""};
    write_table(usual, rows, N, path);
    assert_true(sp_read_runs(path, &sources, &runs, &error));
    unlink(path);
    for (size_t i = 0; i < N; i++) /* 8.03e9 parameters of Llama 3 8B, all of them */
        assert_close(runs.run[i].step_s,
                     6 * 8030261248.0 * 128 * 4096 / (64 * by_flops[i].flops_per_s), 1e-12);
    sp_runs_free(&runs);
}

/* A prompt of 1000 tokens and 200 of an answer, by vLLM on two H100s in 16 bits, 8 requests at a
 * time. */
static const char instance[] =
    "hw=h100;model=llama3-8b;engine=vllm;tp=2;input=1000;output=200;concurrency=8;kind=latency";

/* Mixtral on 8 devices, each with its own part of attention; two pools of it. */
#define MIXTRAL "model=mixtral-8x7b;devices=8;tp=2;attention_dp=4"
#define POOLS "model=mixtral-8x7b;mode=disagg;prefill="

static const struct row serving[] = {
    {"", "model=llama3-8b hw=h100 engine=vllm chips=2 tp=2 pp=1 adp=1 ep=1 in=1000 out=200 wb=2 "
         "eb=2 kb=2 math=bf16 emath=bf16 "
         "drafts=0 flight=8 all=0 direct=0 tpot=nan ttft=nan rate=nan scored=1 waits=0 reader=0"},
    /* the stack */
    {"hw=H100", "chips=2"},
    {"hw=other", "! hw \"other\" is not known"},
    {"model=other", "! model \"other\" is not known"},
    {"model=", "! model \"\" is not known"},
    {"engine=other", "! engine \"other\" is not known"},
    {"devices=8;tp=8", "chips=8 tp=8"},
    {"devices=8", "! tp 2 x attention dp 1 x pp 1 do not multiply to its 8 chips"},
    {"devices=8;pp=4", "tp=2 pp=4"},
    {"devices=8;attention_dp=4", "adp=4"},
    {"tp=;devices=", "chips=1 tp=1"},
    {"tp=;devices=4", "chips=4 tp=4"},
    {"tp=0", "! tp \"0\" is not a number from 1"},
    {"tp=0x2", "! tp \"0x2\" is not a number from 1"},
    {"tp=1e13", "! tp \"1e13\" is not a number from 1"},
    {MIXTRAL, "ep=1 tp=2 adp=4"},
    {MIXTRAL ";ep=8", "ep=8"},
    {MIXTRAL ";ep=3", "! ep 3 does not divide tp x attention dp"},
    {"ep=2", "ep=1"}, /* no experts */
    /* formats: of weights, of routed experts, of the cache; if only weights have it, they are
       widened to 16 bits */
    {"weights=fp8", "wb=1 eb=1 kb=2 math=fp8 emath=fp8"},
    {"weights=fp16", "wb=2 math=bf16"},
    {"weights=int4", "wb=0.5 eb=0.5"},
    {"weights=int4_wo", "wb=0.5 eb=0.5 math=bf16 emath=bf16"},
    {"weights=int8_wo", "wb=1 math=bf16"},
    {"weights=_wo", "! unknown weights format \"_wo\""},
    {"weights=fp9", "! unknown weights format \"fp9\""},
    {"weights=fp8;expert_weights=bf16", "wb=1 eb=2 math=fp8 emath=bf16"},
    {"expert_weights=fp8", "wb=2 eb=1 math=bf16 emath=fp8"},
    {"expert_weights=int8_wo", "wb=2 eb=1 math=bf16 emath=bf16"},
    {"kv=fp8", "wb=2 kb=1"},
    {"weights=fp8;kv=bf16", "wb=1 kb=2"},
    {"engine=trtllm;weights=fp8", "kb=1"},
    {"engine=trtllm;weights=int4", "kb=1"},
    {"engine=trtllm", "kb=2"},
    {"engine=trtllm;weights=fp8;kv=bf16", "kb=2"},
    /* requests */
    {"length_spread=0.8..1", "in=900 out=180"},
    {"length_spread=0.8..1 (uniform)", "in=900 out=180"},
    {"length_spread=none", "in=1000"},
    {"output=1", "out=1"},
    {"output=1;length_spread=0.8..1", "out=1"},
    {"output=0", "! output \"0\" is not a number from 1"},
    {"input=", "! input and output are not stated"},
    {"concurrency=;batch=4", "flight=4"},
    {"batch=4", "flight=8"},
    {"requests=100", "all=100"},
    {"kind=throughput", "direct=1"},
    {"kind=", "direct=1"},
    {"kind=MLPerf latency", "direct=0"},
    /* the measurement */
    {"tpot_s=0.01;ttft_s=0.2", "tpot=0.01 ttft=0.2 rate=nan"},
    {"tpot_s=0.01;ttft_s=0.2;scoring=tpot", "tpot=0.01 ttft=nan scored=1"},
    {"output_tokens_per_s=500", "rate=nan"},
    {"output_tokens_per_s=500;kind=offline throughput", "rate=500"},
    {"scoring=secondary", "scored=0"},
    {"scoring=no", "scored=0"},
    {"scoring=yes", "scored=1"},
    {"why=waits for a place", "waits=1"},
    /* drafts: given, or what an acceptance of a half makes of two: 1 + 1/2 + 1/4 */
    {"draft_tokens=2;accepted=2.5", "drafts=2 accepted=2.5"},
    {"draft_tokens=2;acceptance=0.5", "drafts=2 accepted=1.75"},
    {"draft_tokens=2;accepted=3", "accepted=3"},
    {"draft_tokens=2;accepted=3.1", "! draft_tokens: accepted"},
    {"draft_tokens=2;accepted=1", "accepted=1"},
    {"draft_tokens=2", "! draft_tokens: accepted"},
    /* pools: a generator of 4 x 1 devices, its readers and its requests */
    {POOLS "2x2x1x2;decode=1x4x1x4",
     "chips=4 tp=4 adp=1 ep=4 flight=8 reader=2 readers=2 rtp=2 radp=1 rep=2"},
    {POOLS "1x2x1x1;decode=4x2x2x1",
     "chips=4 tp=2 adp=2 ep=1 flight=2 reader=2 readers=0.25 rtp=2"},
    {POOLS "1x2x2x4;decode=1x8x1x1", "reader=4 radp=2 rep=4 ep=1"},
    {"mode=disagg;prefill=1x2x1x2;decode=1x2x1x2", "ep=1 rep=1"}, /* no experts */
    {POOLS "1x2x1x1;decode=1x2x1",
     "! decode \"1x2x1\": expected instances x tp x attention dp x ep"},
    {POOLS "1x2x1x1x1;decode=1x2x1x1", "! prefill \"1x2x1x1x1\": expected"},
    {POOLS "x2x1x1;decode=1x2x1x1", "! prefill"},
    {POOLS "0x2x1x1;decode=1x2x1x1", "! prefill 0x2x1x1: the number of instances is not stated"},
    {POOLS "1x0x1x1;decode=1x2x1x1", "! prefill 1x0x1x1: ep does not divide"},
    {POOLS "1x2x0x1;decode=1x2x1x1", "! prefill 1x2x0x1: ep does not divide"},
    {POOLS "1x2x1x0;decode=1x2x1x1", "! prefill 1x2x1x0: ep does not divide"},
    {POOLS "1x2x1x3;decode=1x2x1x1", "! prefill 1x2x1x3: ep does not divide"},
};

static void say_serving(const struct sp_serving_run *run, char *text, size_t size)
{
    const struct sp_service *const s = &run->service, *const from =
                                                          run->reader ? &run->reader->served.service
                                                                      : s;
    snprintf(text, size,
             " model=%s hw=%s engine=%s chips=%g tp=%g pp=%g adp=%g ep=%g in=%g out=%g wb=%g eb=%g "
             "kb=%g math=%s emath=%s "
             "drafts=%g accepted=%.15g flight=%g all=%g direct=%d tpot=%g ttft=%g rate=%g "
             "scored=%d waits=%d reader=%g "
             "readers=%g rtp=%g radp=%g rep=%g ",
             run->model_name, run->hardware, run->engine_name, s->chips, s->tp, s->pp,
             s->attention_dp, s->ep, s->input, s->output, s->weight_bytes, s->expert_bytes,
             s->kv_bytes, sp_dtype_names[s->math], sp_dtype_names[s->expert_math], s->drafts,
             s->accepted, run->requests.in_flight, run->requests.all, run->requests.direct,
             run->measured[SP_MEASURED_TPOT], run->measured[SP_MEASURED_TTFT],
             run->measured[SP_MEASURED_RATE], run->scored, run->waits,
             run->reader ? from->chips : 0, run->requests.readers, from->tp, from->attention_dp,
             from->ep);
}

static void serving_rows(void **state)
{
    (void)state;
    enum { N = sizeof serving / sizeof *serving };
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_serving_runs runs;
    char path[32], text[2000];
    write_table(instance, serving, N, path);
    if (!sp_read_serving_runs(path, &sources, &runs, &error))
        fail_msg("%s", error.text);
    unlink(path);
    assert_int_equal(runs.n, N);
    wrong = 0;
    for (size_t i = 0; i < N; i++) {
        check_problem(&serving[i], runs.run[i].problem);
        if (serving[i].says[0] == '!' || runs.run[i].problem[0])
            continue;
        say_serving(&runs.run[i], text, sizeof text);
        check_words(&serving[i], text);
    }
    assert_int_equal(wrong, 0);
    sp_serving_runs_free(&runs);
}

/* Without a number of requests as many as the memory holds, and no more than 2048 on each rank. */
static void as_many_as_fit(void **state)
{
    (void)state;
    const struct row rows[] = {{"concurrency=;input=1;output=2", ""},
                               {"concurrency=;input=100000;output=1000", ""}};
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_serving_runs runs;
    char path[32];
    write_table(instance, rows, 2, path);
    assert_true(sp_read_serving_runs(path, &sources, &runs, &error));
    unlink(path);
    assert_true(runs.run[0].requests.in_flight == 2048);
    /* of 2 x 80 GiB: less than all of it beside 16 GB of weights, in 131,072 bytes a token */
    const double most = (2 * 0x50p30 - 16.06e9) / (131072 * 101000.0);
    assert_true(runs.run[1].requests.in_flight < most &&
                runs.run[1].requests.in_flight > 0.8 * most);
    sp_serving_runs_free(&runs);
}

/* What is left of 20,000 rows of which all but the last are forgotten: the first column, and all of
 * the last row. */
static void forgotten_rows(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    char *text = NULL, cell[64];
    size_t length;
    FILE *const out = open_memstream(&text, &length);
    fputs("i,letters,quoted\r\n", out);
    for (int i = 0; i < ROWS; i++) {
        memset(cell, "ab"[i % 2], sizeof cell);
        fprintf(out, "%d,%.*s,\"%d \"\"%d\"\", of\n%d\"%s", i, i % 61, cell, i, i, i,
                i == ROWS - 1 ? "" : "\n");
    }
    fclose(out);
    struct sp_csv csv;
    struct sp_error error = {0};
    assert_true(sp_read_csv(text, length, "", &csv, &error));
    assert_int_equal(csv.rows, ROWS + 1);
    for (int i = 0; i < ROWS; i++) {
        char quoted[64];
        memset(cell, "ab"[i % 2], sizeof cell);
        cell[i % 61] = '\0';
        snprintf(quoted, sizeof quoted, "%d \"%d\", of\n%d", i, i, i);
        assert_string_equal(sp_csv_cell(&csv, (size_t)i, 1), cell);
        assert_string_equal(sp_csv_cell(&csv, (size_t)i, 2), quoted);
        if (i < ROWS - 1)
            sp_csv_forget(&csv, (size_t)i, 0);
    }
    for (int i = 0; i < ROWS; i++) {
        snprintf(cell, sizeof cell, "%d", i);
        assert_string_equal(sp_csv_cell(&csv, (size_t)i, 0), cell);
        assert_int_equal(sp_csv_cell(&csv, (size_t)i, 2)[0] != '\0', i == ROWS - 1);
    }
    assert_string_equal(sp_csv_name(&csv, 1), "letters");
    sp_csv_free(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_rows),  cmocka_unit_test(steps_of_flops),
        cmocka_unit_test(serving_rows),   cmocka_unit_test(as_many_as_fit),
        cmocka_unit_test(forgotten_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
