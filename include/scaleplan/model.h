/* The shape of a transformer, its parameter counts and the activations its training keeps. */
#ifndef SCALEPLAN_MODEL_H
#define SCALEPLAN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum sp_norm { SP_NORM_RMS, SP_NORM_LAYER, SP_NORM_LAYER_NO_BIAS, SP_NORM_NO_AFFINE };
/* What stands after the last layer: logits of the vocabulary, a row of weights for each label, or
 * nothing. */
enum sp_head { SP_HEAD_VOCABULARY, SP_HEAD_SCORE, SP_HEAD_NONE };
enum sp_qk_norm { SP_QK_NORM_NONE, SP_QK_NORM_HEAD, SP_QK_NORM_FULL };

/* Mixture of experts; experts == 0 means a dense model. */
struct sp_moe {
    int64_t experts;        /* E: routed experts per MoE layer */
    int64_t top_k;          /* k: routed experts per token */
    int64_t shared_experts; /* experts that every token passes */
    int64_t d_ff_expert;    /* width of one expert */
    int64_t dense_layers;   /* leading layers that keep a dense MLP */
    int64_t every;          /* one layer in `every` is an MoE layer */
    int64_t d_ff_dense;     /* width of the dense layers' MLP; 0: d_ff */
    int64_t groups;         /* number of groups of experts; 0: none */
    int64_t top_groups;     /* groups that the experts of a token may be of */
    int64_t d_ff_shared; /* width of all shared experts together; 0: shared_experts d_ff_expert */
    int64_t latent;      /* width that routed experts read and write; 0: d_model */
    bool router_bias, score_correction_bias, expert_bias;
    bool shared_gate;  /* a gate of d_model weights on the shared experts */
    bool router_scale; /* a weight for each channel before the router and each expert after it */
};

/* Multi-head latent attention (DeepSeek-V2); kv_lora_rank == 0 means ordinary attention. */
struct sp_mla {
    int64_t q_lora_rank; /* 0: queries are projected directly */
    int64_t kv_lora_rank;
    int64_t qk_nope_head_dim, qk_rope_head_dim, v_head_dim;
};

/* An indexer that picks the tokens a token attends to (DeepSeek-V3.2); top_k == 0: there is none.
 */
struct sp_sparse_attention {
    int64_t top_k;          /* tokens that a token attends to, at most */
    int64_t index_heads;    /* the indexer's heads, which share one key */
    int64_t index_head_dim; /* width of one of them */
    bool shared;            /* layers L take the picks of the layer before */
};

/* Linear attention: each value head keeps a matrix of key_dim x value_dim that every token decays
 * and corrects (the gated delta rule) or adds to (lightning attention); heads == 0: there is none.
 */
struct sp_linear_attention {
    int64_t heads;     /* value heads, each with a state */
    int64_t key_heads; /* heads of queries and of keys */
    int64_t key_dim, value_dim;
    int64_t conv;      /* taps of the convolution over queries, keys and values; 0: none */
    int64_t gate_rank; /* r: decay of each channel and output gate through r; 0: decay of each head,
                          and the gate as one matmul */
    int64_t chunk;     /* tokens that are worked on at once; 0: 64, of lightning attention 256 */
    bool fixed_decay;  /* lightning attention: decays that are no weights, no steps */
};

/* A selective state space: each channel keeps a state of N numbers; state == 0: there is none. */
struct sp_state_space {
    int64_t inner; /* channels */
    int64_t heads; /* Mamba-2: heads that share a step size; 0: Mamba-1, each channel has its own */
    int64_t groups;  /* groups of heads that share B and C */
    int64_t state;   /* N */
    int64_t conv;    /* taps of the convolution; 0: none */
    int64_t dt_rank; /* Mamba-1: rank of the step sizes */
    int64_t chunk;   /* Mamba-2: tokens that are worked on at once; 0: 256 */
    bool bias, conv_bias;
    bool norm;     /* of the inner channels, before the output projection */
    bool dt_norms; /* of step size, B and C (Jamba) */
    bool parallel; /* beside the attention of each layer (Falcon-H1) */
};

/* A second attention, with widths and a window of its own; heads == 0: there is none. */
struct sp_local_attention {
    int64_t heads, kv_heads, head_dim, value_dim;
    int64_t window; /* tokens that a token attends to; 0: all */
    bool sinks;     /* a weight for each head */
};

/* Blocks of attention and an MLP that several layers have in common; sets == 0: there are none. */
struct sp_shared_block {
    int64_t sets;           /* of weights, which the layers S take in turn */
    int64_t streams;        /* side by side that its attention reads, each d_model wide; 0: one */
    int64_t rank;           /* of an adapter that each layer has of its own beside gate and up */
    int64_t attention_rank; /* and beside queries, keys and values; 0: none */
    bool output;            /* each layer has a matmul of its own after the block */
};

/* Layers that attend to the keys and values of an earlier layer of their kind. */
struct sp_reused_keys {
    int64_t d_ff;     /* width of their MLP; 0: as the others' */
    bool projections; /* they have projections of keys and values that only training uses */
};

