/* Time of a training step under a plan by component, gradient buckets, health. */
#ifndef SCALEPLAN_STEP_H
#define SCALEPLAN_STEP_H

#include <stdbool.h>

#include <scaleplan/flops.h>
#include <scaleplan/lengths.h>
#include <scaleplan/memory.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == The step ==
 */

/* Parts of a step on the critical path, in s; they add up to `step`. */
struct sp_step_time {
    double matmul, attention, elementwise; /* forward and backward */
    double recompute;                      /* repeated in the backward pass */
    double launch;                         /* idle between kernels of thin layers */
    double offload;                        /* activations to the host and back, exposed */
    double tp_comm, cp_comm, ep_comm;      /* exposed */
    double dp_comm; /* exposed, for sharded weights and gradients on all networks */
    double pp_comm, bubble;
    double optimizer;
    double straggler; /* wait for the slowest device */
    double step;
};

/* One stage, one micro-batch. s. */
struct sp_stage_time {
    double matmul, attention, elementwise, recompute, launch, offload;
    double tp_comm, cp_comm, ep_comm, fsdp_comm;
    double forward, backward; /* all of the above, by pass */
    double weight_grad;       /* part of the backward pass due to weight gradients */
    double frozen;            /* time saved by gradients not computed; in none of the above */
    double uneven;            /* as of a layer */
};

/* All inputs of an estimate. */
struct sp_step_inputs {
    const struct sp_model *model;
    const struct sp_hardware *hw;
    const struct sp_precision *precision;
    const struct sp_framework *framework;
    const struct sp_profile *profile;
    const struct sp_plan *plan;
    const struct sp_layers *layers; /* sp_list_model of the model, for many estimates of it; NULL:
                                       each lists it anew */
};

/* Forward and backward pass of one layer, one micro-batch. s. */
struct sp_layer_pass {
    double matmul, attention, elementwise, recompute, launch, offload;
    double tp_comm, cp_comm, ep_comm;
    double tp_forward, cp_forward, ep_forward; /* of a forward pass alone, for layers without a
                                                  backward pass */
    double attention_forward;                  /* part of attention in the forward pass */
    double launch_forward;                     /* launches that show in a forward pass alone */
    double weight_grad;                        /* part of the pass due to weight gradients */
    double frozen;                             /* time saved by gradients not computed */
    double opened;         /* cost of dequantising weights in layers without a backward pass */
    double uneven;         /* attention, also when computed again, that varies between rows as
                              the sum of squares of their documents */
    double uneven_forward; /* the same of a forward pass alone */
};

/* Forward times of the input table, the head and the loss. s. */
struct sp_ends_time {
    double embedding, head, loss;
    double frozen_head; /* time saved by gradients of a frozen head */
};

/* FLOPs of an optimizer that makes the updates of matrices orthogonal (Muon). */
struct sp_orthogonal {
    double dense, experts; /* of all matrices of a stage that a rank has without sharding */
    double largest;        /* of one of them */
};

/* Results shared by plans that differ only in dp, pp, ZeRO stage and schedule: they depend on
 * model, machine, batch, tp, cp, ep, micro-batch, sequence, recomputation and formats. */
struct sp_prepared {
    struct sp_orthogonal orthogonal[SP_LAYER_KINDS]; /* of one layer of the kind */
    struct sp_layer_pass layer[SP_LAYER_KINDS];      /* per kind present */
    double layers[SP_LAYER_KINDS];                   /* layers per kind present */
    double still[SP_LAYER_KINDS];                    /* of these, layers without a backward pass */
    unsigned present;                                /* bits of the kinds of layers */
    struct sp_ends_time ends;
    const struct sp_layer_weights *weights; /* not a copy */
    double ideal_s;                         /* sp_ideal_step_s, a lower bound */
    double straggler;                       /* slowdown from waiting for the slowest device */
};
void sp_prepare_step(const struct sp_step_inputs *in, const struct sp_rank_layers *mine,
                     struct sp_prepared *prepared);

/* One micro-batch on a stage of each kind, without ZeRO's part: shared by plans with the same
 * sp_prepared and split into stages. s. */
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

