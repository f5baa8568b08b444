/* Peak memory of a device under a plan, by stage and component, in whole bytes. */
#ifndef SCALEPLAN_PLAN_MEMORY_H
#define SCALEPLAN_PLAN_MEMORY_H

#include <scaleplan/software.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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
    double tokens[SP_SHARDED_BY]; /* of a micro-batch; SP_BY_WIDTH: the whole width of so many */
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
 * a layer's backward and the loss. The plan must pass sp_check_plan. */
struct sp_stage_memory sp_memory_of_stage(const struct sp_model *model,
                                          const struct sp_precision *precision,
                                          const struct sp_plan *plan,
                                          const struct sp_framework *framework, int64_t stage);

/* The stage with the largest `live` (the first of several), and its memory. */
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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
