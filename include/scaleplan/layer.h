/* A model as lists: per kind of layer its matmuls, other weights, token mixer, kept activations and
 * memory traffic. Parameters, FLOPs, activations, step operators, collectives and rooflines all
 * derive from these lists. */
#ifndef SCALEPLAN_LAYER_H
#define SCALEPLAN_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The kinds of layers, and the two ends: before the layers (tables, a norm) and after them (a norm,
 * the head). A layer has a token mixer (attention or another) and an MLP or experts, or only one of
 * the two. */
enum sp_layer_kind {
    SP_LAYER_DENSE, /* attention and an MLP */
    SP_LAYER_MOE,   /* attention and experts */
    SP_LAYER_OTHER_DENSE,
    SP_LAYER_OTHER_MOE,
    SP_LAYER_ATTENTION, /* attention alone; the next three are single blocks too */
    SP_LAYER_OTHER,
    SP_LAYER_MLP,
    SP_LAYER_EXPERTS,
    SP_LAYER_CROSS,   /* cross-attention to the encoder, and an MLP */
    SP_LAYER_REUSING, /* as DENSE, with keys and values of an earlier layer */
    SP_LAYER_OTHER_REUSING,
    SP_LAYER_SHARED,     /* attention and an MLP with weights shared by several layers */
    SP_LAYER_NEAR_DENSE, /* the window of a compressed attention, and an MLP */
    SP_LAYER_NEAR_MOE,   /* or experts */
    SP_LAYER_ENCODER,    /* of the encoder, before all others */
    SP_LAYER_MTP,        /* a module that predicts a further token, after all others */
    SP_LAYER_KINDS,
    SP_LAYER_INPUT = SP_LAYER_KINDS,
    SP_LAYER_OUTPUT,
    SP_LAYER_LISTS
};

/* Number of layers of each kind. */
struct sp_layer_counts {
    int64_t of[SP_LAYER_KINDS];
};

/* The part of the parameter count that a weight belongs to. */
enum sp_layer_part {
    SP_PART_EMBEDDING,
    SP_PART_ATTENTION,
    SP_PART_MLP,
    SP_PART_EXPERTS, /* routed: divided by EP and ETP */
    SP_PART_ROUTER,
    SP_PART_NORM,
    SP_PARTS
};

/* The operators of a layer that recomputation policies and modules name. */
enum sp_operator {
    SP_OP_QKV,    /* projections to queries, keys and values, or to their latents */
    SP_OP_LATENT, /* up-projections of the latents */
    SP_OP_OUT,    /* attention's output projection */
    SP_OP_UP,     /* first and last matmuls of a dense MLP */
    SP_OP_DOWN,
    SP_OP_SHARED_UP, /* of the shared experts */
    SP_OP_SHARED_DOWN,
    SP_OP_EXPERT_UP, /* of the routed experts, router included */
    SP_OP_EXPERT_DOWN,
    SP_OP_CORE,  /* attention itself */
    SP_OP_NORMS, /* norms, residual additions, casts */
    SP_OP_ACT,   /* activation function and gating of a dense MLP */
    SP_OP_SHARED_ACT,
    SP_OP_EXPERT_ACT,
    SP_OP_ROUTE, /* permutation of tokens to experts and back */
    SP_OPERATORS
};

/* How TP ranks share a weight and its product. */
enum sp_tp_split {
    SP_TP_WHOLE,   /* each holds and computes all */
    SP_TP_TOKENS,  /* each holds all and computes its part of the sequence */
    SP_TP_STORED,  /* each holds a part and computes all */
    SP_TP_COLUMNS, /* split by output */
    SP_TP_ROWS     /* split by input; the products are summed */
};

