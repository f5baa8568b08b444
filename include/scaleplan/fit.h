/* The textbook's verdicts behind `scaleplan fit`, and where communication hides. */
#ifndef SCALEPLAN_FIT_H
#define SCALEPLAN_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/formats.h>
#include <scaleplan/forms.h>
#include <scaleplan/machine.h>
#include <scaleplan/model.h>
#include <scaleplan/network.h>
#include <scaleplan/profile.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Strategies ==
 *
 * The closed forms behind `scaleplan fit`: what each way of spreading a model over a machine needs
 * in memory, and whether its communication hides behind its arithmetic.
 *
 * Everything here is the textbook's: a layer is its two MLP matrices in 16-bit, its forward pass
 * costs 4BDF FLOPs and its backward pass 8BDF, throughput terms only (no latency, no stragglers).
 * Source: Austin et al., "How to Scale Your Model" (the scaling book), chapter "Training", and its
 * chapter on GPUs. `B` is the batch of one optimizer step in tokens over all chips.
 *
 * Communication is kept as loads: time on one link level divided by the time of the arithmetic it
 * may hide behind. A load of 1 is the edge between compute- and communication-bound.
 */

enum sp_strategy_kind { SP_DP, SP_FSDP, SP_TP, SP_FSDP_TP, SP_PP_FSDP, SP_HSDP, SP_STRATEGIES };

/* Whether collectives on different axes of a mesh run at the same time (second edition of the book)
 * or one after the other (first edition). */
enum sp_overlap { SP_OVERLAP_AXES, SP_OVERLAP_NONE };

/* Link levels that carry traffic side by side. */
enum sp_link {
    SP_LINK_ICI,      /* torus axes that FSDP or DP runs on */
    SP_LINK_ICI_TP,   /* torus axes that TP runs on */
    SP_LINK_DOMAIN,   /* NVLink or another scale-up switch */
    SP_LINK_SCALEOUT, /* InfiniBand, Ethernet */
    SP_LINK_DCN,      /* data-centre network between slices */
    SP_LINKS
};

struct sp_fit_input {
    const struct sp_model *model;
    const struct sp_hardware *hw;
    const struct sp_precision *precision;
    double batch_tokens; /* B */
    double seq;          /* T, tokens of one sequence */
    enum sp_remat remat; /* SP_REMATS: for each strategy the lightest of none, selective and full
                            that fits, as plans of `step` have it */
    int axes;            /* torus axes that DP and FSDP span in the closed forms; 0: all */
    enum sp_overlap overlap;
    int64_t accumulate; /* gradient accumulation: the micro-batches of a step, at most one for each
                           sequence of a replica; 0: the fewest with the shortest step that fits.
                           A pipeline's are one sequence whatever is said here. */
    bool exact_groups; /* a collective over n devices or nodes behind switches moves (n-1)/n of what
                          it gathers, as in sp_switch_collective; the textbook's rule drops that */
    /* Whose habits count in memory beside the closed forms, as in `step`: of plans that hold their
     * weights whole, and of those that shard them. NULL: the textbook's closed forms alone. */
    const struct sp_framework *framework, *sharding_framework;
};

