/* The families of Hugging Face configs: families.def as a table. */
#ifndef SP_HUGGINGFACE_FAMILIES_H
#define SP_HUGGINGFACE_FAMILIES_H

#include "base/suggest.h"
#include "hf/keys.h"

/* Properties of a family beyond its row. */
enum sp_hf_traits {
    HF_PARALLEL = 1,      /* attention and MLP in parallel */
    HF_HEAD_BIAS = 2,     /* bias on the output head */
    HF_LEARNED = 4,       /* position table */
    HF_TWO_MORE = 8,      /* position table with two extra rows */
    HF_HALF_WIDTH = 16,   /* intermediate_size counts gate and up together */
    HF_SHARED_GATE = 32,  /* the shared expert has a gate of d_model weights */
    HF_SCORE_BIAS = 64,   /* load-balancing bias of the router */
    HF_SINKS = 128,       /* one attention sink per head */
    HF_EXPERT_BIAS = 256, /* biases in router and experts */
    HF_FALCON = 512,      /* multi_query, parallel_attn, new_decoder_architecture */
    HF_MPT = 1024,        /* attn_config */
    HF_LLAMA4 = 2048,     /* a shared expert; interleave_moe_layer_step */
    HF_EMBEDDING_NORM = 4096,
    HF_MTP = 8192,                /* extra layers for multi-token prediction, not counted */
    HF_ONE_IF_PARALLEL = 1 << 14, /* use_parallel_residual; then one norm serves both blocks */
    HF_EXPERTS = 1 << 15,         /* a mixture; without a number of experts, another model */
    HF_OWN_WIDTH = 1 << 16,       /* experts have width moe_intermediate_size */
    HF_LATENT = 1 << 17,          /* latent attention, unless kv_lora_rank is null */
    HF_OPT = 1 << 18,             /* word_embed_proj_dim, do_layer_norm_before */
    HF_QK_LAYERNORM = 1 << 19,    /* qk_layernorm: scale and shift per head for queries and keys */
    HF_DBRX = 1 << 20,            /* attn_config, ffn_config */
    HF_SHARED_MIXED = 1 << 21,    /* use_mixed_mlp_moe, num_shared_expert */
    HF_HEAD_BIAS_KEY = 1 << 22,   /* lm_head_bias */
    HF_BIDIRECTIONAL = 1 << 24,   /* an encoder */
    HF_POST_NORM = 1 << 25,       /* no norm after the last layer */
    HF_POOLER = 1 << 26,          /* a D x D layer if there is no head */
    HF_DENSE_HEAD = 1 << 27,      /* a D x D layer before the head, with a norm for a vocabulary
                                     head */
    HF_DENSE_NORM = 1 << 28,      /* that norm also for label heads */
    HF_PATCHES = 1 << 29,         /* tokens are image patches */
    HF_ENCODER_DECODER = 1 << 30, /* the decoder of an encoder-decoder */
    HF_NEEDS_D_FF = 1 << 23,      /* intermediate_size has no default */
};

/* A row of the table. A bias or a tie is a rule for sp_hf_flag; members that a row leaves out have
 * their default. */
struct sp_hf_family {
    const char *type;
    const char *norm;    /* "rmsnorm" */
    int norms;           /* 2; with parallel attention one may serve both blocks */
    bool plain_mlp;      /* not gated */
    const char *qk_norm; /* "none", or "head", "full", or "KEY:full" if a key switches it on */
    const char *biases;  /* of all the following */
    const char *attention_biases;             /* of the next two: "attention_bias=0" */
    const char *qkv_bias, *o_bias, *mlp_bias; /* of the MLP none */
    const char *tied;                         /* "tie_word_embeddings=0" */
    int head_dim;                             /* 0: d_model / heads */
    int global_every; /* one layer in this many has no window, if the config does not state it; 0:
                         no rule */
    unsigned traits;
};

/* The row of a model_type or its alias; NULL if there is none. */
const struct sp_hf_family *sp_hf_family_of(const char *type);

/* Row i of the table; NULL past the last. */
const struct sp_hf_family *sp_hf_family_at(size_t i);

/* Alias i; NULL past the last. --assume numbers them after the rows. */
const char *sp_hf_alias_at(size_t i);

/* The config's sizes, completed by transformers' defaults for nested configs and by the outer
 * config's weight tie. A new object for cJSON_Delete. In a whole config a missing key is an
 * error. */
cJSON *sp_hf_completed(const struct sp_hf_config *config, bool with_sizes);

#endif