/* Parallel matmuls of one shape, [tokens, in] x [in, out]. */
struct sp_matmul {
    const char *name;
    enum sp_layer_part part;
    enum sp_operator op;
    enum sp_tp_split split;
    double in, out;
    double count, passed;       /* of `count` matmuls, those that one token passes */
    double groups, group_out;   /* `out` consists of groups that TP cannot divide: each rank has at
                                   least one */
    double norm;                /* weights of a norm on the input */
    double read;                /* elements of the input that a row is the first to read, where rows
                                   share some: convolutions; 0: `in` */
    bool bias;                  /* one bias per output */
    bool plain;                 /* 16-bit whatever the layers' format */
    bool vocab;                 /* `out` is the vocabulary, stored padded */
    bool tied;                  /* uses the input table's weight */
    bool source;                /* works on the encoder's tokens */
    bool shared;                /* weights of a shared block */
    enum sp_lora_target target; /* LoRA target of the matmul, or of its first piece */
    double piece[3]; /* columns of each projection fused into it, which are consecutive LoRA
                        targets; 0: not fused */
    bool frozen;     /* no weight gradient */
    bool base;       /* if frozen: part of the base that a tuning may store in fewer bits */
    double rank;     /* adapter rank R; 0: none */
    double adapted, adapted_out; /* pieces with an adapter, and their columns in total */
};

/* Weights outside matmuls: norms, tables, biases. */
struct sp_tensor {
    double weights;
    enum sp_layer_part part;
    enum sp_tp_split split;
    bool vocab;  /* stored padded */
    bool source; /* of the encoder */
    bool shared; /* of a shared block */
    bool lookup; /* a lookup table: a token reads one row */
    bool frozen; /* no gradient */
};

/* A token mixer: attention scores and their weighted sum of values, or a recurrence (qk == 0), or
 * both. */
struct sp_mixer {
    double heads, kv_heads; /* kv_heads as the scores see them: expanded */
    double qk, v;           /* widths per head; 0: no scores */
    double length;          /* tokens it attends over; 0: the sequence */
    double window;          /* W: tokens a token attends to; 0: the whole sequence */
    bool chunked;           /* W is a block of tokens, and none before it is attended to */
    double global;          /* share of the layers that attend to the whole sequence */
    double picked;          /* qk + v per head if an indexer picks the W tokens; 0: they are the
                               last W */
    double index;           /* multiply-adds of the indexer per pair of tokens */
    double ratio;           /* tokens that each entry outside the window stands for; 0: no entries.
                               `index` is then per pair of a token and an entry */
    double entries;         /* most entries that a token attends to; 0: all */
    double scan;            /* multiply-adds per token of a recurrence */
    double cache;           /* elements cached per token for generation */
    double cache_index;     /* cached elements that every later token reads, picked or not; with
                               entries, per entry */
    double cache_entry;     /* elements cached per entry, read where it is attended to */
    double state;           /* bytes per sequence kept for generation, independent of length */
    double sums;            /* norms over all heads: their sums over a token, which TP ranks add up
                               in one message */
    bool bidirectional;     /* tokens attend to later ones as well */
    double block;           /* tokens attend to all of their block, of this many tokens; 0: none */
    const struct sp_documents *documents; /* that attention stays within; NULL: the sequence */
};

/* How the ranks share an activation. */
enum sp_sharded_by {
    SP_BY_NOTHING,  /* every TP rank has all tokens */
    SP_BY_SEQUENCE, /* divided by tokens with sequence parallelism, else whole */
    SP_BY_INPUT,    /* the same, if the framework does not keep the gathered input */
    SP_BY_WIDTH,    /* all tokens, part of the width */
    SP_SHARDED_BY
};

/* How many copies of a tensor the framework keeps. */
enum sp_copies {
    SP_COPIES_ONE,
    SP_COPIES_QKV,        /* one plus its extra copies of q, k and v */
    SP_COPIES_MLP,        /* one plus its extra d_ff-wide copies of gated MLPs */
    SP_COPIES_INPUT,      /* one plus block outputs that a policy keeps needlessly */
    SP_COPIES_EXCHANGED,  /* one if context parallelism exchanges heads, else none */
    SP_COPIES_NONE,       /* none: only the closed form counts it */
    SP_COPIES_DROPOUT,    /* one with dropout, else none */
    SP_COPIES_NORMS,      /* those that the framework's own RMSNorm keeps */
    SP_COPIES_FROZEN,     /* one if the framework keeps inputs of frozen matmuls, else none */
    SP_COPIES_MLP_FROZEN, /* the same plus its extra d_ff-wide copies */
    SP_COPIES_CAST,       /* one where a matmul's narrow input is kept beside the tensor itself */
    SP_COPIES
};