/* Estimates a step. Operators run on the chip's roofline with the profile's efficiencies (matmuls
 * of local shape, attention 3.5 times its forward pass, memory-bound rest), collectives on the
 * networks that their groups span; the schedule uses each stage's own time (GPipe and 1F1B by
 * sp_uneven_pipeline_s, others by closed form); then optimizer and stragglers. Never below
 * sp_ideal_step_s. The plan must pass sp_check_plan. s. */
struct sp_step_time sp_estimate_step(const struct sp_step_inputs *in);

/* The same from the results of sp_prepare_step, and of sp_stage_times; equal in every bit. */
struct sp_step_time sp_estimate_prepared(const struct sp_step_inputs *in,
                                         const struct sp_prepared *prepared);
struct sp_step_time sp_estimate_staged(const struct sp_step_inputs *in,
                                       const struct sp_prepared *prepared,
                                       const struct sp_stage_map *map,
                                       const struct sp_staged *staged);

/* All-reduce of `bytes` per device over the plan's replicas (dp x cp) at the estimate's rates and
 * latencies; 0 for one replica. s. */
double sp_all_reduce_s(const struct sp_step_inputs *in, double bytes);

/* Bytes that a CP rank sends for one micro-batch. */
struct sp_context_bytes {
    double kv;     /* keys and values of its own tokens, 2 bytes per element */
    double grads;  /* their gradients as they go around a ring */
    double inward; /* Ulysses: queries, keys and values, copies of KV heads with them */
    double output; /* the outputs of attention for its own tokens */
    double states; /* of a recurrence, of all ranks */
};

/* Ranks that share a document of `tokens` tokens with dynamic CP: the fewest (a power of two, or
 * cp) such that none has more than row / cp tokens. Both numbers must be at least 1. */
double sp_document_ranks(double tokens, double cp, double row);

/* The same of a token's document, mean over tokens; cp is at least 1. */
double sp_mean_document_ranks(const struct sp_documents *packed, double cp);

/* Expected attention of the busiest replica over the mean. Replicas wait for each other at
 * every micro-batch with ZeRO 3 or expert parallelism, else at the end of a step. 1 without
 * documents, and if context parallelism is dynamic. */
double sp_busiest_replica(const struct sp_step_inputs *in);

/* Whether attention works on blocks of keys and values, whose results are merged and whose
 * gradients go around a ring: the kind ring, and a gather of the framework's kind "blocks". */
bool sp_works_on_blocks(const struct sp_plan *plan, const struct sp_framework *framework);

/* Sums them over all layers of the model. */
struct sp_context_bytes sp_context_bytes(const struct sp_step_inputs *in);

/* One device's matmuls of one shape in a layer or end: `count` products [rows, in] x [in, out] per
 * micro-batch and forward pass. */
struct sp_local_matmul {
    const char *name;
    double layers; /* layers that have it */
    double count, rows, in, out;
    struct sp_work work;     /* of all of them with 2 bytes per element */
    double flops_per_s;      /* chip peak in the matmuls' format */
    double bytes_per_s;      /* memory bandwidth */
    double math_s, memory_s; /* work over that peak, and over the memory bandwidth */
    double intensity, ridge; /* FLOPs/byte: of the work, and of equal times */
};

enum { SP_MOST_LOCAL_MATMULS = SP_LAYER_LISTS * SP_MATMULS };

/* All matmuls of a device under a plan, one entry per shape and name, by kind of layer and then the
 * ends. Returns their number. The plan must pass sp_check_plan. Scaling book, "Rooflines", for the
 * intensity. */
int sp_matmuls_of_plan(const struct sp_step_inputs *in,
                       struct sp_local_matmul list[SP_MOST_LOCAL_MATMULS]);

/* Weak scaling: a plan on 1, 2, 4, ... replicas up to in->hw with a constant batch per replica. */
struct sp_scaled_step {
    int64_t chips;
    double step_s;
    double efficiency;             /* step of the smallest machine over this one */
    double all_reduce_bytes_per_s; /* of sp_curve_bytes over all replicas; NAN for one */
    int64_t device_bytes;          /* memory of the fullest device there */
    enum sp_verdict verdict;       /* whether the plan fits there: fewer replicas share less */
};
extern const double sp_curve_bytes;

