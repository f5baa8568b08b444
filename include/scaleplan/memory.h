/* Memory of a device: closed forms, a plan's peak by stage, and its course over a step. */
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
 * == Verdicts ==
 */

/* Whether a plan fits: with a chance of running out below 15 %, of 15 to 40 %, or above. The words
 * are sp_verdict_names. */
enum sp_verdict { SP_VERDICT_YES, SP_VERDICT_TIGHT, SP_VERDICT_NO, SP_VERDICTS };

/* The verdict on a device of `capacity` bytes whose plan is estimated to need `device`, where the
 * standard deviation of ln(measured / estimated) is `residual`; 0: no error, so that no verdict is
 * tight. */
enum sp_verdict sp_memory_verdict(double residual, double device, double capacity);

/* Most bytes of a plan whose verdict is `worst` or better; INFINITY for SP_VERDICT_NO. */
double sp_most_bytes(double residual, double capacity, enum sp_verdict worst);

/* Probability that a device of `capacity` bytes runs out of memory when the estimate is `device`
 * bytes. ln(measured / estimated) is taken as normal with the framework's memory_residual.
 * Values below 1e-6, which no number of runs supports, become 0; without a residual the result
 * is 0 or 1. */
double sp_oom_odds(const struct sp_framework *framework, double device, double capacity);

/*
 * == Closed forms ==
 */

/* How a model is divided. Every degree is >= 1. */
struct sp_spread {
    double dp; /* N_d: replicas that ZeRO shards over */
    double tp, pp, cp;
    double ep;           /* part of the dp cp tp / etp ranks */
    double etp;          /* TP inside an expert; 0: tp, as of all weights */
    int zero;            /* 0: replicated; 1: optimizer; 2: also gradients; 3: also weights */
    double microbatches; /* per step, accumulated; 0: one */
    double microbatches_in_flight; /* on the fullest stage; 1 without a pipeline */
};

/* Bytes per device. */
struct sp_footprint {
    double params, grads, optimizer; /* optimizer: master copy and moments */
    double activations;
    double total;
};

/* State bytes per device: ZeRO's division by N_d after TP, PP and (routed experts) EP x ETP.
 * `params` counts all parameters, `experts` the routed ones among them. The product dp cp tp / etp
 * must be a multiple of ep. EP's ranks are part of it: the rest share an expert's states, so that
 * ZeRO divides both kinds by dp cp tp in total. Rajbhandari et al. 2020, section 5: DP (w+g+K)P;
 * stage 1 (w+g)P + KP/N_d; stage 2 wP + (g+K)P/N_d; stage 3 (w+g+K)P/N_d. */
struct sp_footprint sp_state_footprint(double params, double experts,
                                       const struct sp_precision *precision,
                                       const struct sp_spread *spread);

/* The same with frozen weights: trained ones by the recipe, frozen ones as stored, without
 * gradients and optimizer. bytes. */
struct sp_footprint sp_tuned_footprint(const struct sp_params *params,
                                       const struct sp_precision *precision,
                                       const struct sp_spread *spread);

/* State bytes of a whole model: the recipe's per trained parameter, and frozen weights as
 * stored. */
double sp_state_bytes(const struct sp_params *params, const struct sp_precision *precision);

/* Activation bytes per token and layer: 2-byte activations, fused attention, the whole width on one
 * chip. NAN for a size-only model and for policies from SP_REMATS on. Scaling book, "Training"
 * (mlp, dots, full); Korthikanti et al. 2022, section 4, with grouped queries and gated MLPs (none,
 * selective). */
double sp_activation_bytes_per_token_layer(const struct sp_model *model, enum sp_remat remat);

/* A TP rank's activation bytes without sequence parallelism over those with it, which divides all
 * of them by tp: 1 + (tp - 1) x the share of tensors that are not divided by width. NAN as above.
 * Korthikanti et al. 2022, equations 2 and 4. */
double sp_undivided_activations(const struct sp_model *model, enum sp_remat remat, double tp);

/* Activation bytes of one GPT layer per micro-batch with 16-bit values, stored scores and dropout:
 * s tokens, b sequences, h width, a heads, t TP degree. Korthikanti et al. 2022, table 2. */
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

/* Activation bytes of a device whose stages share `layers` layers of `layer_bytes` per micro-batch:
 * layers layer_bytes / pp per micro-batch in flight. */
double sp_stage_activation_bytes(double layers, double layer_bytes, const struct sp_spread *spread);

/* The same for micro-batches of `tokens` tokens of a model, whose layers TP and CP divide:
 * sp_activation_bytes_per_token_layer / (tp cp) per token. */
double sp_activation_footprint(const struct sp_model *model, enum sp_remat remat, double tokens,
                               const struct sp_spread *spread);

/*
 * == The peak of a plan ==
 *
 * Peak memory of a device by stage and component, in whole bytes.
 */