/* Further ways past a layer's blocks (Gemma 3n). All zero: there are none. */
struct sp_side_streams {
    int64_t per_layer;       /* width of a table's row that each layer has of each token */
    int64_t per_layer_vocab; /* rows of that table; 0: vocab */
    int64_t altup;           /* streams that the layers carry, of which one passes the blocks */
    int64_t laurel_rank;     /* of a low-rank way past attention */
};

/* What of a model is trained; the rest is frozen: it has no gradient and no optimizer state. */
enum sp_trainable {
    SP_TRAIN_ALL,
    SP_TRAIN_LORA,  /* low-rank adapters beside frozen matmuls, and nothing else */
    SP_TRAIN_PARTS, /* some parts of every layer and of the ends */
    SP_TRAIN_LAST   /* the last layers, without tables, head and final norm; with none of them the
                       model only works forward */
};

/* Projections that adapters may stand beside, each a bit of sp_tuning.targets: 1 << target. */
enum sp_lora_target {
    SP_LORA_NONE,
    SP_LORA_Q,
    SP_LORA_K,
    SP_LORA_V,
    SP_LORA_O,
    SP_LORA_GATE,
    SP_LORA_UP,
    SP_LORA_DOWN,
    SP_LORA_FUSED, /* no projection: those side by side in one matmul share one adapter */
    SP_LORA_TARGETS
};

struct sp_companions;

/* How a model is tuned. All zero: all of it is trained. */
struct sp_tuning {
    int trainable;     /* enum sp_trainable */
    int64_t lora_rank; /* R */
    unsigned targets;  /* bits of enum sp_lora_target */
    unsigned parts;    /* of SP_TRAIN_PARTS: bits of enum sp_layer_part, routers with experts */
    bool packs_head;   /* a frozen head is stored as the layers' matmuls are */
    int64_t last;      /* of SP_TRAIN_LAST: how many layers */
    const struct sp_companions *companions; /* that work forward beside it; NULL: none */
    double base_bytes; /* of a frozen weight of a layer's matmuls, its scales included; 0: 2 */
};

/* Layers that stand before the model's own, with widths and tokens of their own, and attend in both
 * directions: the encoder of an encoder-decoder, or a tower that makes tokens of pictures or sound.
 * layers == 0: there is none. */
struct sp_encoder {
    int64_t layers, d_model, d_ff, heads, kv_heads, head_dim;
    int64_t tokens;       /* that a sequence has of it; 0: as many as the model itself */
    int64_t length;       /* of them attend to each other, as those of one picture; 0: all */
    int64_t window;       /* of a windowed layer; 0: there are none */
    int64_t global_every; /* of n layers one has no window; 0: all have it */
    int64_t norms_per_layer;
    int64_t extra_layer_params; /* weights of a layer that no other field has */
    int64_t extra_params;       /* weights beside the layers that no other field has */
    int64_t positions;          /* rows of a table of positions */
    int64_t patch;              /* values that a token is made of by one matmul; 0: a table's row */
    int64_t projectors;         /* MLPs that lead into the model's width; 0: none */
    int64_t projector_in, projector_hidden; /* their widths; hidden 0: one matmul alone */
    int64_t merge;                          /* tokens that become one by them */
    int norm, qk_norm;
    bool gated_mlp, qkv_bias, o_bias, mlp_bias, patch_bias, projector_bias;
    bool frozen; /* it is not trained; the projectors are */
};

/* The letters of a pattern, one a layer: attention and then an MLP (or experts, by struct sp_moe's
 * rule), the model's other mixer and then an MLP; attention, the other mixer, an MLP or experts
 * alone, as Megatron-LM's hybrid patterns write those; attention to the encoder and then an MLP; a
 * and l as A and L, with the keys and values of an earlier layer; a block that layers share. */
#define SP_PATTERN_LETTERS "AL*M-EXalS"

