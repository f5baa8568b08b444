/* Memory of one device under a plan, in closed form. */
#ifndef SP_DEVICE_MEMORY_H
#define SP_DEVICE_MEMORY_H

#include <scaleplan/estimate.h>
#include <scaleplan/memory.h>

/* Parts to offload. */
enum sp_offload {
    SP_OFFLOAD_NONE = -1,
    SP_OFFLOAD_OPTIMIZER,
    SP_OFFLOAD_PARAMS,
    SP_OFFLOAD_ACTIVATIONS
};

/* A plan and its machine. */
struct sp_memory_case {
    struct sp_companions companions; /* the model's tuning points here if there are any */
    struct sp_model model;
    struct sp_hardware hw;
    bool has_hw;
    struct sp_precision precision;
    struct sp_params params;
    struct sp_spread spread;
    enum sp_remat remat; /* SP_REMATS: the plan's, which has modules, offload or another policy */
    double batch, seq, devices; /* tokens, tokens; DP x TP x PP x CP */
    double micro_batch;         /* sequences; NAN: a replica's whole batch */
    double checkpoints;         /* per layer, instead of `remat`; or NAN */
    bool by_gpt_rule;           /* Korthikanti's closed form instead of the layer's tensors */
    bool sequence_parallel;
    int offload;                /* enum sp_offload */
    double chunks;              /* of a stage */
    const struct sp_plan *plan; /* the resolved case; NULL: it is made from the members above */
    const struct sp_framework *framework; /* that of the plan */
    bool is_closed; /* micro-batches in flight are given; else the plan's schedule gives them */
};

/* How activation bytes are computed. */
enum sp_activation_rule { SP_ACTIVATIONS_EXACT, SP_ACTIVATIONS_COUNTED, SP_ACTIVATIONS_GPT };

/* Bytes of one device. */
struct sp_device_memory {
    struct sp_footprint states;
    double activations;                /* NAN for a model of unknown shape */
    double token_layer;                /* per token and layer, the same */
    double claimed;                    /* the same, with 0 for NAN */
    double gpt_layer;                  /* per layer and micro-batch by the GPT rule; else NAN */
    double gpt_sequences;              /* of that micro-batch */
    enum sp_gpt_rule gpt;              /* the closed form of gpt_layer */
    double freed;                      /* offloaded bytes, excluded from the other parts */
    bool is_moved;                     /* activations are offloaded */
    double beside[SP_COMPANION_ROLES]; /* companion weights */
    double buffers; /* companions not in the memory of activations, and a teacher's logits */
    double total;   /* states, buffers and claimed activations */
    enum sp_activation_rule rule;
};
struct sp_device_memory sp_memory_of_device(const struct sp_memory_case *plan);

/* The lightest of none, selective and full that fits; none without a machine. */
enum sp_remat sp_lightest_remat(struct sp_memory_case plan, const struct sp_framework *framework);

/* The case as a plan of the framework: the plan's peak on the fullest stage, as in `step`, and its
 * verdict. If the case is not a plan (a model without a shape, a rule or checkpoints in place
 * of the layer's tensors, parts moved away, models alongside), or without a framework, only
 * the closed form. */
struct sp_case_verdict {
    bool is_plan;
    double reserved, device; /* bytes; without a plan NAN and the closed form's total */
    double odds;             /* of running out */
    enum sp_verdict verdict;
};
struct sp_case_verdict sp_judge_case(const struct sp_memory_case *plan,
                                     const struct sp_framework *framework);

/* The case as a plan of the framework, with the framework's own settings; false if it cannot be
 * one. */
bool sp_plan_of_case(const struct sp_memory_case *of, const struct sp_framework *framework,
                     struct sp_plan *plan);

/* Micro-batches in flight on the first stage by the plan's schedule; 1 if the case is not a
 * plan. */
double sp_in_flight_of_case(const struct sp_memory_case *of, const struct sp_framework *framework);

/* State bytes per parameter that devices keep, averaged over trained and frozen ones. */
double sp_kept_per_param(const struct sp_memory_case *plan);

/* Companion weights held by the devices, in bytes. */
double sp_beside_bytes(const struct sp_memory_case *plan);

/* The settings that the plan leaves open: how replicas share states, else recomputation, else
 * nothing. */
struct sp_memory_choice {
    char name[56];
    bool asked; /* the plan as given */
    struct sp_device_memory memory;
    struct sp_case_verdict verdict;
};
enum { SP_MEMORY_CHOICES = 8 };
size_t sp_memory_choices(const struct sp_memory_case *plan, const struct sp_framework *framework,
                         struct sp_memory_choice choices[SP_MEMORY_CHOICES]);

#endif
