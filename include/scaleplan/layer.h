/* What a model is made of: the kinds of its layers, and of each kind the matmuls, the other
 * weights, what mixes the tokens, and what training keeps and moves. Parameters, FLOPs,
 * activations, the operators and collectives of a step and the roofline of a model follow from
 * these lists. */
#ifndef SCALEPLAN_LAYER_H
#define SCALEPLAN_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The kinds of layers that a model may mix, and its two ends: what stands before the layers
 * (tables, a norm) and after them (a norm, the head). A layer has a block that mixes tokens, which
 * is attention or the model's other mixer, and a block that does not, an MLP or experts, or one of
 * the two alone. */
enum sp_layer_kind {
    SP_LAYER_DENSE, /* attention and an MLP */
    SP_LAYER_MOE,   /* attention and experts */
    SP_LAYER_OTHER_DENSE,
    SP_LAYER_OTHER_MOE,
    SP_LAYER_ATTENTION, /* alone, and so are the next three */
    SP_LAYER_OTHER,
    SP_LAYER_MLP,
    SP_LAYER_EXPERTS,
    SP_LAYER_CROSS,   /* attention to the encoder, and an MLP */
    SP_LAYER_REUSING, /* as DENSE, with keys and values of an earlier layer */
    SP_LAYER_OTHER_REUSING,
    SP_LAYER_SHARED,  /* attention and an MLP whose weights several layers share */
    SP_LAYER_ENCODER, /* of the encoder, before all others */
    SP_LAYER_KINDS,
    SP_LAYER_INPUT = SP_LAYER_KINDS,
    SP_LAYER_OUTPUT,
    SP_LAYER_LISTS
};

/* A number of layers of each kind. */
struct sp_layer_counts {
    int64_t of[SP_LAYER_KINDS];
};

/* What a weight is counted as. */
enum sp_layer_part {
    SP_PART_EMBEDDING,
    SP_PART_ATTENTION,
    SP_PART_MLP,
    SP_PART_EXPERTS, /* routed: EP spreads them, and TP inside an expert splits them */
    SP_PART_ROUTER,
    SP_PART_NORM,
    SP_PARTS
};

/* The operators of a layer, as policies and modules of recomputation name them. */
enum sp_operator {
    SP_OP_QKV,    /* what makes queries, keys and values, or the latents of them */
    SP_OP_LATENT, /* what makes them of latents */
    SP_OP_OUT,    /* attention's output projection */
    SP_OP_UP,     /* a dense MLP's first matmuls, and its last one */
    SP_OP_DOWN,
    SP_OP_SHARED_UP, /* the shared experts' */
    SP_OP_SHARED_DOWN,
    SP_OP_EXPERT_UP, /* the routed experts', with the router */
    SP_OP_EXPERT_DOWN,
    SP_OP_CORE,  /* attention itself */
    SP_OP_NORMS, /* norms, residual additions, casts */
    SP_OP_ACT,   /* activation function and product of a dense MLP */
    SP_OP_SHARED_ACT,
    SP_OP_EXPERT_ACT,
    SP_OP_ROUTE, /* tokens into the order of the experts and back */
    SP_OPERATORS
};

/* How the ranks of tensor parallelism share a weight and its product. */
enum sp_tp_split {
    SP_TP_WHOLE,   /* each holds and computes all of it */
    SP_TP_TOKENS,  /* each holds all of it, and computes its part of the sequence */
    SP_TP_STORED,  /* each holds a part, and computes all of it */
    SP_TP_COLUMNS, /* a part of what comes out */
    SP_TP_ROWS     /* a part of what goes in; their products are summed */
};

/* Matmuls of one shape side by side, [tokens, in] x [in, out]. */
struct sp_matmul {
    const char *name;
    enum sp_layer_part part;
    enum sp_operator op;
    enum sp_tp_split split;
    double in, out;
    double count, passed;       /* of `count` matmuls, the number that a token passes */
    double groups, group_out;   /* of `out`, groups that no rank divides: one at least is on each */
    double norm;                /* weights of a norm of its own, on what goes in */
    bool bias;                  /* a weight more for each of `out` */
    bool plain;                 /* in 16 bits, whatever the format of the layers */
    bool vocab;                 /* `out` is the vocabulary, which is stored padded */
    bool tied;                  /* its weight is the input table's */
    bool source;                /* it works on the tokens of the encoder */
    bool shared;                /* its weights are those of a shared block */
    enum sp_lora_target target; /* what adapters call it, or the first of its pieces */
    double piece[3]; /* columns of the projections that stand side by side in it, which adapters
                        call by consecutive targets; 0: it is one */
    bool frozen;     /* no gradient of its weight is made */
    bool base;       /* where it is frozen, or its layer is still, of the base that a tuning may
                        store in fewer bits */
    double rank;     /* R of the adapters beside it; 0: none */
    double adapted, adapted_out; /* how many of its pieces have one, and their columns together */
};