/* The points of that curve, at most `room`; returns their number. Unavailable machine sizes and
 * invalid plans are skipped. */
int sp_scale_step(const struct sp_step_inputs *in, struct sp_scaled_step *points, int room);

/* Lower bound of the step over plans that share `prepared` and the machine, whatever dp, pp, vpp,
 * ZeRO stage, shards and schedule: work spread evenly, nothing exposed, no bubble. s. */
double sp_least_step_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared);

/* Lower bound over plans that also share the split into stages: the slowest stage without gaps.
 * s. */
double sp_least_staged_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                         const struct sp_stage_map *map, const struct sp_staged *staged);

/* Lower bound over plans that also share schedule and placement (in->plan's), whatever ZeRO stage
 * and shards: no weights gathered, no gradients exposed. s. */
double sp_least_flow_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                       const struct sp_stage_map *map, const struct sp_staged *staged);

/* FLOPs per step that the backward pass repeats: forward FLOPs of the operators of
 * `plan->recompute` in its share of layers, without the last matmul if the framework stops
 * early. `causal` halves attention scores, as in sp_forward_flops_per_token, but not a
 * state-space scan. */
double sp_step_recomputed_flops(const struct sp_model *model, const struct sp_plan *plan,
                                const struct sp_framework *framework, bool causal);

/* The ideal: 6 P_active B / (N C). s. */
double sp_ideal_step_s(const struct sp_step_inputs *in);

/*
 * == Gradient buckets ==
 *
 * Data parallelism reduces gradients in buckets while the backward pass runs.
 */

/* Inputs of a bucket timeline. */
struct sp_bucket_times {
    double gradient_bytes; /* per device */
    double bucket_bytes;   /* size at which a bucket is sent */
    double backward_s;     /* last micro-batch */
    double full_s, last_s; /* reduction of a full bucket, and of the smaller last one */
    double all_s;          /* reduction of all gradients at once */
};

/* A bucket timeline; times from the start of the backward pass. */
struct sp_buckets {
    double gradient_bytes; /* per device */
    bool exist;            /* there are replicas and gradients to reduce */
    double count;          /* of buckets */
    double bytes;          /* per full bucket; all gradients if one bucket holds them */
    double last_bytes;     /* of the last */
    double backward_s;     /* input */
    double bucket_s;       /* reduction of one bucket */
    double first_launch_s; /* the first bucket is full */
    double end_s;          /* the last bucket is reduced */
    double tail_s;         /* exposed: end_s after the backward pass */
    double naive_s;        /* exposed if all gradients were reduced after the backward pass */
    double hidden;         /* share of the reductions during the backward pass */
};

/* Timeline of equal buckets: gradients arrive evenly over the backward pass, full buckets (and the
 * last) are reduced one after the other. Full bucket k ends at k T_b b / G + t if reduction keeps
 * up, else at T_b b / G + k t. Li et al. 2020, "PyTorch Distributed", section 3.2. */
struct sp_buckets sp_bucket_timeline(const struct sp_bucket_times *times);

/* When bucket k (from 0) is sent and when it is reduced. s. */
struct sp_bucket_span {
    double start_s, end_s;
};
struct sp_bucket_span sp_bucket_span(const struct sp_buckets *buckets, double bucket);

/*
 * == Health ==
 *
 * Is a step healthy: how much of it is communication, and how busy are the devices?
 */

/* Rules of thumb: communication takes less than the first share of a step, devices are busy for
 * more than the second. Training-at-scale notes, "Monitoring". */
extern const double sp_healthy_comm_share, sp_healthy_busy_share;

struct sp_health {
    double comm_s;     /* exposed communication of TP, CP, EP, DP and PP */
    double comm_share; /* of the step */
    double idle_s;     /* nothing runs on the device: bubble, launches, host copies */
    double busy_share; /* of the step; waiting inside a collective counts as busy, as in
                          nvidia-smi */
    bool comm_ok, busy_ok, healthy;
};

/* Health of a step from its components. Shares are NAN for a step of zero time. */
struct sp_health sp_health_of(const struct sp_step_time *time);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
