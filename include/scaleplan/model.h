/* The shape of a transformer and its parameter counts. */
#ifndef SCALEPLAN_MODEL_H
#define SCALEPLAN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum sp_norm { SP_NORM_RMS, SP_NORM_LAYER, SP_NORM_LAYER_NO_BIAS, SP_NORM_NO_AFFINE };
/* What follows the last layer: logits of the vocabulary, one output per label, or nothing. */
enum sp_head { SP_HEAD_VOCABULARY, SP_HEAD_SCORE, SP_HEAD_NONE };
enum sp_qk_norm { SP_QK_NORM_NONE, SP_QK_NORM_HEAD, SP_QK_NORM_FULL };

/* Mixture of experts; experts == 0: a dense model. */
struct sp_moe {
    int64_t experts;        /* E: routed experts per MoE layer */
    int64_t top_k;          /* k: routed experts per token */
    int64_t shared_experts; /* experts that every token passes */
    int64_t d_ff_expert;    /* width of one expert */
    int64_t dense_layers;   /* leading layers that keep a dense MLP */
    int64_t every;          /* one layer in `every` is an MoE layer */
    int64_t d_ff_dense;     /* MLP width of dense layers; 0: d_ff */
    int64_t groups;         /* groups of experts; 0: none */
    int64_t top_groups;     /* groups that a token's experts may come from */
    int64_t d_ff_shared; /* width of all shared experts together; 0: shared_experts d_ff_expert */
    int64_t latent;      /* width that routed experts read and write; 0: d_model */
    bool router_bias, score_correction_bias, expert_bias;
    bool shared_gate;    /* d_model gate weights on the shared experts */
    int64_t hash_layers; /* leading MoE layers where a table chooses a token's experts: it has a
                            small number per token of the vocabulary and pick, which does not
                            count as a weight; the router gives the experts' shares. No counted
                            figure depends on it */
    bool router_scale;   /* a weight per channel before the router and per expert after it */
    bool latent_norm;    /* a norm between the routed experts and the matmul out of `latent` */
};

/* Multi-head latent attention (DeepSeek-V2); kv_lora_rank == 0: ordinary attention. */
struct sp_mla {
    int64_t q_lora_rank; /* 0: direct query projection */
    int64_t kv_lora_rank;
    int64_t qk_nope_head_dim, qk_rope_head_dim, v_head_dim;
};

/* An indexer that picks the tokens to attend to (DeepSeek-V3.2); top_k == 0: none. */
struct sp_sparse_attention {
    int64_t top_k;          /* most tokens that a token attends to */
    int64_t index_heads;    /* heads of the indexer, which share one key */
    int64_t index_head_dim; /* width per indexer head */
    bool shared;            /* layers L reuse the picks of the layer before */
    bool others;            /* layers L attend to all tokens, without the indexer (MiniMax-M3) */
};

/* Attention to a window and to entries that each stand for many earlier tokens, with one vector per
 * token or entry that is key and value of all heads (DeepSeek-V4). Layers A pick entries by the
 * indexer of sp_sparse_attention, layers L attend to all of theirs, layers W and those of further
 * tokens have only the window. output_rank == 0: none. */
struct sp_compressed_attention {
    int64_t ratio; /* tokens per entry of layers A; a token enters two of them. 0: no such layer */
    int64_t far_ratio; /* and of layers L */
    int64_t query_rank;
    int64_t output_groups, output_rank; /* groups of heads, each with a projection to output_rank */
};

/* Linear attention: each value head has a key_dim x value_dim state that every token decays and
 * corrects (gated delta rule) or adds to (lightning attention); heads == 0: none. */
struct sp_linear_attention {
    int64_t heads;     /* value heads, one state each */
    int64_t key_heads; /* query and key heads */
    int64_t key_dim, value_dim;
    int64_t conv;      /* taps of the convolution on queries, keys and values; 0: none */
    int64_t gate_rank; /* rank r of per-channel decays and the output gate; 0: one decay per head,
                          gate as one matmul */
    int64_t chunk;     /* tokens per block of computation; 0: 64, lightning attention 256 */
    bool fixed_decay;  /* lightning attention: constant decays, no step sizes */
    bool full_gate;    /* with gate_rank: the output gate is one matmul all the same (Kimi K3) */
};

/* Selective state space: each channel has a state of N numbers; state == 0: none. */
struct sp_state_space {
    int64_t inner;   /* channels */
    int64_t heads;   /* Mamba-2: heads with one step size each; 0: Mamba-1, one per channel */
    int64_t groups;  /* groups of heads with common B and C */
    int64_t state;   /* N */
    int64_t conv;    /* taps of the convolution; 0: none */
    int64_t dt_rank; /* Mamba-1: rank of the step sizes */
    int64_t chunk;   /* Mamba-2: tokens per block of computation; 0: 256 */
    bool bias, conv_bias;
    bool norm;     /* on the inner channels, before the output projection */
    bool dt_norms; /* on step size, B and C (Jamba) */
    bool parallel; /* parallel to the attention of each layer (Falcon-H1) */
};

