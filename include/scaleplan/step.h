/* The estimated time of one training step under a plan, by component. */
#ifndef SCALEPLAN_STEP_H
#define SCALEPLAN_STEP_H

#include <scaleplan/plan_memory.h>
#include <scaleplan/roofline.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* One step, in seconds, on the critical path; the parts add up to `step`. */
struct sp_step_time {
    double matmul, attention, elementwise; /* forward and backward */
    double recompute;                      /* what the backward pass runs again */
    double launch;                         /* waiting for launches in thin layers */
    double offload;                        /* activations to the host and back, exposed */
    double tp_comm, cp_comm, ep_comm;      /* exposed */
    double dp_comm; /* exposed, sharded weights and gradients, all networks */
    double pp_comm, bubble;
    double optimizer;
    double straggler; /* waiting for the slowest device */
    double step;
};

/* What one stage does for one micro-batch. s. */
struct sp_stage_time {
    double matmul, attention, elementwise, recompute, launch, offload;
    double tp_comm, cp_comm, ep_comm, fsdp_comm;
    double forward, backward; /* all of the above, by pass */
    double weight_grad;       /* what the weight gradients add to the backward pass */
    double frozen;            /* what gradients that are not made would add, in none of the above */
};

/* Everything an estimate is made of. */
struct sp_step_inputs {
    const struct sp_model *model;
    const struct sp_hardware *hw;
    const struct sp_precision *precision;
    const struct sp_framework *framework;
    const struct sp_profile *profile;
    const struct sp_plan *plan;
};

/* Forward and backward of one layer for one micro-batch. s. */
struct sp_layer_pass {
    double matmul, attention, elementwise, recompute, launch, offload;
    double tp_comm, cp_comm, ep_comm;
    double tp_forward;  /* of tp_comm, the forward pass's; of layers that may have it alone */
    double weight_grad; /* what the pass would be shorter by without weight gradients */
    double frozen;      /* what the gradients that are not made would take */
    double opened;      /* what widening weights adds where no gradient passes it */
};

/* The input table, the head and the loss: forward times. s. */
struct sp_ends_time {
    double embedding, head, loss;
    double frozen_head; /* of the head's gradients, those that are not made */
};

/* What depends on the model, the machine, the batch, tp, cp, ep, micro-batch, sequence,
 * recomputation and formats alone, and serves all plans that share them: dp, pp, ZeRO stage and
 * schedule may differ. */
struct sp_prepared {
    struct sp_layer_pass layer[SP_LAYER_KINDS]; /* of the kinds that the model has */
    double layers[SP_LAYER_KINDS];              /* how many it has */
    double still[SP_LAYER_KINDS];               /* of these, with a forward pass alone */
    struct sp_ends_time ends;
    const struct sp_layer_weights *weights; /* not a copy */
    double ideal_s;                         /* no step is shorter: sp_ideal_step_s */
    double straggler;                       /* slowdown by waiting for the slowest device */
};
void sp_prepare_step(const struct sp_step_inputs *in, const struct sp_rank_layers *mine,
                     struct sp_prepared *prepared);

/* One micro-batch on a stage of each kind, without what depends on ZeRO: serves all plans that
 * share an sp_prepared and the split into stages. s. */
struct sp_kind_time {
    struct sp_stage_time time; /* fsdp_comm, forward and backward are not set */
    double busy_s;             /* sum of its parts */
    struct sp_kind_weights weights;
};
struct sp_staged {
    struct sp_kind_time kind[SP_STAGE_KINDS];
    double hop_s; /* one send between stages */
};
void sp_stage_times(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                    const struct sp_stage_map *map, struct sp_staged *staged);

/* The whole step. Operators on the roofline of the chip with the profile's efficiencies (matmuls
 * with their local shapes, attention 3.5 times its forward pass, memory-bound rest), collectives on
 * the networks that their groups span, the pipeline's schedule over the stages' own times (GPipe
 * and 1F1B by sp_uneven_pipeline_s, the others by their closed forms), optimizer, stragglers. Never
 * below sp_ideal_step_s. The plan must pass sp_check_plan; pp at most SP_MAX_STAGES. */