/* Quantities that all strategies share. */
struct sp_fit_terms {
    double P, P_active;  /* parameters */
    double P_trained;    /* those that have gradients, adapters with them; P where all are */
    double frozen_bytes; /* of the others, as they are stored */
    double flops;        /* of the step: 6 P_active B, less what is not computed for frozen weights.
                            A frozen matmul works 2 forward and 2 backward, an adapter 2 and 4 */
    double backward_share; /* of these FLOPs that the backward pass is: 2/3 where all are trained */
    double D, F, L, r;     /* width, active MLP width, layers, E/k. Where some weights are frozen, F
                              and r are those that make the loads of the backward pass right: r by the
                              bytes of weights and gradients over 4 a parameter, F by the work over that
                              of a matmul without adapters */
    /* Loads of other traffic over those, 1 where all weights are trained: of gradients alone in
     * place of weights and gradients; in the forward pass those of weights and of activations. */
    double gradients_alone, forward_weights, forward_activations;
    double N, M, S; /* chips in all, per slice, slices */
    double B, tokens_per_chip;
    enum sp_dtype dtype;
    double C;                /* FLOP/s of one chip in that dtype */
    int n;                   /* torus axes that DP and FSDP span */
    double W_ici;            /* one ring, both directions, bytes/s; NAN without a torus */
    double W;                /* bytes/s at which DP, FSDP or TP over all chips communicates */
    double W_group;          /* the same of exactly these devices; else W: see exact_groups */
    double W_axes;           /* the n torus axes together; NAN without a torus */
    double W_X, W_Y;         /* torus: bandwidth of the FSDP axes and the TP axis of the rule */
    double W_domain, W_node; /* switched networks; NAN on a torus */
    double W_dcn;            /* one chip's egress between slices; NAN for one slice */
    double capacity_bytes;   /* of one chip */
    double state_bytes;      /* of the whole machine */
    double weight_bytes;     /* of a parameter in the recipe */
    double grad_bytes;       /* of an accumulated gradient: the recipe's, else as the weight */
    double grad_counted;     /* of which the state holds this */
    enum sp_remat remat;     /* of the input */
    double activation_bytes[SP_REMATS]; /* the same for each policy; NAN if unknown */
    double t_math_s;                    /* 6 P_active B / (N C) */
};

/* Loads on each link level in the backward pass: weights' share falls with the batch, activations'
 * does not. */
struct sp_loads {
    double weights[SP_LINKS]; /* of one pass of the weights over the link in a step */
    double activations[SP_LINKS];
    double forward_weights, forward_activations; /* those of the forward pass over these */
    bool
        backward_only[SP_LINKS]; /* gradients alone, summed once a step, behind the backward pass */
    double gathers; /* times a step that the weights of the other links are gathered, >= 1 */
};

/* The formula behind a strategy's T_comms / T_math. */
enum sp_ratio_rule {
    SP_RATIO_ALONE,    /* one chip: 0 */
    SP_RATIO_WEIGHTS,  /* weights over the whole machine: r C / (W B/N) */
    SP_RATIO_WIDTH,    /* TP over the whole machine: N C / (W F) */
    SP_RATIO_SHARDS,   /* torus: shards on their axes, and slices */
    SP_RATIO_TP_SLICE, /* torus: TP over a whole slice, and slices */
    SP_RATIO_AXES,     /* torus: shards and TP on axes of their own, and slices */
    SP_RATIO_LEVELS,   /* switches: what each link level carries */
    SP_RATIO_RULES
};

/* The formula behind its critical batch. */
enum sp_critical_rule {
    SP_CRITICAL_MESH,   /* this very mesh's loads: sp_batch_needed */
    SP_CRITICAL_LINKS,  /* r C / W: sp_critical_tokens_per_chip */
    SP_CRITICAL_SPLIT,  /* the best FSDP x TP split: sp_critical_across_slices */
    SP_CRITICAL_NOTHING /* TP: no batch changes it */
};

/* What a framework keeps of a strategy beside states, gradients that add up and the activations of
 * the forward pass, by the rules of sp_memory_of_stage. All 0 (slack 1) without one. */
struct sp_beside {
    double layer_peak, loss; /* bytes a token of a micro-batch: a layer's backward pass; the loss */
    double buffers, gathered; /* bytes: of weight gradients; layers that FSDP has gathered */
    double slack, context;    /* reserved over live; bytes of the runtime */
};