/* Weights of one device, by the ranks that share them. Parameters. */
struct sp_stage_weights {
    double dense, experts;
};

/* Weights of one device of a stage before sharding, and among them the trained ones, the frozen
 * ones of layer matmuls, and those of layers that no gradient passes. Parameters. */
struct sp_kind_weights {
    struct sp_stage_weights held, trained, base, still;
};

/* Weights of one device before data-parallel sharding, and among them: those that FSDP gathers (the
 * vocabulary unpadded); trained ones, adapters included; frozen ones of layer matmuls, which may be
 * stored in fewer bits. Parameters. */
struct sp_rank_weights {
    double held, gathered, trained, base;
};
struct sp_list_weights {
    struct sp_rank_weights dense, experts;
    struct sp_rank_weights shared; /* of one set of a shared block */
    double sets;                   /* sets of weights over all layers of the kind */
};

/* Weights of one device per layer of each kind, and per end of the model. */
struct sp_layer_weights {
    struct sp_list_weights of[SP_LAYER_LISTS];
    struct sp_rank_weights tied; /* the head's copy of a tied table */
    bool all_trained;
    bool still_base; /* the base is the still layers' part */
};

/* What a plan decides about one device's part of a layer. */
struct sp_rank {
    double tokens[SP_SHARDED_BY]; /* per micro-batch; SP_BY_WIDTH: tokens whose whole width equals
                                     the rank's part */
    double tp, ep, etp;
    double from;      /* encoder tokens per token of the layer */
    double imbalance; /* rows of the busiest expert over the mean */
    double computed;  /* the same with padding that experts compute */
};
/* A model's layers on one device: shared by all plans with the same model, tp, cp, ep, etp,
 * sequence parallelism, micro-batch and sequence. */
struct sp_rank_layers {
    const struct sp_layers *layers; /* not a copy */
    struct sp_rank rank;
    struct sp_layer_weights weights;
};
void sp_layers_on_rank(const struct sp_layers *layers, const struct sp_plan *plan,
                       const struct sp_framework *framework, struct sp_rank_layers *mine);

/* Vocabulary as stored: rounded up to a multiple of 128 tp. Megatron-LM. */
double sp_padded_vocab(const struct sp_model *model, const struct sp_plan *plan);

/* Sums of memory are capped at this value, beyond any machine, so that int64_t never overflows:
 * read it as "at least". */
#define SP_MOST_BYTES 4e17

/* Bytes of one device of a stage. live = params + grads + optimizer + activations + buffers;
 * reserved adds the allocator's slack, device the runtime context. */
struct sp_stage_memory {
    int64_t params, grads, optimizer;
    int64_t frozen;      /* part of params without gradients */
    int64_t activations; /* of the micro-batches in flight, plus `transient` */
    int64_t transient;   /* part of activations live only at the peak */
    int64_t buffers;     /* the framework's */
    int64_t live, reserved, device;
};

/* Peak memory of stage `stage` (0-based). States: Rajbhandari et al. 2020, section 5. Activations:
 * Korthikanti et al. 2022, section 4, for sp_in_flight micro-batches, plus the larger of a layer's
 * backward pass and the loss. The stage must be below pp. The plan must pass sp_check_plan. */
struct sp_stage_memory sp_memory_of_stage(const struct sp_model *model,
                                          const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework, int64_t stage);

/* The stage with the largest `live` (first of equals), and its memory; `listed` has the layers of
 * a model that is used for many plans (sp_list_model). The plan must pass sp_check_plan. */
int64_t sp_fullest_stage(const struct sp_model *model, const struct sp_precision *precision,
                         const struct sp_plan *plan, const struct sp_framework *framework,
                         struct sp_stage_memory *memory);
int64_t sp_fullest_listed(const struct sp_layers *layers, const struct sp_precision *precision,
                          const struct sp_plan *plan, const struct sp_framework *framework,
                          struct sp_stage_memory *memory);

/* Sets live, reserved and device from a stage's parts. bytes. */
void sp_sum_stage_memory(const struct sp_framework *framework, struct sp_stage_memory *memory);

/* Activations that a layer keeps, by the operators whose recomputation drops them: one row per enum
 * sp_operator, and these. bytes. */
enum {
    SP_KEPT_ALWAYS = SP_OPERATORS, /* whatever is recomputed */
    SP_KEPT_UNLESS_NORMS,          /* dropped if attention is recomputed and the norms with it */
    SP_KEPT_INPUT,                 /* the layer's, to which a policy may add block outputs */
    SP_KEPT_ROWS
};
struct sp_kept_bytes {
    double of[SP_KEPT_ROWS];
    double qkv_input; /* part of SP_OP_NORMS */
    double fc1_input; /* part of SP_OP_EXPERT_UP */
};

/* Memory figures that many plans of a search share (same model, tp, cp, ep, micro-batch, sequence,
 * recomputation): weights per layer, and bytes of activations kept and at the peak of a layer's
 * backward pass or of the loss. */
