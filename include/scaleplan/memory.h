/* Bytes of a device: in closed form, at a plan's peak by stage, and over a step. */
#ifndef SCALEPLAN_MEMORY_H
#define SCALEPLAN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/formats.h>
#include <scaleplan/model.h>
#include <scaleplan/pipeline.h>
#include <scaleplan/profile.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Closed forms ==
 *
 * Bytes of one device under a parallel plan: states by ZeRO stage, activations, and the inverses.
 */

/* How a model is spread. Every degree is >= 1. */
struct sp_spread {
    double dp; /* N_d: replicas that the optimizer state may be sharded over */
    double tp, pp, cp;
    double ep;           /* among the dp cp ranks */
    int zero;            /* 0: replicated; 1: optimizer; 2: and gradients; 3: and weights */
    double microbatches; /* of a step, whose gradients add up; 0: one */
    double microbatches_in_flight; /* of the fullest stage; 1 without a pipeline */
};

/* Bytes on one device. */
struct sp_footprint {
    double params, grads, optimizer; /* optimizer: master copy and moments */
    double activations;
    double total;
};

/* States of one device: what ZeRO leaves whole, what it divides by N_d, after TP, PP and (for
 * routed experts) EP. `params` are all parameters, `experts` the routed ones among them. The ranks
 * of EP are some of dp cp. The product dp cp must be a multiple of ep. An expert's states are
 * shared by dp cp / ep ranks, and ZeRO divides both kinds of parameters by dp cp in the end. bytes.
 * ZeRO, Rajbhandari et al. 2020, section 5: DP (w+g+K)P; stage 1 (w+g)P + KP/N_d; stage 2 wP +
 * (g+K)P/N_d; stage 3 (w+g+K)P/N_d. */
struct sp_footprint sp_state_footprint(double params, double experts,
                                       const struct sp_precision *precision,
                                       const struct sp_spread *spread);

/* The same for a model of which some is frozen: what is trained by the recipe, what is frozen as
 * the weights are, without gradients and optimizer. bytes. */
struct sp_footprint sp_tuned_footprint(const struct sp_params *params,
                                       const struct sp_precision *precision,
                                       const struct sp_spread *spread);

/* Bytes of the whole state of a model: the recipe's for each parameter that is trained, and what is
 * frozen as it is stored. */
double sp_state_bytes(const struct sp_params *params, const struct sp_precision *precision);

/* Activation bytes kept per token and layer, 2-byte activations, fused (flash) attention, one chip
 * holding the whole width. NAN for a size-only model and for policies from SP_REMATS on. Scaling
 * book, "Training" (mlp, dots, full); Korthikanti et al. 2022, section 4, with grouped queries and
 * gated MLPs (none, selective). */
double sp_activation_bytes_per_token_layer(const struct sp_model *model, enum sp_remat remat);

/* Korthikanti et al. 2022, table 2: activation bytes of one GPT layer for a micro-batch, 16-bit,
 * materialised scores, dropout. s tokens, b sequences, h width, a heads, t TP degree. */
enum sp_gpt_rule {
    SP_GPT_NONE,
    SP_GPT_TP,
    SP_GPT_TP_SP,
    SP_GPT_TP_SELECTIVE,
    SP_GPT_SELECTIVE, /* with sequence parallelism */
    SP_GPT_FULL
};
enum sp_gpt_rule sp_gpt_rule(enum sp_remat remat, double tp, bool sequence_parallel);
double sp_gpt_activation_bytes(enum sp_gpt_rule rule, double tokens, double sequences,
                               double d_model, double heads, double tp);

/* Activations of a device with its share of `layers`, of which each keeps `layer_bytes` of a
 * micro-batch: layers layer_bytes / pp, for every micro-batch in flight. bytes. */
double sp_stage_activation_bytes(double layers, double layer_bytes, const struct sp_spread *spread);

/* The same for a micro-batch of `tokens` of a model, whose layer TP and CP divide:
 * sp_activation_bytes_per_token_layer / (tp cp) a token. */
double sp_activation_footprint(const struct sp_model *model, enum sp_remat remat, double tokens,
                               const struct sp_spread *spread);

/*
 * == The peak of a plan ==
 *
 * Peak memory of a device under a plan, by stage and component, in whole bytes.
 */