/* One strategy on one machine. */
struct sp_strategy {
    bool exists; /* false: has no meaning here, nothing else is set */
    enum sp_strategy_kind kind;
    int64_t dp, fsdp, tp, pp; /* degrees; their product is N */
    int64_t chunks;           /* of the pipeline: v; 1 without */
    int64_t microbatches;     /* of a replica's step: m, gradients accumulate over them */
    bool keeps_weights;       /* pipeline: weights are gathered once a step and kept, gradients
                                 reduced once; else both for each micro-batch */
    double W_X, W_Y;          /* bytes/s of the FSDP and TP groups; NAN where not used */
    struct sp_loads loads;
    double critical_tokens_per_chip;     /* below it the network binds; NAN for pure TP */
    double comms_over_math;              /* in the pass that binds */
    double forward_load;                 /* in the forward pass */
    enum sp_critical_rule critical_rule; /* which formulas gave these two */
    enum sp_ratio_rule ratio_rule;
    enum sp_link binding; /* the level with the largest load */
    enum sp_remat remat;  /* whose activations are kept */
    double in_flight;     /* share of the batch whose activations are alive at once */
    double
        state_bytes; /* per chip of the fullest stage, like the next five: the recipe's, sharded */
    double held_bytes; /* gradients that accumulate uncounted, weights that are kept gathered */
    double activation_bytes;
    double peak_bytes;   /* what the framework adds at the peak, and its buffers */
    double live_bytes;   /* the sum of these four */
    double memory_bytes; /* of the device: with the allocator's slack and the runtime */
    struct sp_beside beside;
    bool fits, compute_bound;
    double t_math_s, t_comms_s, step_s;
    double uneven; /* layers of the fullest stage over the mean, >= 1; 1 without a pipeline */
    double uneven_params; /* the same of parameters: the stages at the ends hold the tables too */
    double bubble;        /* pipeline idle time over useful time, (p-1)/(v m) */
    double step_with_bubble_s;
};

/* Derives the shared quantities. The chips, the batch and the chip's peak must be positive. */
struct sp_fit_terms sp_fit_terms(const struct sp_fit_input *in);

/* Largest load of a set, or their sum when axes take turns; `binding` gets the level. */
double sp_comms_over_math(const struct sp_loads *loads, enum sp_overlap overlap,
                          enum sp_link *binding);

/* One row of `fit`: the textbook's closed form of a strategy over the whole machine. */
struct sp_strategy sp_fit_strategy(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                                   enum sp_strategy_kind kind);

/* The best plan on the machine's real axes among the strategies whose bit (1u << kind) is in
 * `allowed`: one that fits (else the one with the least memory), then the shortest step, then the
 * simplest strategy, then the least communication. A part of a torus axis is a line without
 * wraparound. Nothing allowed has a meaning: exists is false. */
struct sp_strategy sp_fit_best(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                               unsigned allowed);

/* The mesh on the machine's real axes with the least communication of all that fit, however long
 * its step: TP beside others, not over the whole machine, and pipelines without interleaving.
 * `exists` is false where none fits. Its comms_over_math is monotone in every rate and in the
 * memory. */
struct sp_strategy sp_fit_quietest(const struct sp_fit_input *in, const struct sp_fit_terms *terms);

/* Degrees of a mesh; 0: any. */
struct sp_degrees {
    int64_t dp, fsdp, tp, pp;
};

/* The mesh of those degrees with the least communication, on the machine's real axes or by the rule
 * of the rows. `exists` is false where none can be laid. */
struct sp_strategy sp_fit_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                               enum sp_strategy_kind kind, const struct sp_degrees *degrees,
                               bool real_axes);

/* The questions of a decision guide, in its order: does a replica fit on a chip and does its sum of
 * gradients hide; do shards over all chips fit and do their gathers hide; else with TP, in groups,
 * with stages. */
enum sp_decision_kind {
    SP_ASK_ONE_CHIP,
    SP_ASK_REPLICAS,
    SP_ASK_SHARDS_FIT,
    SP_ASK_SHARDS,
    SP_ASK_TP,
    SP_ASK_GROUPS,
    SP_ASK_STAGES,
    SP_DECISIONS
};
struct sp_decision {
    enum sp_decision_kind kind;
    bool memory; /* it asks whether the strategy fits; else whether it keeps up too */
    struct sp_strategy strategy; /* that it looks at */
    bool yes, ends;              /* ends: this strategy is the answer */
};

/* Walks the questions until one ends them; the last one's `ends` is false where every strategy
 * waits or does not fit. Returns how many were asked. */
int sp_fit_path(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                struct sp_decision path[SP_DECISIONS]);

/* Strong scaling: the best plan of each size on offer, doubling from one chip up to the slice of
 * in->hw, and its efficiency, chips times step of the first over its own. Returns how many of at
 * most `room`; sizes on which nothing has a meaning are left out. */
