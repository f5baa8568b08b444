/* Megatron-LM: its names of what a plan and a model have. */
#include "launch/megatron/megatron.h"

/* Whole numbers that stand for one another. */
const struct sp_degree_flag sp_degree_flags[] = {
    {"--tensor-model-parallel-size", "tp", offsetof(struct sp_plan, tp), true},
    {"--pipeline-model-parallel-size", "pp", offsetof(struct sp_plan, pp), true},
    {"--num-virtual-stages-per-pipeline-rank", "vpp", offsetof(struct sp_plan, vpp), false},
    {"--context-parallel-size", "cp", offsetof(struct sp_plan, cp), false},
    {"--expert-model-parallel-size", "ep", offsetof(struct sp_plan, ep), false},
    {"--micro-batch-size", "micro-batch", offsetof(struct sp_plan, micro_batch), true},
};

/* A flag of the model's shape by the member of struct sp_model. */
#define FIELD(flag, key, member)                                                                   \
    {                                                                                              \
        flag, key, offsetof(struct sp_model, member)                                               \
    }
const struct sp_shape_flag sp_shape_flags[] = {
    FIELD("--num-layers", "layers", layers),      FIELD("--hidden-size", "d_model", d_model),
    FIELD("--ffn-hidden-size", "d_ff", d_ff),     FIELD("--num-attention-heads", "heads", heads),
    FIELD("--kv-channels", "head_dim", head_dim), FIELD("--vocab-size", "vocab", vocab),
};
const struct sp_shape_flag sp_mixture_flags[] = {
    FIELD("--num-experts", "moe.experts", moe.experts),
    FIELD("--moe-router-topk", "moe.top_k", moe.top_k),
    FIELD("--moe-ffn-hidden-size", "moe.d_ff_expert", moe.d_ff_expert),
};
const struct sp_shape_flag sp_latent_flags[] = {
    FIELD("--q-lora-rank", "mla.q_lora_rank", mla.q_lora_rank),
    FIELD("--kv-lora-rank", "mla.kv_lora_rank", mla.kv_lora_rank),
    FIELD("--qk-head-dim", "mla.qk_nope_head_dim", mla.qk_nope_head_dim),
    FIELD("--qk-pos-emb-head-dim", "mla.qk_rope_head_dim", mla.qk_rope_head_dim),
    FIELD("--v-head-dim", "mla.v_head_dim", mla.v_head_dim),
};

const char *const sp_strategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};