/* A model. layers == 0 means that only its size is known (`params`): no shape, no activations. */
struct sp_model {
    char name[64];
    char family[32];
    double params;           /* size-only models: P; 0 otherwise */
    double sample_flops;     /* and the FLOPs of a sample's forward pass, such as an image's; 0: 2 P
                                a token. A sample counts as one token. */
    double published_params; /* 0: not published */
    bool published_rounded;  /* published_params is a rounding, not a count */
    int64_t layers;          /* L */
    int64_t d_model;         /* D */
    int64_t d_ff;            /* F */
    int64_t heads;           /* N_h, query heads */
    int64_t kv_heads;        /* K */
    int64_t head_dim;        /* H */
    int64_t vocab;           /* V */
    int64_t max_seq;
    bool gated_mlp, tied_embeddings;
    bool qkv_bias, o_bias, mlp_bias, lm_head_bias;
    bool embedding_norm, parallel_attention;
    bool no_final_norm;
    int head;                /* enum sp_head */
    int64_t labels;          /* outputs of a score head */
    int64_t embedding_width; /* of the tables, where a projection widens it to D; 0: D */
    int norm;                /* enum sp_norm */
    int qk_norm;             /* enum sp_qk_norm */
    int64_t norms_per_layer;
    int64_t learned_positions;
    int64_t extra_attention_params_per_layer;
    int64_t sliding_window; /* W: tokens that a token of a windowed layer attends to; 0: all */
    int64_t global_every;   /* of n layers one has no window; 0: all layers have it */
    struct sp_moe moe;
    struct sp_mla mla;
    int64_t value_dim;    /* width of a value head; 0: head_dim */
    bool keys_are_values; /* layers A project keys, and take them for values too */
    bool attention_gate;  /* each head's output passes a gate, as wide as the queries */
    char pattern[256];    /* kinds of the layers, repeated; "": all have attention and an MLP */
    /* the other mixer, of which a model has one at most */
    struct sp_linear_attention linear;
    struct sp_state_space state_space;
    struct sp_local_attention local;
    int64_t short_conv; /* taps of a gated short convolution (LFM2); 0: none */
    bool short_conv_bias;
    struct sp_sparse_attention sparse;
    struct sp_shared_block shared;
    struct sp_reused_keys reused;
    struct sp_side_streams side;
    struct sp_tuning tuning;
    struct sp_encoder encoder;
    bool cross_attention; /* each layer attends to the encoder too */
    bool bidirectional;   /* tokens attend to later ones as well: an encoder */
    bool head_dense; /* a D x D layer before the head, or a pooler; with a bias where norms have one
                      */
    bool head_norm;  /* a norm after it */
    int64_t patch;   /* values that a token is made of by one matmul with a bias; 0: none */
    int64_t extra_params; /* weights beside the layers that no other field has */
    double batch_tokens;  /* typical training batch; 0: unknown */
    int64_t seq;          /* typical training sequence length; 0: unknown */
};

/* Parameters by part, in parameters (exact integers). */
struct sp_params {
    double embedding; /* input table, output head unless tied, learned positions */
    double attention;
    double mlp;     /* dense MLPs and shared experts */
    double experts; /* routed experts */
    double router;
    double norm;
    double total;
    double active;   /* what one token passes: total with top_k of the routed experts, and a shared
                        block once for each layer that has it */
    double adapters; /* of low-rank adapters, in none of the above */
    double trained;  /* of all of them, and of the adapters: what has gradients */
    double trained_experts; /* of these the routed experts, their adapters with them */
    double frozen_bytes, frozen_expert_bytes; /* of all that is frozen as it is stored, and of the
                                                 routed experts in it */
    double frozen_active, adapters_active;    /* of frozen matmuls, and of adapters, what one token
                                                 passes */
    double still_active; /* of the frozen ones, those that no gradient passes */
    double lookup;  /* of further tables, of which a token reads a row: in none of the active */
    double encoder; /* weights of the encoder and of what leads into it and out again */
    double passed;  /* what a token of the model's own passes: active without the encoder's; of a
                       dense model with an encoder `active` counts both */
};

/* True when the model's shape is known and not only its size. */
bool sp_model_has_shape(const struct sp_model *model);

/* Number of layers whose MLP is a mixture of experts. */
int64_t sp_moe_layers(const struct sp_model *model);

/* Counts every weight of the model by part. Size-only models give total = active = params and NAN
 * for the parts. Scaling book, "Transformers"; DeepSeek-V2, section 2.1, for MLA. */
struct sp_params sp_count_params(const struct sp_model *model);

/* How far the count is from the published total, as a fraction of it; NAN when none is published.
 */
double sp_off_published(const struct sp_model *model);

/* Whether its layers are more than attention and an MLP or plain experts: other mixers, blocks
 * alone, an indexer, gates, experts in a latent. */
bool sp_is_hybrid(const struct sp_model *model);

/* Width of all shared experts of a layer together. */
int64_t sp_shared_d_ff(const struct sp_model *model);

/* MLP width that one token passes in an MoE or dense layer, F of the closed forms: d_ff, or
 * (top_k + shared) * d_ff_expert. In units of d_model-wide columns; NAN without a shape. */
double sp_active_d_ff(const struct sp_model *model);

/* r = E/k, the factor by which a mixture of experts moves more weights than it computes with; 1 for
 * a dense model. Scaling book, "GPUs", data parallelism of mixtures of experts. */
double sp_expert_ratio(const struct sp_model *model);

/* What the backward pass finds in memory and what it recomputes. Closed forms know those before
 * SP_REMATS; the estimator knows all. */
enum sp_remat {
    SP_REMAT_NONE,      /* nothing recomputed */
    SP_REMAT_SELECTIVE, /* the attention core */
    SP_REMAT_MLP,       /* keep the MLP's matmul outputs: the textbook's exercise */
    SP_REMAT_DOTS,      /* keep the outputs of the big matmuls */
    SP_REMAT_FULL,      /* keep block inputs */
    SP_REMATS,
    SP_REMAT_ALTERNATE = SP_REMATS, /* torchtitan, per operator: every second matmul is kept */
    SP_REMAT_QKV, /* MaxText's save_qkv_proj: keep block input, queries, keys and values */
    SP_POLICIES
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