/* Weights that no matmul multiplies by: norms, tables, biases. */
struct sp_tensor {
    double weights;
    enum sp_layer_part part;
    enum sp_tp_split split;
    bool vocab;  /* stored padded */
    bool source; /* the encoder's */
    bool shared; /* of a shared block */
    bool lookup; /* a further table, of which a token reads a row and passes none */
    bool frozen; /* has no gradient */
};

/* What mixes the tokens: scores between queries and keys, and their weighted sum of values, or a
 * recurrence (qk == 0), or both. */
struct sp_mixer {
    double heads, kv_heads; /* the latter as scores see them: expanded */
    double qk, v;           /* widths of one head; 0: it has no scores */
    double length;          /* tokens that it stretches over; 0: the sequence */
    double window;          /* W: tokens that a token attends to; 0: all of the sequence */
    double global;          /* share of the layers that have no window all the same */
    double picked;          /* widths qk + v of a head where an indexer picked the W tokens out of
                               all of them; 0: they are the last W */
    double index;           /* multiply-adds of the indexer for each pair of tokens */
    double scan;            /* multiply-adds of a token whatever the length: a recurrence's */
    double cache;           /* elements that a token leaves for generation */
    double cache_index;     /* those of them that every later token reads, picked or not */
    double state;           /* bytes that a sequence keeps for generation whatever its length */
    bool bidirectional;     /* tokens attend to later ones as well */
};

/* Which device has which tokens of a tensor of activations. */
enum sp_sharded_by {
    SP_BY_NOTHING,  /* every TP rank has all of them */
    SP_BY_SEQUENCE, /* with sequence parallelism a part, else all */
    SP_BY_INPUT,    /* the same, where the framework does not keep what it gathered */
    SP_BY_WIDTH,    /* all, but a part of the width */
    SP_SHARDED_BY
};

/* How often the framework keeps a tensor. */
enum sp_copies {
    SP_COPIES_ONE,
    SP_COPIES_QKV,       /* one, and its further copies of q, k and v */
    SP_COPIES_MLP,       /* one, and its further copies of d_ff-wide tensors of gated MLPs */
    SP_COPIES_INPUT,     /* one, and the outputs that a policy keeps though nothing needs them */
    SP_COPIES_EXCHANGED, /* one where context parallelism exchanges heads, else none */
    SP_COPIES_NONE,      /* only the closed form keeps it */
    SP_COPIES_DROPOUT,   /* one with dropout, else none */
    SP_COPIES_NORMS,     /* the copies that the framework's own RMSNorm keeps */
    SP_COPIES_FROZEN,    /* one where the framework keeps the inputs of frozen matmuls, else none */
    SP_COPIES_MLP_FROZEN, /* the same, and its further copies of d_ff-wide tensors */
    SP_COPIES
};

/* Activations that the forward pass leaves for the backward pass. */
struct sp_kept {
    double width; /* 2-byte elements of a token */
    enum sp_sharded_by sharded_by;
    enum sp_operator by; /* dropped where this one runs again; SP_OPERATORS: always kept */
    enum sp_copies copies;
    unsigned remats; /* the closed form keeps it: one bit for each enum sp_remat */
    double groups;   /* groups of the width that no rank divides; 0: it divides */
    bool source;     /* of the tokens of the encoder */
    bool with_norms; /* dropped only where the norms run again too */
    bool routed;     /* as many as experts are sent, which is uneven */
    bool gradient;   /* the backward pass holds its gradient at its peak */
    unsigned feeds;  /* kept for the weight gradients of these operators alone, a bit each; 0: for
                        more than those */
};

/* What memory-bound work reads and writes. */
struct sp_moved {
    double width; /* 2-byte elements of a token */
    enum sp_sharded_by sharded_by;
    enum sp_operator op;
    bool routed; /* as many as experts are sent */
    bool casts;  /* only where the matmuls' format is narrower */
};

enum { SP_MATMULS = 32, SP_TENSORS = 16, SP_KEPT = 64, SP_MOVED = 20 };

