/* The time of one training step under a plan: by component, the overlap of gradients, its health.
 */
#ifndef SCALEPLAN_STEP_H
#define SCALEPLAN_STEP_H

#include <stdbool.h>

#include <scaleplan/flops.h>
#include <scaleplan/memory.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == The step ==
 *
 * The estimated time of one training step under a plan, by component.
 */

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
/* FLOPs of an optimizer that makes the updates of matrices orthogonal (Muon). */
struct sp_orthogonal {
    double dense, experts; /* of all matrices of a stage that a rank has without sharding */
    double largest;        /* of one of them */
};

struct sp_prepared {
    struct sp_orthogonal orthogonal[SP_LAYER_KINDS]; /* of one layer of the kind */
    struct sp_layer_pass layer[SP_LAYER_KINDS];      /* of the kinds that the model has */
    double layers[SP_LAYER_KINDS];                   /* how many it has */
    double still[SP_LAYER_KINDS];                    /* of these, with a forward pass alone */
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
    struct sp_orthogonal orthogonal;
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
 * below sp_ideal_step_s. The plan must pass sp_check_plan. */
struct sp_step_time sp_estimate_step(const struct sp_step_inputs *in);

/* sp_estimate_step from what sp_prepare_step found, and from what sp_stage_times found too: equal
 * to the last bit. */
struct sp_step_time sp_estimate_prepared(const struct sp_step_inputs *in,
                                         const struct sp_prepared *prepared);
struct sp_step_time sp_estimate_staged(const struct sp_step_inputs *in,
                                       const struct sp_prepared *prepared,
                                       const struct sp_stage_map *map,
                                       const struct sp_staged *staged);

/* All-reduce of this many bytes, the same on every device, over the plan's replicas (dp x cp) at
 * the rates and latencies of the estimate; 0 for one. s. */
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

enum { SP_MOST_LOCAL_MATMULS = SP_LAYER_LISTS * SP_MATMULS };

/* All matmuls of a device under a plan: those of one shape and name once, in the order of the
 * layers' kinds, the ends of the model with them. The plan must pass sp_check_plan. Returns how
 * many. Scaling book, "Rooflines", for the intensity. */
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

/*
 * == Gradient buckets ==
 *
 * Gradient buckets of data parallelism: reduced while the backward pass still runs.
 */

/* What a timeline of buckets is made of. */
struct sp_bucket_times {
    double gradient_bytes; /* of a device */
    double bucket_bytes;   /* that a bucket is sent at */
    double backward_s;     /* of the last micro-batch */
    double full_s, last_s; /* to reduce a full bucket, and what is left over for the last one */
    double all_s;          /* to reduce all gradients in one go */
};

/* A timeline; times count from the start of the backward pass. */
struct sp_buckets {
    double gradient_bytes; /* of a device */
    bool exist;            /* there are replicas, and gradients that wait for a backward pass */
    double count;          /* of buckets */
    double bytes;          /* of a full one; of all gradients where one bucket takes them */
    double last_bytes;     /* of the last */
    double backward_s;     /* as given */
    double bucket_s;       /* to reduce one */
    double first_launch_s; /* the first is full */
    double end_s;          /* the last is reduced */
    double tail_s;         /* exposed: end_s behind the backward pass */
    double naive_s;        /* exposed where all gradients are reduced behind the backward pass */
    double hidden;         /* share of the reductions that runs beside the backward pass */
};

/* The timeline of equal buckets: gradients come evenly over the backward pass, a bucket is sent
 * when it is full or the pass is over, one after the other. Full bucket k ends at k T_b b / G + t
 * where reducing keeps up, else at T_b b / G + k t. Li et al. 2020, "PyTorch Distributed",
 * section 3.2. */
struct sp_buckets sp_bucket_timeline(const struct sp_bucket_times *times);

/* When the k-th bucket, from 0, is sent and when it is reduced; s from the start of the pass. */
struct sp_bucket_span {
    double start_s, end_s;
};
struct sp_bucket_span sp_bucket_span(const struct sp_buckets *buckets, double bucket);

/*
 * == Health ==
 *
 * Whether a step is healthy: how much of it goes into communication, and how busy the devices are.
 */

/* The usual rules of thumb: communication takes less than this share of a step, and devices are
 * busy for more than that one. Training-at-scale notes, "Monitoring". */
extern const double sp_healthy_comm_share, sp_healthy_busy_share;

struct sp_health {
    double comm_s;     /* exposed: what tensor, context, expert, data and pipeline parallelism wait
                          for */
    double comm_share; /* of the step */
    double idle_s;     /* the device runs nothing: bubble, launches, copies to and from the host */
    double busy_share; /* of the step; a kernel that waits in a collective counts as busy, as in
                          nvidia-smi */
    bool comm_ok, busy_ok, healthy;
};

/* The health of a step by its components. Shares are NAN for a step of no time. */
struct sp_health sp_health_of(const struct sp_step_time *time);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