/* Activations kept for the backward pass. */
struct sp_kept {
    double width; /* 2-byte elements per token */
    enum sp_sharded_by sharded_by;
    enum sp_operator by; /* not kept if this operator is recomputed; SP_OPERATORS: always kept */
    enum sp_copies copies;
    unsigned remats; /* bits of enum sp_remat: policies whose closed form counts it */
    double groups;   /* indivisible groups of the width; 0: it divides */
    bool source;     /* per token of the encoder */
    bool with_norms; /* dropped only if the norms are recomputed too */
    bool routed;     /* scales with the tokens sent to experts, which is uneven */
    bool gradient;   /* its gradient is live at the peak of the backward pass */
    unsigned feeds;  /* operators (bits): only their weight gradients need it; 0: others do
                        too */
};

/* Reads and writes of memory-bound work. */
struct sp_moved {
    double width; /* 2-byte elements per token */
    enum sp_sharded_by sharded_by;
    enum sp_operator op;
    bool routed; /* scales with the tokens sent to experts */
    bool casts;  /* only if the matmuls' format is narrower than 16 bits */
    bool loss;   /* of logits, which a framework's loss reads and writes its own way */
};

enum { SP_MATMULS = 32, SP_TENSORS = 16, SP_KEPT = 64, SP_MOVED = 20 };

/* One layer, or one end of the model. */
struct sp_layer {
    double width; /* D, width of the residual stream */
    double picks; /* k, experts per token; 0: none */
    double sent;  /* width in which tokens are sent to experts */
    double own;   /* tokens per sequence; 0: the sequence length */
    double from;  /* encoder tokens per sequence that its `source` rows work on; 0: the sequence
                     length */
    double sets;  /* weight sets shared by all layers of the kind; 0: each layer has its own */
    bool half;    /* has only one of a layer's two blocks */
    bool frozen;  /* not trained, and no gradient passes it */
    struct sp_mixer mixer;
    struct sp_mixer cross; /* cross-attention to the encoder; no heads: none */
    int matmuls, tensors, n_kept, n_moved;
    struct sp_matmul matmul[SP_MATMULS];
    struct sp_tensor tensor[SP_TENSORS];
    struct sp_kept kept[SP_KEPT];
    struct sp_moved moved[SP_MOVED];
};

/* Counts the layers `from` to `until` - 1 (from 0) by kind; the encoder's layers precede layer
 * 0. */
void sp_count_layers(const struct sp_model *model, int64_t from, int64_t until,
                     struct sp_layer_counts *counts);

/* Counts those that no gradient passes: the layers, encoder included, before the last ones that
 * SP_TRAIN_LAST trains; else none. */
void sp_count_still_layers(const struct sp_model *model, int64_t from, int64_t until,
                           struct sp_layer_counts *counts);

/* A model as lists, with the number of layers per list (1 for an end) and the weights by part.
 * Lists of absent kinds are not set. */
struct sp_layers {
    const struct sp_model *model; /* not a copy */
    struct sp_params params;
    double count[SP_LAYER_LISTS];
    double still[SP_LAYER_LISTS]; /* layers of the list that no gradient passes */
    unsigned present;             /* bits of the lists that have layers, or are an end */
    struct sp_layer list[SP_LAYER_LISTS];
};

/* Lists a model of known shape. Scaling book, "Transformers"; DeepSeek-V2, section 2.1 (latent
 * attention); Korthikanti et al. 2022, section 4 (kept activations). */
void sp_list_model(const struct sp_model *model, struct sp_layers *layers);

/* Largest rank that every adapter can have: the least min(in, out) over adapted pieces (Hu et al.
 * 2021, section 4.1); INFINITY without adapters. */
double sp_most_lora_rank(const struct sp_layers *layers);

/* Head outputs per token: the vocabulary, the labels, or 0. */
int64_t sp_head_outputs(const struct sp_model *model);

/* Bytes per stored weight of the frozen base, and of any other frozen weight. */
double sp_base_bytes(const struct sp_model *model);
#define SP_FROZEN_BYTES 2.0

/* Weights of the adapters of a matmul: R (in + out) per adapted piece, or once for all pieces where
 * they share one. Hu et al. 2021, "LoRA", section 4.1. */