/* A second kind of attention, with its own widths and window; heads == 0: none. */
struct sp_local_attention {
    int64_t heads, kv_heads, head_dim, value_dim;
    int64_t window; /* tokens attended to; 0: all */
    bool sinks;     /* one weight per head */
};

/* Blocks of attention and MLP shared by several layers; sets == 0: none. */
struct sp_shared_block {
    int64_t sets;           /* weight sets, used in turn by the layers S */
    int64_t streams;        /* inputs of its attention, each d_model wide; 0: one */
    int64_t rank;           /* rank of each layer's own adapter on gate and up */
    int64_t attention_rank; /* rank of each layer's own adapter on queries, keys, values; 0: none */
    bool output;            /* each layer has its own matmul after the block */
};

/* Layers that attend to keys and values of an earlier layer of their kind. */
struct sp_reused_keys {
    int64_t d_ff;     /* width of their MLP; 0: as other layers */
    bool projections; /* they have key and value projections that only training uses */
};

/* Further streams past a layer's blocks. All zero: none. */
struct sp_side_streams {
    int64_t per_layer;       /* width of a table row per token and layer */
    int64_t per_layer_vocab; /* rows of that table; 0: vocab */
    int64_t altup;           /* streams between layers; the blocks process one of them */
    int64_t laurel_rank;     /* rank of the low-rank path past attention */
    int64_t hyper;           /* residual streams; each block reads a mix of all and writes to all,
                                by weights that depend on them (DeepSeek-V4); 0 and 1: one */
    int64_t residual_block;  /* each block reads a mix of the stream since the last multiple of this
                                many layers and of all such streams before it (Kimi K3); 0: none */
};

/* Which weights are trained. Frozen ones have no gradient and no optimizer state. */
enum sp_trainable {
    SP_TRAIN_ALL,
    SP_TRAIN_LORA,  /* only low-rank adapters of frozen matmuls */
    SP_TRAIN_PARTS, /* some parts of every layer and of the ends */
    SP_TRAIN_LAST   /* the last layers, without tables, head and final norm; 0 layers: forward
                       passes only */
};

/* Projections that adapters may adapt; bit 1 << target of sp_tuning.targets. */
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
struct sp_documents;

/* How a model is tuned. All zero: everything is trained. */
struct sp_tuning {
    int trainable;     /* enum sp_trainable */
    int64_t lora_rank; /* R */
    unsigned targets;  /* bits of enum sp_lora_target */
    unsigned parts;    /* of SP_TRAIN_PARTS: bits of enum sp_layer_part, routers with experts */
    bool packs_head;   /* a frozen head is stored like the layer matmuls */
    int64_t last;      /* of SP_TRAIN_LAST: number of layers */
    const struct sp_companions *companions; /* models that run forward alongside it; NULL: none */
    double base_bytes; /* per frozen weight of a layer matmul, scales included; 0: 2 */
};

/* Bidirectional layers before the model's own, with their own widths and tokens: the encoder of an
 * encoder-decoder, or a tower for images or sound. layers == 0: none. */
struct sp_encoder {
    int64_t layers, d_model, d_ff, heads, kv_heads, head_dim;
    int64_t tokens;       /* encoder tokens per sequence; 0: as many as the model's own */
    int64_t length;       /* tokens that attend to each other, such as one image's; 0: all */
    int64_t window;       /* tokens attended to in windowed layers; 0: no windows */
    int64_t global_every; /* every n-th layer has no window; 0: all have it */
    int64_t norms_per_layer;
    int64_t extra_layer_params; /* weights per layer that no other field counts */
    int64_t extra_params;       /* weights outside the layers that no other field counts */
    int64_t positions;          /* rows of the position table */
    int64_t patch;              /* input values per token of a patch matmul; 0: a table lookup */
    /* Two matmuls with biases before the projectors: convolutions (Step 3.7), or an MLP
     * (MiniMax-M3). Each reads `taps` positions and keeps one token in `step`. neck_out 0: none. */
    int64_t neck_hidden, neck_out, neck_taps, neck_step;
    int64_t projectors;                     /* MLPs into the model's width; 0: none */
    int64_t projector_in, projector_hidden; /* their widths; hidden 0: a single matmul */
    int64_t merge;                          /* tokens merged into one by the projector */
    int norm, qk_norm;
    bool gated_mlp, qkv_bias, o_bias, mlp_bias, patch_bias, projector_bias;
    bool frozen; /* all but the projectors is frozen */
};

/* Residual blocks of convolutions (ResNet), which a pattern lays in stages: a stage has half of the
 * positions and twice the channels of the one before. width == 0: none. */