/* One layer, or one end of the model. */
struct sp_layer {
    double width; /* D of the stream of tokens that it reads and adds to */
    double picks; /* k: experts that a token goes to and comes back from; 0: none */
    double sent;  /* width in which it is sent to them */
    double own;   /* tokens of a sequence that pass it; 0: the sequence's */
    double from;  /* tokens of a sequence that its rows of the encoder work on; 0: the sequence's */
    double sets;  /* of weights that all layers of the kind share; 0: each has its own */
    bool half;    /* it has only one of a layer's two blocks */
    bool frozen;  /* it is not trained, and no gradient passes it */
    struct sp_mixer mixer;
    struct sp_mixer cross; /* attention to the encoder; no heads: there is none */
    int matmuls, tensors, n_kept, n_moved;
    struct sp_matmul matmul[SP_MATMULS];
    struct sp_tensor tensor[SP_TENSORS];
    struct sp_kept kept[SP_KEPT];
    struct sp_moved moved[SP_MOVED];
};

/* How many layers from layer `from`, counted from 0, to before layer `until` are of each kind; the
 * encoder's stand before layer 0. */
void sp_count_layers(const struct sp_model *model, int64_t from, int64_t until,
                     struct sp_layer_counts *counts);

/* Of these layers, how many of each kind are frozen with all that is below them: those before the
 * last ones that SP_TRAIN_LAST trains, the encoder's with them; else none. */
void sp_count_still_layers(const struct sp_model *model, int64_t from, int64_t until,
                           struct sp_layer_counts *counts);

/* A model in lists, how many layers each stands for (an end for one), and its weights by part. The
 * list of a kind that the model does not have, whose count is 0, is not set. */
struct sp_layers {
    const struct sp_model *model; /* not a copy */
    struct sp_params params;
    double count[SP_LAYER_LISTS];
    double still[SP_LAYER_LISTS]; /* of these, below all that is trained: no gradient passes them */
    struct sp_layer list[SP_LAYER_LISTS];
};

/* Lists a model whose shape is known. Scaling book, "Transformers"; DeepSeek-V2, section 2.1, for
 * latent attention; Korthikanti et al. 2022, section 4, for what is kept. */
void sp_list_model(const struct sp_model *model, struct sp_layers *layers);

/* The largest rank that every adapter of a list can have: the least of in and out over the pieces
 * with adapters, min(d, k) in Hu et al. 2021, section 4.1; INFINITY without any. */
double sp_most_lora_rank(const struct sp_layers *layers);

/* Outputs of the head for each token: the vocabulary, the labels, or 0. */
int64_t sp_head_outputs(const struct sp_model *model);

/* Bytes of a weight of the base as it is stored, and of any other frozen weight. */
double sp_base_bytes(const struct sp_model *model);
#define SP_FROZEN_BYTES 2.0

/* Weights of the adapters beside a matmul: R (in + out) for each of its pieces that has one. Hu et
 * al. 2021, "LoRA", section 4.1. */
double sp_adapter_weights(const struct sp_matmul *matmul);

/* Width of the MLP of a dense layer: d_ff, unless a mixture gives its dense layers another. */
int64_t sp_dense_d_ff(const struct sp_model *model);

/* Tokens for each token of a sequence of `seq`, where a sequence has `tokens` of them; 0: as many.
 */
double sp_stream_share(double tokens, double seq);

/* Parameters as a token works with them on average over a sequence of `seq`: `active` has those of
 * the encoder by how many tokens it has for each of the sequence, a third of them where it is
 * frozen and works forward alone, two where a tuning freezes it and gradients pass it. */
struct sp_params sp_worked_params(const struct sp_model *model, const struct sp_params *params,
                                  double seq);

/* Width of what one layer hands to the next for each token: d_model, several times it where layers
 * carry further streams or a shared block reads the tables' output as well. */
double sp_carried_width(const struct sp_model *model);

/* Whether layers of that kind have experts. */
bool sp_kind_has_experts(enum sp_layer_kind kind);

/* Tokens that a token counts as attending to in a sequence of `seq`, the causal half not taken off:
 * seq, and with a window of W < seq twice the mean of min(i, W) over the positions i, 2W - W^2/seq.
 * Of a mixer with a length of its own, that; in both directions a window of W around a token, less
 * what the ends cut off, W - W^2/(4 seq). Non-decreasing in seq. */
double sp_mixer_tokens(const struct sp_mixer *mixer, double seq);

/* Forward FLOPs of one token in a sequence of `seq`; `scores` is the share of the scores that is
 * counted, 1/2 where a causal mask is exploited, and all of them in both directions. Where an
 * indexer picks tokens: its own scores of all pairs, and the less of all pairs in heads of their
 * own and of the picked ones in the shared latents. DeepSeek-V3.2, section 2.1. */
double sp_mixer_flops(const struct sp_mixer *mixer, double seq, double scores);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