struct sp_step_time sp_estimate_step(const struct sp_step_inputs *in);

/* sp_estimate_step from what sp_prepare_step found, and from what sp_stage_times found too: equal
 * to the last bit. */
struct sp_step_time sp_estimate_prepared(const struct sp_step_inputs *in,
                                         const struct sp_prepared *prepared);
struct sp_step_time sp_estimate_staged(const struct sp_step_inputs *in,
                                       const struct sp_prepared *prepared,
                                       const struct sp_stage_map *map,
                                       const struct sp_staged *staged);

/* All-reduce of so many bytes, the same on every device, over the plan's replicas (dp x cp) at the
 * rates and latencies of the estimate; 0 for one. s. */
double sp_all_reduce_s(const struct sp_step_inputs *in, double bytes);

/* A device's part of matmuls of one shape in one layer or at an end of the model: `count` products
 * [rows, in] x [in, out] of a micro-batch's forward pass. */
struct sp_local_matmul {
    const char *name;
    double layers; /* of the model that have it */
    double count, rows, in, out;
    struct sp_work work;     /* of all of them, with 2 bytes an element. FLOPs, bytes */
    double flops_per_s;      /* of a chip in the format that they are multiplied in */
    double bytes_per_s;      /* of its memory */
    double math_s, memory_s; /* the work at that peak, and at the memory's bandwidth */
    double intensity, ridge; /* FLOPs/byte: of the work, and where both times are equal */
};

/* All matmuls of a device under a plan that passes sp_check_plan: those of one shape and name once,
 * in the order of the layers' kinds, the ends of the model with them. Returns how many. Scaling
 * book, "Rooflines", for the intensity. */
enum { SP_MOST_LOCAL_MATMULS = SP_LAYER_LISTS * SP_MATMULS };
int sp_matmuls_of_plan(const struct sp_step_inputs *in,
                       struct sp_local_matmul list[SP_MOST_LOCAL_MATMULS]);

/* Weak scaling: a plan on machines of 1, 2, 4, ... replicas up to in->hw, the batch of a replica
 * held. */
struct sp_scaled_step {
    int64_t chips;
    double step_s;
    double efficiency;             /* step of the smallest machine over this one's */
    double all_reduce_bytes_per_s; /* of sp_curve_bytes over all replicas; NAN for one */
};
extern const double sp_curve_bytes;

/* The points of that curve; sizes that the machine does not come in, or where the plan is not
 * valid, are left out. Returns how many of at most `room`. */
int sp_scale_step(const struct sp_step_inputs *in, struct sp_scaled_step *points, int room);

/* No plan that shares `prepared` and the machine has a shorter step, whatever its dp, pp, vpp, ZeRO
 * stage, shards and schedule: all stages' work spread evenly, nothing exposed, no bubble. s. */
double sp_least_step_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared);

/* No plan that shares the split into stages too has a shorter step: the slowest stage works without
 * a gap. s. */
double sp_least_staged_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                         const struct sp_stage_map *map, const struct sp_staged *staged);

/* No plan that shares the schedule and the placement (in->plan's) too has a shorter step, whatever
 * its ZeRO stage and shards: no weights gathered, no gradients exposed. s. */
double sp_least_flow_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                       const struct sp_stage_map *map, const struct sp_staged *staged);

/* FLOPs of a step that the backward pass runs again: the forward FLOPs of the operators of
 * `plan->recompute`, of the share of layers it applies to, without a last matmul where the
 * framework stops before it. `causal` counts half of the attention scores, as
 * sp_forward_flops_per_token does; a state-space scan has no half. FLOPs. */
double sp_step_recomputed_flops(const struct sp_model *model, const struct sp_plan *plan,
                                const struct sp_framework *framework, bool causal);

/* 6 P_active B / (N C): what `fit` calls the ideal. s. */
double sp_ideal_step_s(const struct sp_step_inputs *in);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