struct sp_convolution {
    int64_t image;     /* side of a picture, pixels */
    int64_t stem;      /* channels before the first block */
    int64_t width;     /* channels inside the blocks of the first stage */
    int64_t expansion; /* channels between blocks over those inside. 1: blocks of two 3 x 3
                          convolutions; more: 1 x 1, 3 x 3 and 1 x 1 */
    int64_t groups;    /* of the 3 x 3 convolutions of the latter */
};

/* Blocks of a convolutional network in its pattern: one of the same stage, the first of the next.
 */
#define SP_STAGE_BLOCK 'B'
#define SP_NEXT_STAGE 'N'
enum { SP_CONVOLUTION_STAGES = 4 };

/* Letters of a layer pattern. A: attention + MLP (or experts, by sp_moe). L: the other mixer + MLP.
 * *: attention, M: other mixer, -: MLP, E: experts, each alone, as in Megatron-LM's hybrid
 * patterns. X: cross-attention + MLP. a, l: as A, L with the keys and values of an earlier layer.
 * S: a shared block. W: as A, with only the window of a compressed attention. */
#define SP_PATTERN_LETTERS "AL*M-EXalSW"

/* How often drafts of speculative decoding are accepted: the first with the probability `first`;
 * each further one, if all before it were accepted, `later` times as often as the one before. */
struct sp_acceptance {
    double first, later;
};

/* A model. layers == 0: only its size (`params`) is known. */
struct sp_model {
    char name[64];
    char family[32];
    double params;           /* P of a size-only model; else 0 */
    double sample_flops;     /* forward FLOPs per sample (such as an image) of a size-only model; 0:
                                2 P per token. A sample counts as one token. */
    double published_params; /* 0: not published */
    bool published_rounded;  /* published_params is rounded */
    int64_t layers;          /* L */
    int64_t d_model;         /* D */
    int64_t d_ff;            /* F */
    double mean_d_ff;        /* mean width of the MLPs where layers differ (Nemotron-NAS): each MLP
                                counts with it, and d_ff is the widest. 0: every MLP has d_ff */
    int64_t heads;           /* N_h, query heads */
    int64_t kv_heads;        /* K */
    int64_t head_dim;        /* H */
    int64_t vocab;           /* V */
    int64_t max_seq;
    /* formats of the released checkpoint, enum sp_storage; kv: bf16 leaves it to the engine */
    int weights, expert_weights, kv;
    struct sp_acceptance speculative; /* of drafts of its own modules; first 0: unknown */
    int64_t mtp_layers; /* modules that predict further tokens in training (DeepSeek-V3) */
    bool gated_mlp, tied_embeddings;
    bool qkv_bias, o_bias, mlp_bias, lm_head_bias;
    bool unpadded_vocab; /* the table has no more rows than tokens, whatever divides them */
    bool embedding_norm, parallel_attention;
    bool no_final_norm;
    int head;                /* enum sp_head */
    int64_t labels;          /* outputs of a classification head */
    int64_t embedding_width; /* width of the tables if a projection widens it to D; 0: D */
    int norm;                /* enum sp_norm */
    int qk_norm;             /* enum sp_qk_norm */
    int64_t norms_per_layer;
    int64_t learned_positions;
    int64_t extra_attention_params_per_layer;
    /* Reach of local layers: a window or a chunk; both 0: every layer attends to all tokens. */
    int64_t sliding_window;  /* W: the last tokens attended to */
    int64_t attention_chunk; /* W: a token attends within its block of this many tokens */
    int64_t global_every;    /* every n-th layer attends to all tokens; 0: none by this rule */
    int64_t global_first;    /* the first layers that do, before any by global_every */
    struct sp_moe moe;
    struct sp_mla mla;
    int64_t value_dim;    /* width per value head; 0: head_dim */
    bool keys_are_values; /* layers A use the projected keys as values too */
    bool attention_gate;  /* a gate on attention's output, of the values' width */
    bool head_gates;      /* a gate on attention's output, one number per head (Step 3.5) */
    char pattern[256];    /* layer kinds, repeated; "": attention and MLP throughout */
    /* the other mixer; a model has at most one */
    struct sp_linear_attention linear;
    struct sp_state_space state_space;
    struct sp_local_attention local;
    int64_t short_conv; /* taps of a gated short convolution (LFM2); 0: none */
    bool short_conv_bias;
    struct sp_sparse_attention sparse;
    struct sp_compressed_attention compressed;
    struct sp_shared_block shared;
    struct sp_reused_keys reused;
    struct sp_side_streams side;
    struct sp_tuning tuning;
    struct sp_encoder encoder;
    bool cross_attention; /* every layer also attends to the encoder */
    bool bidirectional;   /* tokens attend to later ones too: an encoder */
    int64_t denoised;     /* B: tokens attend to all of their block of B too, which is denoised as
                             one (block diffusion); 0: to none that follow */
    bool head_dense; /* a D x D layer or pooler before the head; with a bias if norms have one */
    bool head_norm;  /* a norm after head_dense */
    int64_t patch;   /* input values per token of a patch matmul with bias; 0: none */
    struct sp_convolution convolution;
    int64_t extra_params; /* weights outside the layers that no other field counts */
    double batch_tokens;  /* typical training batch; 0: unknown */
    int64_t seq;          /* typical training sequence length; 0: unknown */
    const struct sp_documents *documents; /* documents packed into its sequences, within which
                                             attention stays; NULL: a sequence is one */
};