double sp_adapter_weights(const struct sp_matmul *matmul);

/* MLP width of a dense layer: d_ff, unless the mixture gives dense layers their own. */
int64_t sp_dense_d_ff(const struct sp_model *model);

/* Tokens of a stream per token of the model for sequences of `seq`; `tokens` 0: 1. */
double sp_stream_share(double tokens, double seq);

/* Parameters that work on a token of the model while all are trained, an encoder's by its own
 * tokens: P of 2P and 6P. */
double sp_rule_params(const struct sp_model *model, const struct sp_params *params, double seq);

/* Weights moved over weights computed with: sp_expert_ratio, times what an encoder with few tokens
 * moves for little work. */
double sp_moved_over_worked(const struct sp_model *model, double seq);

/* Parameters with `active` as a token works with them, averaged over a sequence of `seq`: encoder
 * weights count by encoder tokens per token, one third if frozen with forward passes only, two
 * thirds if frozen with gradients passing. */
struct sp_params sp_worked_params(const struct sp_model *model, const struct sp_params *params,
                                  double seq);

/* Width per token that one layer passes to the next: d_model, or several times it if layers carry
 * further streams or a shared block reads the embedding too. */
double sp_carried_width(const struct sp_model *model);

bool sp_kind_has_experts(enum sp_layer_kind kind);

/* Tokens and entries that a token attends to in a sequence of `seq`, without the causal half,
 * averaged over the layers of a kind: seq, or the value of sp_window_reach, sp_chunk_reach or
 * sp_both_sides_reach for a window or chunk shorter than seq; of the mixer's own `length` if that
 * is set. Multiplied by seq / 2 it is the number of pairs of a token with itself or an earlier one.
 * It does not decrease with seq, except for chunks: a new chunk begins with short reaches. With
 * documents it is the mean over their tokens, here and below. */
double sp_mixer_tokens(const struct sp_mixer *mixer, double seq);

/* Forward FLOPs per token in a sequence of `seq`. `scores`: counted share of the scores, 1/2 if a
 * causal mask is exploited; bidirectional mixers count all. With an indexer: its scores of all
 * pairs, plus the cheaper of attention to all tokens in full heads and to the picked ones in shared
 * latents. DeepSeek-V3.2, section 2.1. */
double sp_mixer_flops(const struct sp_mixer *mixer, double seq, double scores);

/* Share of a layer's attention that varies between rows as the sums of squares of their documents
 * do: 1 where a token attends to its whole document, 0 for a recurrence; found by least squares. 0
 * without documents. */
double sp_mixer_unevenness(const struct sp_mixer *mixer, double seq);

/* How far a token of a layer attends. */
enum sp_reach {
    SP_REACH_ALL,        /* to the whole sequence */
    SP_REACH_WINDOW,     /* to the last W tokens */
    SP_REACH_CHUNK,      /* within its block of W tokens */
    SP_REACH_BOTH_SIDES, /* to a window around it */
    SP_REACH_PICKED,     /* to the W tokens that an indexer picks */
    SP_REACH_ENTRIES,    /* to entries that stand for many tokens */
    SP_REACH_RECURRENCE, /* to a state in place of tokens */
    SP_REACHES
};

/* The layers of a model that attend alike. */
struct sp_scores {
    enum sp_reach reach;
    struct sp_mixer mixer;
    double layers; /* those of an encoder by its share of the tokens */
    double tokens; /* attended to, without the causal half */
    double share;  /* of the scores that count */
    double flops;  /* a token and layer */
};
enum { SP_MOST_SCORES = 6 * SP_LAYER_KINDS };

/* Entries among them, and FLOPs per token with the indexer's scores of all. 0 without entries. */
double sp_mixer_entries(const struct sp_mixer *mixer, double seq);
double sp_entry_flops(const struct sp_mixer *mixer, double seq, double scores);

/* Lists them; their number. The FLOPs of all (score_flops, picked_score_flops, entry_score_flops,
 * scan_flops) times their layers are the part `attention` of sp_forward_flops_per_token. */
int sp_list_scores(const struct sp_model *model, double seq, bool causal,
                   struct sp_scores out[SP_MOST_SCORES]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
