/* What one device holds of a plan, in closed form. */
#ifndef SP_DEVICE_MEMORY_H
#define SP_DEVICE_MEMORY_H

#include <scaleplan/estimate.h>
#include <scaleplan/memory.h>

/* What is offloaded. */
enum sp_offload {
    SP_OFFLOAD_NONE = -1,
    SP_OFFLOAD_OPTIMIZER,
    SP_OFFLOAD_PARAMS,
    SP_OFFLOAD_ACTIVATIONS
};

/* A plan and its machine. */
struct sp_memory_case {
    struct sp_companions companions; /* the model's tuning points here where there are some */
    struct sp_model model;
    struct sp_hardware hw;
    bool has_hw;
    struct sp_precision precision;
    struct sp_params params;
    struct sp_spread spread;
    enum sp_remat remat;
    double batch, seq, devices; /* tokens, tokens; DP x TP x PP x CP */
    double micro_batch;         /* sequences; NAN: a replica's whole batch */
    double checkpoints;         /* per layer, in place of `remat`; NAN */
    bool by_gpt_rule;           /* Korthikanti's closed form in place of the layer's tensors */
    bool sequence_parallel;
    int offload; /* enum sp_offload */
};

/* Where the bytes of activations come from. */
enum sp_activation_rule { SP_ACTIVATIONS_EXACT, SP_ACTIVATIONS_COUNTED, SP_ACTIVATIONS_GPT };

/* Bytes of one device. */
struct sp_device_memory {
    struct sp_footprint states;
    double activations;                /* NAN: none are claimed for a model of unknown shape */
    double claimed;                    /* the same, 0 where none are */
    double gpt_layer;                  /* one layer of one micro-batch by the GPT rule; else NAN */
    double freed;                      /* what was offloaded: it is in no other part */
    bool is_moved;                     /* activations were */
    double beside[SP_COMPANION_ROLES]; /* weights of the models that work forward beside it */
    double buffers; /* those that are not in the place of activations, and a teacher's logits */
    double total;   /* states, buffers and the activations that are claimed */
    enum sp_activation_rule rule;
};
struct sp_device_memory sp_memory_of_device(const struct sp_memory_case *plan);

/* The lightest of none, selective and full with which the device's memory is enough; none without a
 * machine. */
enum sp_remat sp_lightest_remat(struct sp_memory_case plan);

/* Bytes of state that devices keep of a parameter, in the mean of those that are trained and those
 * that are frozen. */
double sp_kept_per_param(const struct sp_memory_case *plan);

/* Weights of the models beside it that devices hold. */
double sp_beside_bytes(const struct sp_memory_case *plan);

/* What the plan may choose: how replicas share the states, else what is recomputed, else nothing.
 */
struct sp_memory_choice {
    char name[56];
    bool asked; /* the plan's own */
    struct sp_device_memory memory;
};
enum { SP_MEMORY_CHOICES = 8 };
size_t sp_memory_choices(const struct sp_memory_case *plan,
                         struct sp_memory_choice choices[SP_MEMORY_CHOICES]);

#endif