/* Parameters by part, as exact integers. */
struct sp_params {
    double embedding; /* input table, output head unless tied, position table */
    double attention;
    double mlp;     /* dense MLPs and shared experts */
    double experts; /* routed experts */
    double router;
    double norm;
    double total;
    double active;   /* all parameters but lookup tables and the routed experts that a token does
                        not pick: an encoder is included, and a shared block counts once per
                        layer that uses it */
    double adapters; /* low-rank adapters, in none of the above */
    double trained;  /* parameters with gradients, adapters included */
    double trained_experts; /* routed experts among `trained`, their adapters included */
    double frozen_bytes, frozen_expert_bytes; /* bytes of all frozen weights as stored, and of the
                                                 routed experts among them */
    double frozen_active, adapters_active;    /* active parameters of frozen matmuls and of
                                                 adapters */
    double still_active; /* of the frozen ones, those that no gradient passes */
    double idle_active;  /* active parameters that are frozen and in no matmul: the input table,
                            norms, biases. Without a gradient nothing is computed with them that
                            6 P would count */
    double lookup;       /* lookup tables; a token reads one row of each; not in `active` */
    double encoder;      /* the encoder with its input and output projections */
    double
        passed; /* parameters that a token of the model itself passes: active without the encoder */
};

/* True if the model's shape is known, not only its size. */
bool sp_model_has_shape(const struct sp_model *model);

/* True for a convolutional network; and for layers that TP, CP and pipelines can split: those of
 * known transformers and their kin. */
bool sp_is_convolutional(const struct sp_model *model);
bool sp_splits_layers(const struct sp_model *model);

/* Stages of a convolutional network, by its pattern. */
int sp_convolution_stages(const struct sp_model *model);

/* True if the model's samples are pictures. Each counts as one token, in a sequence of length 1. */
bool sp_takes_pictures(const struct sp_model *model);

/* Positions of a picture on which layers of width d_model work: patches with the class token, or
 * pixels of the last stage; 1 for other models. */
double sp_positions_per_token(const struct sp_model *model);

int64_t sp_moe_layers(const struct sp_model *model);

/* Counts every weight by part. A size-only model gets total = active = params and NAN parts.
 * Scaling book, "Transformers"; DeepSeek-V2, section 2.1 (MLA). */
struct sp_params sp_count_params(const struct sp_model *model);

/* Relative difference of the count from the published total; NAN if none is published. */
double sp_off_published(const struct sp_model *model);

/* Whether layers are more than attention with an MLP or plain experts: other mixers, single blocks,
 * an indexer, gates, latent experts. */
bool sp_is_hybrid(const struct sp_model *model);

/* Total width of a layer's shared experts. */
int64_t sp_shared_d_ff(const struct sp_model *model);

/* F of the closed forms: MLP width that a token passes in an MoE or dense layer, d_ff or (top_k +
 * shared) d_ff_expert, in d_model-wide columns. NAN without a shape. */
double sp_active_d_ff(const struct sp_model *model);

/* r = E/k: weights moved over weights computed with; 1 for a dense model. Scaling book, "GPUs",
 * data parallelism of mixtures of experts. */
double sp_expert_ratio(const struct sp_model *model);

/* What is kept for the backward pass and what is recomputed. Closed forms know the policies before
 * SP_REMATS, the estimate all. */
enum sp_remat {
    SP_REMAT_NONE,      /* nothing recomputed */
    SP_REMAT_SELECTIVE, /* the attention core */
    SP_REMAT_MLP,       /* keep the MLP's matmul outputs: the textbook's exercise */
    SP_REMAT_DOTS,      /* keep the outputs of the big matmuls */
    SP_REMAT_FULL,      /* keep layer inputs */
    SP_REMATS,
    SP_REMAT_ALTERNATE = SP_REMATS, /* torchtitan, per operator: keep every second matmul */
    SP_REMAT_QKV,       /* MaxText's save_qkv_proj: keep layer inputs, queries, keys, values */
    SP_REMAT_ATTENTION, /* its save_dot_except_mlp: also the result of attention's output projection
                         */
    SP_POLICIES
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