struct sp_prepared_memory {
    const struct sp_rank_layers *mine;                 /* not a copy */
    double base_bytes;                                 /* per frozen weight of a layer matmul */
    double layers;                                     /* of the model */
    double sent;                                       /* bytes of a micro-batch between stages */
    struct sp_kept_bytes rows[SP_LAYER_KINDS];         /* per kind of layer present, and below */
    double backward[SP_LAYER_KINDS];                   /* bytes at a peak without recomputation */
    double kept[SP_LAYER_KINDS], peak[SP_LAYER_KINDS]; /* bytes with the plan's recomputation */
    double dummy[1 << SP_LAYER_KINDS]; /* bytes for stages with each set of layer kinds */
    double head, loss, dummy_head;     /* bytes; of the loss without modules of further tokens */
};

/* The same per kind of stage, for plans that also share the split into stages. Parameters and
 * bytes. */
struct sp_kind_memory {
    double table; /* the gradient of the input table, 2 bytes each, at the end of a backward pass */
    struct sp_kind_weights weights;
    double layers, of_model; /* layers of the stage, and of all stages */
    bool first, last;
    double sent;       /* bytes of a micro-batch between stages; 0: its buffers are not counted */
    double base_bytes; /* per weight of `base` */
    double kept, peak; /* activations: per micro-batch, and added at the peak */
    double dummy, gathered; /* buffers; `gathered` counts with ZeRO 3 only */
    double whole;           /* replaces `gathered` if stages are kept whole; else 0 */
    double flat;            /* with ZeRO 3: gradients kept whole during accumulation */
};

/* sp_memory_of_stage and sp_fullest_stage in steps: prepare a model; then the kinds of stages of a
 * map (`kinds` has room for map->kinds) or of one stage; then evaluate one stage of a kind, or find
 * the fullest. */
void sp_prepare_memory(const struct sp_rank_layers *mine, const struct sp_plan *plan,
                       const struct sp_framework *framework, struct sp_prepared_memory *prepared);
/* Share of what layers keep without recomputation that they keep with the plan's. */
double sp_kept_share(const struct sp_model *model, const struct sp_plan *plan,
                     const struct sp_framework *framework);
void sp_memory_of_kinds(const struct sp_framework *framework,
                        const struct sp_prepared_memory *prepared, const struct sp_stage_map *map,
                        struct sp_kind_memory *kinds);

/* Prepares the same model and kinds for the plan with another recomputation, which changes only
 * what is kept and the peaks. */
void sp_recompute_memory(const struct sp_plan *plan, const struct sp_framework *framework,
                         const struct sp_stage_map *map, struct sp_prepared_memory *prepared,
                         struct sp_kind_memory *kinds);
struct sp_kind_memory sp_kind_memory_of_stage(const struct sp_rank_layers *mine,
                                              const struct sp_prepared_memory *prepared,
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
 * A device's memory over time, in the first step and in later ones.
 */

/* A moment: s after the start of the step; live bytes in the first step and in later ones. */
struct sp_memory_moment {
    double s;
    double activations, gradients;
    double first, later;
};

/* Named moments, in order. */
enum sp_memory_mark {
    SP_AT_START,       /* before the first forward pass */
    SP_AT_ACTIVATIONS, /* most activations */
    SP_AT_BACKWARD,    /* end of the last backward pass */
    SP_AT_UPDATE,      /* optimizer update; the first one creates the moments */
    SP_AT_END,         /* gradients released */
    SP_MEMORY_MARKS
};

/* A step as one stage sees it. */
struct sp_memory_course {
    const struct sp_stage_memory *memory; /* its peak, by component */
    const struct sp_precision *precision;
    const struct sp_framework *framework;
    const struct sp_task *task; /* of all stages, in the order of sp_play_pipeline */
    int64_t tasks, stage, chunks;
    double update_s; /* duration of the optimizer update */
};

/* Upper bound of the moments for this many tasks. */
int64_t sp_most_memory_moments(int64_t tasks);

/* Writes the stage's moments in order of time (every point where memory over time bends, and the
 * named ones); returns their number. Activations of a micro-batch grow linearly over its forward
 * pass and shrink over its backward pass, which adds what only a backward pass needs. Gradients
 * grow over the first backward pass of each chunk, unless the framework keeps their memory.
 * Weights, master copy and buffers are constant; optimizer moments exist from the first update,
 * unless the framework creates them earlier. The largest `later` is at most memory->live, which
 * counts all gradients and activations as live at once (true from the second micro-batch on). */
int64_t sp_memory_over_step(const struct sp_memory_course *course, struct sp_memory_moment *moments,
                            struct sp_memory_moment marks[SP_MEMORY_MARKS]);

/* The fullest moment, in the first step or a later one. The count must be at least 1. */
struct sp_memory_moment sp_fullest_moment(const struct sp_memory_moment *moments, int64_t count,
                                          bool first_step);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