struct sp_fit_point {
    int64_t chips;
    struct sp_strategy best;
    double efficiency;
};
int sp_fit_curve(const struct sp_fit_input *in, struct sp_fit_point *points, int room);

/* Sequences of one replica's batch, B / (T dp fsdp); below 1 where several chips share one. */
double sp_replica_sequences(const struct sp_fit_input *in, const struct sp_strategy *strategy);

/* Load of a link over the whole step: weights as often as they are gathered, and activations. */
double sp_link_load(const struct sp_loads *loads, enum sp_link link);

/* Time of the step at the stated MFU, never faster than the plan's ideal. s. */
double sp_step_at_mfu_s(const struct sp_strategy *strategy, double mfu);

/* Smallest batch in tokens that makes this very mesh compute-bound where its weights are gathered
 * once a step; INFINITY when no batch does. */
double sp_batch_needed(const struct sp_strategy *strategy, const struct sp_fit_terms *terms,
                       enum sp_overlap overlap);

/* Smallest batch at which some mesh of this strategy is compute-bound; `s` gets the mesh. */
double sp_batch_needed_any(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                           enum sp_strategy_kind kind, bool real_axes,
                           struct sp_strategy *strategy);

/* Fewest chips on offer on which the strategy's memory fits at the same batch, whole slices over
 * the data-centre network included; 0 when no number does (its state does not shrink with chips, or
 * the machine is not sold in that size). */
int64_t sp_chips_to_fit(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                        const struct sp_fit_terms *terms);

/* Most chips on offer that this batch keeps compute-bound: for DP and FSDP by the critical batch of
 * that size's own rings, else by this machine's. 0 when none, and for several slices. */
int64_t sp_chips_fed(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                     const struct sp_fit_terms *terms);

/* Fewest micro-batches of whole sequences of which one's activations fit beside what a chip holds;
 * 0 when no number does, and for pipelines, whose micro-batches are counted already. */
int64_t sp_accumulation_to_fit(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                               const struct sp_fit_terms *terms);

/* The checkpoint policy with the least recomputation that fits, or SP_REMATS when none does. */
enum sp_remat sp_remat_to_fit(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                              const struct sp_fit_terms *terms);

/*
 * == Critical batches and degrees ==
 *
 * Where communication and arithmetic take equally long. Their closed forms are rows of
 * forms/critical.def; here is what is more than an expression.
 */

/* The largest whole TP degree that this machine hides: inside a scale-up domain at its bandwidth,
 * beyond it or on a torus at that of the slowest level. 0 when even TP of 1 would wait. */
int64_t sp_usable_tp_degree(const struct sp_fit_terms *terms, int64_t domain);

/* What sp_critical_fsdp_tp multiplies by: 4 where collectives take turns, 1 where they overlap. */
double sp_turns(enum sp_overlap overlap);

/* Tokens per chip that the network between slices needs, r C / (M W_dcn); 0 for one slice. */
double sp_critical_dcn(const struct sp_fit_terms *terms);

/* Tokens per chip below which a split waits that needs i of them inside a slice and d between
 * slices: the larger, or in turn the x at which 2 sqrt(i / 4x) + d / x is 1. */
double sp_critical_across_slices(double inside_tokens, double between_tokens,
                                 enum sp_overlap overlap);

/* A split of N chips into X shards and a TP group of Y = N / X, Y a power of two. */
struct sp_split {
    double fsdp, tp;
    double fsdp_load, tp_load; /* r C X / (W_X B), C Y / (W_Y F) */
    double comms_over_math;    /* their largest, or their sum when axes take turns */
};

/* The power-of-two split with the least communication, on axes of W_X and W_Y bytes/s. Y runs from
 * 1 to the largest power of two that divides N. Scaling book, "Training", mixed FSDP and TP. */
struct sp_split sp_best_pow2_split(double batch_tokens, int64_t chips, double d_ff,
                                   double flops_per_s, double fsdp_bytes_per_s,
                                   double tp_bytes_per_s, double expert_ratio,
                                   enum sp_overlap overlap);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