/* Weights on one device, by the ranks that share them. Parameters. */
struct sp_stage_weights {
    double dense, experts;
};

/* Those of one device of a stage, before any sharding, and among them: the trained ones, the frozen
 * ones of its layers' matmuls, and those of layers that no gradient passes. Parameters. */
struct sp_kind_weights {
    struct sp_stage_weights held, trained, base, still;
};

/* Weights that one device holds before any data-parallel sharding, and among them those that FSDP
 * gathers, which is the vocabulary without its padding; those that are trained, adapters with them;
 * and the frozen ones of a layer's matmuls, which may be stored in fewer bits. Parameters. */
struct sp_rank_weights {
    double held, gathered, trained, base;
};
struct sp_list_weights {
    struct sp_rank_weights dense, experts;
    struct sp_rank_weights shared; /* of one set of a shared block */
    double sets;                   /* that all layers of the kind have together */
};

/* Weights that one device has of one layer of each kind, and of each end of the model. */
struct sp_layer_weights {
    struct sp_list_weights of[SP_LAYER_LISTS];
    struct sp_rank_weights
        tied; /* the output end's copy of the table, where it has none of its own */
    bool all_trained;
    bool still_base; /* the base is what still layers have of it */
};

/* What of a plan decides which part of a layer a device has. */
struct sp_rank {
    double tokens[SP_SHARDED_BY]; /* of a micro-batch; SP_BY_WIDTH: the number of tokens whose whole
                                     width a rank has */
    double tp, ep, etp;
    double from;      /* tokens of the encoder for each of the layer's own */
    double imbalance; /* rows of the busiest expert over the mean */
    double computed;  /* the same, with those that experts compute beyond what they are sent */
};
/* A model's layers on one device: what all plans share that have the same model, tp, cp, ep, etp,
 * sequence parallelism, micro-batch and sequence. */
struct sp_rank_layers {
    const struct sp_layers *layers; /* not a copy */
    struct sp_rank rank;
    struct sp_layer_weights weights;
};
void sp_layers_on_rank(const struct sp_layers *layers, const struct sp_plan *plan,
                       const struct sp_framework *framework, struct sp_rank_layers *mine);

/* Vocabulary as it is stored: a multiple of 128 tp. Megatron-LM. */
double sp_padded_vocab(const struct sp_model *model, const struct sp_plan *plan);

/* A part that large says that more was asked than any machine holds: it stands for "at least". */
#define SP_MOST_BYTES 4e17

/* Bytes of one device of one stage. live = params + grads + optimizer + activations + buffers;
 * reserved adds the allocator's slack, device the runtime's context. */
struct sp_stage_memory {
    int64_t params, grads, optimizer;
    int64_t frozen;      /* of params, what has no gradients */
    int64_t activations; /* kept for the micro-batches in flight, and what the peak adds */
    int64_t transient;   /* of activations, what the peak adds */
    int64_t buffers;     /* the framework's */
    int64_t live, reserved, device;
};

/* Peak of stage `stage` (0-based). States: ZeRO, Rajbhandari et al. 2020, section 5; activations
 * by Korthikanti et al. 2022, section 4, for sp_in_flight micro-batches; the peak is the larger of
 * a layer's backward and the loss. The plan must pass sp_check_plan. The stage must be below pp. */
struct sp_stage_memory sp_memory_of_stage(const struct sp_model *model,
                                          const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework, int64_t stage);

/* The stage with the largest `live` (the first of several), and its memory. The plan must pass
 * sp_check_plan. */
int64_t sp_fullest_stage(const struct sp_model *model, const struct sp_precision *precision,
                         const struct sp_plan *plan, const struct sp_framework *framework,
                         struct sp_stage_memory *memory);

/* Sets live, reserved and device from a stage's parts. bytes. */
void sp_sum_stage_memory(const struct sp_framework *framework, struct sp_stage_memory *memory);

/* What memory needs of a model, tp, cp, ep, micro-batch, sequence and recomputation, for the many
 * plans of a search that share them: weights of a layer, and activations in bytes, kept and at the
 * peak of a layer's backward pass or of the loss. */
struct sp_prepared_memory {
    const struct sp_layer_weights *weights;            /* not a copy */
    double base_bytes;                                 /* of a frozen weight of a layer's matmul */
    double kept[SP_LAYER_KINDS], peak[SP_LAYER_KINDS]; /* bytes, of the kinds that it has */
    double dummy[1 << SP_LAYER_KINDS]; /* bytes, of stages with each set of these, if there are any
                                        */
    double loss, dummy_head;           /* bytes */
};

/* What memory needs of each kind of stage, for the plans that share the split into stages too.
 * Parameters and bytes. */
struct sp_kind_memory {
    double table; /* the gradient of the input table, 2 bytes each, at the end of a backward pass */
    struct sp_kind_weights weights;
    double base_bytes;      /* of a weight of `base` */
    double kept, peak;      /* activations: of one micro-batch, and what the peak adds */
    double dummy, gathered; /* buffers; `gathered` counts with ZeRO 3 */
    double whole; /* what counts instead of it where stages are kept whole; 0: they are not */
    double flat;  /* with ZeRO 3: gradients kept whole while several micro-batches add up */
};

/* sp_memory_of_stage and sp_fullest_stage in steps: preparing a model, then the kinds of stages of
 * a map (room in `kinds` for map->kinds) or of one stage, then one stage of a kind or the fullest
 * of all. */
void sp_prepare_memory(const struct sp_rank_layers *mine, const struct sp_plan *plan,
                       const struct sp_framework *framework, struct sp_prepared_memory *prepared);
void sp_memory_of_kinds(const struct sp_framework *framework,
                        const struct sp_prepared_memory *prepared, const struct sp_stage_map *map,
                        struct sp_kind_memory *kinds);
struct sp_kind_memory sp_kind_memory_of_stage(const struct sp_rank_layers *mine,
                                              const struct sp_plan *plan,
                                              const struct sp_framework *framework, int64_t stage);
struct sp_stage_memory sp_memory_at_stage(const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework,
                                          const struct sp_kind_memory *kind, int64_t stage);
int64_t sp_fullest_prepared(const struct sp_precision *precision, const struct sp_plan *plan,
                            const struct sp_framework *framework, const struct sp_stage_map *map,
                            const struct sp_kind_memory *kinds, struct sp_stage_memory *memory);

/*
 * == The course of a step ==
 *
 * What a device holds over a step: the first one, and those after it.
 */

/* A moment of a step. s after its start; bytes. `first` and `later` are all that is live in the
 * first step and in one after it. */
struct sp_memory_moment {
    double s;
    double activations, gradients;
    double first, later;
};

/* Moments with a name, in the order of the step. */
enum sp_memory_mark {
    SP_AT_START,       /* before the first forward pass */
    SP_AT_ACTIVATIONS, /* activations at their most */
    SP_AT_BACKWARD,    /* the last backward pass is over */
    SP_AT_UPDATE,      /* the optimizer's update, which makes its moments in the first step */
    SP_AT_END,         /* gradients are given back */
    SP_MEMORY_MARKS
};

/* A step as one stage sees it. */
struct sp_memory_course {
    const struct sp_stage_memory *memory; /* its peak, by component */
    const struct sp_precision *precision;
    const struct sp_framework *framework;
    const struct sp_task *task; /* of all stages, in sp_play_pipeline's order */
    int64_t tasks, stage, chunks;
    double update_s; /* the optimizer's */
};

/* The most moments of a course of this many tasks. */
int64_t sp_most_memory_moments(int64_t tasks);

/* Writes the moments of the stage in order of time, at each of which a line of bytes over time
 * bends, and those with a name; returns how many. Activations of a micro-batch come evenly over its
 * forward pass and go evenly over its backward one, which adds what only a backward pass needs;
 * gradients come evenly over the first backward pass of each chunk, unless the framework keeps
 * their room; weights, master copy and buffers stay. The moments of the optimizer are there from
 * the first update on, unless the framework makes them before. Bytes.
 * The largest `later` is at most memory->live: that counts gradients and activations as if both
 * were whole at once, as they are from the second micro-batch on. */
int64_t sp_memory_over_step(const struct sp_memory_course *course, struct sp_memory_moment *moments,
                            struct sp_memory_moment marks[SP_MEMORY_MARKS]);

/* The fullest of the moments: of the first step, or of one after it. The count must be at least 1.
 */
struct sp_memory_moment sp_fullest_moment(const struct sp_memory_moment *moments, int64_t count,
                                          bool first_step);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
