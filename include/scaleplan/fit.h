/* Closed-form verdicts on strategies (`fit`), and critical batches. */
#ifndef SCALEPLAN_FIT_H
#define SCALEPLAN_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/formats.h>
#include <scaleplan/forms.h>
#include <scaleplan/machine.h>
#include <scaleplan/memory.h>
#include <scaleplan/model.h>
#include <scaleplan/network.h>
#include <scaleplan/plan.h>
#include <scaleplan/profile.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Strategies ==
 *
 * What each strategy needs in memory, and whether its communication hides behind its arithmetic.
 *
 * As in the textbook, a layer is its two 16-bit MLP matrices with 4BDF forward and 8BDF backward
 * FLOPs, and only throughput counts (no latency, no stragglers). Source: Austin et al., "How to
 * Scale Your Model" (the scaling book), chapters "Training" and "GPUs". B is the batch of one
 * optimizer step in tokens over all chips.
 *
 * A load is the communication time on one link level over the time of the arithmetic that may hide
 * it. Above 1 the network is the limit.
 */

enum sp_strategy_kind { SP_DP, SP_FSDP, SP_TP, SP_FSDP_TP, SP_PP_FSDP, SP_HSDP, SP_STRATEGIES };

/* Whether collectives on different axes of a mesh run at the same time (second edition of the book)
 * or one after the other (first edition). */
enum sp_overlap { SP_OVERLAP_AXES, SP_OVERLAP_NONE };

/* Link levels that transfer concurrently. */
enum sp_link {
    SP_LINK_ICI,      /* torus axes that FSDP or DP runs on */
    SP_LINK_ICI_TP,   /* torus axes that TP runs on */
    SP_LINK_DOMAIN,   /* NVLink or another scale-up switch */
    SP_LINK_SCALEOUT, /* InfiniBand, Ethernet */
    SP_LINK_DCN,      /* data-centre network between slices */
    SP_LINKS
};

/* Share within which a batch counts as the same one; a larger change would be another problem. */
#define SP_SAME_BATCH 0.05

struct sp_fit_input {
    const struct sp_model *model;
    const struct sp_layers *layers; /* of `model`, listed once (sp_list_model); NULL, or of another
                                       model: listed for each mesh */
    const struct sp_hardware *hw;
    const struct sp_precision *precision;
    double batch_tokens; /* B */
    double seq;          /* T, tokens of one sequence */
    enum sp_remat remat; /* SP_REMATS: per strategy the lightest of none, selective, full that
                            fits */
    int axes;            /* torus axes that DP and FSDP span in the closed forms; 0: all */
    enum sp_overlap overlap;
    int64_t accumulate; /* micro-batches per step, at most one per sequence of a replica; 0: the
                           fewest with the shortest step that fits. Pipelines ignore this: their
                           micro-batches are one sequence */
    bool exact_groups;  /* count (n-1)/n of the gathered bytes over n devices or nodes behind
                           switches, as sp_switch_collective does; the textbook drops that factor */
    bool runs;          /* plans that run: replicas with whole sequences and a batch changed by
                           at most SP_SAME_BATCH, with context parallelism if there are more shards than
                           sequences, and experts on groups if that is faster. false: the
                           textbook, which uses the mean sequences per shard and gathers all
                           experts */
    /* Frameworks whose memory rules are added to the closed forms: for plans with whole weights,
     * and for plans that shard them. NULL: only closed forms. */
    const struct sp_framework *framework, *sharding_framework;
    /* The recipe as `sharding_framework` stores it; NULL: `precision`. Plans that run take it. */
    const struct sp_precision *sharding_precision;
};

/* Quantities that all strategies share. */
struct sp_fit_terms {
    double P, P_active;    /* parameters */
    double P_trained;      /* parameters with gradients, adapters included; P if all are trained */
    double frozen_bytes;   /* of frozen parameters as stored */
    double flops;          /* per step: 6 P_active B without the gradients of frozen weights. A
                              frozen matmul costs 2 forward and 2 backward per parameter, an
                              adapter 2 and 4 */
    double backward_share; /* share of `flops` in the backward pass: 2/3 if all weights are
                              trained */
    double kv_width;       /* keys and values of a layer per token, elements, the mean of all */
    double D, F, L, r;     /* width, active MLP width, layers, E/k. With frozen weights, F and r are
                              scaled so that the backward loads come out right: r by (weight +
                              gradient bytes) / 4 per parameter, F by the FLOPs over those of a
                              matmul without adapters */
    /* Loads of other traffic relative to those of weights and gradients together; 1 if all weights
     * are trained. */
    double gradients_alone, forward_weights, forward_activations;
    double N, M, S; /* chips in total, chips per slice, slices */
    double B, tokens_per_chip;
    double seq; /* T */
    enum sp_dtype dtype;
    double C;                /* FLOP/s of one chip in that dtype */
    int n;                   /* torus axes that DP and FSDP span */
    double W_ici;            /* one ring, both directions, bytes/s; NAN without a torus */
    double W;                /* bytes/s at which DP, FSDP or TP over all chips communicates */
    double W_group;          /* for exactly this group of devices if exact_groups, else W */
    double W_axes;           /* the n torus axes together; NAN without a torus */
    double W_X, W_Y;         /* torus: bandwidth of the FSDP axes and the TP axis of the rule */
    double W_domain, W_node; /* switched networks; NAN on a torus */
    double W_dcn;            /* one chip's egress between slices; NAN for one slice */
    double capacity_bytes;   /* of one chip */
    double state_bytes;      /* of the whole machine */
    double weight_bytes;     /* per parameter of the recipe */
    double grad_bytes;       /* per accumulated gradient: the recipe's, else that of a weight */
    double grad_counted;     /* part of grad_bytes that state_bytes includes */
    enum sp_remat remat;     /* of the input */
    double activation_bytes[SP_REMATS]; /* the same per policy; NAN if unknown */
    double t_math_s;                    /* 6 P_active B / (N C) */
};

/* Loads on each link level in the backward pass. The load of weights falls with the batch, that of
 * activations does not. */
struct sp_loads {
    double weights[SP_LINKS]; /* per transfer of the weights over the link */
    double activations[SP_LINKS];
    double context[SP_LINKS]; /* the part of activations that context parallelism sends */
    double forward_weights, forward_activations; /* forward load over backward load */
    bool backward_only[SP_LINKS]; /* only gradients, reduced once a step during the backward pass */
    double gathers;               /* gathers of the sharded weights per step, >= 1 */
};

/* The formula behind a strategy's T_comms / T_math. */
enum sp_ratio_rule {
    SP_RATIO_ALONE,    /* one chip: 0 */
    SP_RATIO_WEIGHTS,  /* weights over the whole machine: r C / (W B/N) */
    SP_RATIO_WIDTH,    /* TP over the whole machine: N C / (W F) */
    SP_RATIO_SHARDS,   /* torus: shards on their axes, and slices */
    SP_RATIO_TP_SLICE, /* torus: TP over a whole slice, and slices */
    SP_RATIO_AXES,     /* torus: shards and TP on separate axes, and slices */
    SP_RATIO_LEVELS,   /* switches: the load of each link level */
    SP_RATIO_LINKS,    /* torus: the same, with the traffic of context and expert parallelism */
    SP_RATIO_RULES
};

/* The formula of the critical batch. */
enum sp_critical_rule {
    SP_CRITICAL_MESH,   /* loads of this mesh: sp_batch_needed */
    SP_CRITICAL_LINKS,  /* r C / W: sp_critical_tokens_per_chip */
    SP_CRITICAL_SPLIT,  /* the best FSDP x TP split: sp_critical_across_slices */
    SP_CRITICAL_NOTHING /* TP: the batch does not matter */
};

/* Memory that a framework needs beyond states, accumulated gradients and forward activations, by
 * the rules of sp_memory_of_stage. All 0 (slack 1) without a framework. */
struct sp_beside {
    double layer_peak, loss;  /* bytes per token of a micro-batch: of a layer's backward pass; of
                                 the loss */
    double buffers, gathered; /* bytes: weight-gradient buffers; layers gathered by FSDP */
    double slack, context;    /* reserved over live memory; runtime context in bytes */
    double residual;          /* the framework's memory_residual */
};

/* One strategy on one machine. */
struct sp_strategy {
    bool exists; /* false: the strategy is impossible here, and nothing else is set */
    enum sp_strategy_kind kind;
    int64_t dp, fsdp, tp, pp; /* degrees; their product is N */
    int64_t cp, ep;           /* of the dp fsdp ranks: those that share a replica's sequences, and a
                                 set of experts; 1 in the textbook */
    double sequences;         /* sequences of a replica, whole numbers if the input sets `runs` */
    bool runs;                /* sp_check_plan accepts its plan (sp_strategy_plan) */
    int64_t chunks;           /* chunks per pipeline stage, v; 1 without a pipeline */
    int64_t microbatches;     /* m, micro-batches per replica and step */
    bool keeps_weights;       /* pipeline: weights are gathered and gradients reduced once a step,
                                 not per micro-batch */
    double W_X, W_Y;          /* bytes/s of the FSDP and TP groups; NAN where not used */
    double W_P;               /* bytes/s from a stage to the next in a slice; NAN elsewhere */
    struct sp_loads loads;
    double critical_tokens_per_chip;     /* below it the network is the limit; NAN for pure TP */
    double comms_over_math;              /* of the limiting pass */
    double forward_load;                 /* of the forward pass */
    enum sp_critical_rule critical_rule; /* formula for these two */
    enum sp_ratio_rule ratio_rule;
    enum sp_link binding; /* the level with the largest load */
    enum sp_remat remat;  /* policy whose activations are kept */
    double in_flight;     /* share of the batch whose activations are live at once */
    bool is_plan;         /* the next four are those of sp_fullest_stage; false: closed forms */
    double state_bytes;   /* bytes per chip of the fullest stage, as the next five: sharded recipe
                             state */
    double held_bytes;    /* accumulated gradients and gathered weights beyond the recipe state; of
                             a plan all buffers */
    double activation_bytes;
    double peak_bytes;   /* framework's peak extras and buffers */
    double live_bytes;   /* sum of the four above */
    double memory_bytes; /* per device, with the allocator's slack and the runtime context */
    struct sp_beside beside;
    enum sp_verdict verdict;
    bool fits, compute_bound; /* fits: the verdict is not no */
    double t_math_s, t_comms_s, step_s;
    double uneven; /* layers of the fullest stage over the mean, >= 1; 1 without a pipeline */
    double uneven_params; /* parameters of the fullest stage over the mean, embedding and head
                             included */
    double bubble;        /* pipeline idle time over useful time, (p-1)/(v m) */
    double step_with_bubble_s;
};

/* Derives the shared quantities. The chips, the batch and the chip's peak must be positive. */
struct sp_fit_terms sp_fit_terms(const struct sp_fit_input *in);

/* Largest load, or the sum of loads with SP_OVERLAP_NONE; `binding` gets the level of the
 * largest. */
double sp_comms_over_math(const struct sp_loads *loads, enum sp_overlap overlap,
                          enum sp_link *binding);

/* One row of `fit`: the textbook's closed form of a strategy over the whole machine. */
struct sp_strategy sp_fit_strategy(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                                   enum sp_strategy_kind kind);

/* The best plan on the machine's real axes, of all products of degrees, among the strategies whose
 * bit (1u << kind) is in `allowed`: plans that fit first (else the least memory), then the shortest
 * step, the simplest strategy, the least communication. A part of a torus axis is a line without
 * wraparound. `exists` is false if no allowed strategy is possible. */
struct sp_strategy sp_fit_best(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                               unsigned allowed);

/* The same, and the best plan of each allowed strategy alone. */
struct sp_strategy sp_fit_best_of_each(const struct sp_fit_input *in,
                                       const struct sp_fit_terms *terms, unsigned allowed,
                                       struct sp_strategy of[SP_STRATEGIES]);

/* The mesh with the least communication among those that fit on the real axes, however long its
 * step; TP over the whole machine and interleaved pipelines are left out. `exists` is false if none
 * fits. Its comms_over_math is monotone in every rate and in memory. */
struct sp_strategy sp_fit_quietest(const struct sp_fit_input *in, const struct sp_fit_terms *terms);

/* Degrees of a mesh; 0: any. */
struct sp_degrees {
    int64_t dp, fsdp, tp, pp;
};

/* The strategy of a mesh: pipeline x FSDP with stages, else HSDP with replicas of shards or TP,
 * else the one that its degrees imply. */
enum sp_strategy_kind sp_strategy_of_degrees(const struct sp_degrees *degrees);

/* The mesh with these degrees and the least communication, on the real axes or by the closed forms.
 * `exists` is false if there is none. */
struct sp_strategy sp_fit_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                               enum sp_strategy_kind kind, const struct sp_degrees *degrees,
                               bool real_axes);

/* Why no mesh of these degrees exists for a model with layers; SP_MESH_OK: only the machine can
 * rule it out. */
enum sp_mesh_fault { SP_MESH_OK, SP_MESH_TP, SP_MESH_STAGES, SP_MESH_CONVOLUTIONS };
enum sp_mesh_fault sp_mesh_fault(const struct sp_fit_input *in, const struct sp_degrees *degrees);

/* The questions of a decision guide, in order: does a replica fit and its gradient reduction hide;
 * do shards over all chips fit and their gathers hide; then with TP, in groups, with stages. */
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
    bool memory; /* asks whether the strategy fits; else whether its communication hides too */
    struct sp_strategy strategy; /* the strategy that it tests */
    bool yes, ends;              /* ends: this strategy is the answer */
};

/* Answers the questions until one ends the walk; if none does, the last one's `ends` is false.
 * Returns the number of questions answered. */
int sp_fit_path(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                struct sp_decision path[SP_DECISIONS]);

/* Strong scaling: the best plan of each available size, doubling from one chip to the slice of
 * in->hw. Efficiency is chips x step of the smallest size over this one's. Sizes without a possible
 * plan are skipped. Returns the number of points, at most `room`. */
struct sp_fit_point {
    int64_t chips;
    struct sp_strategy best;
    double efficiency, times; /* times: its chips over those of the smallest size */
};
int sp_fit_curve(const struct sp_fit_input *in, struct sp_fit_point *points, int room);

/* Sequences per replica: whole ones if the input says `runs`, else B / (T dp fsdp), below 1 if
 * several chips share one. */
double sp_replica_sequences(const struct sp_fit_input *in, const struct sp_strategy *strategy);

/* The framework that runs a strategy, its recipe, and the strategy as a plan for sp_check_plan
 * and the estimate, with cp ranks per replica and a batch of whole sequences. NULL without a
 * framework. */
const struct sp_framework *sp_strategy_framework(const struct sp_fit_input *in,
                                                 const struct sp_strategy *strategy);
const struct sp_precision *sp_strategy_precision(const struct sp_fit_input *in,
                                                 const struct sp_strategy *strategy);
struct sp_plan sp_strategy_plan(const struct sp_fit_input *in, const struct sp_strategy *strategy);

/* Load of a link over the whole step: weights times their gathers, plus activations. */
double sp_link_load(const struct sp_loads *loads, enum sp_link link);

/* Step time at the given MFU, never below the plan's ideal. s. */
double sp_step_at_mfu_s(const struct sp_strategy *strategy, double mfu);

/* Smallest batch (tokens) at which this mesh is compute-bound with one weight gather per step;
 * INFINITY if none. */
double sp_batch_needed(const struct sp_strategy *strategy, const struct sp_fit_terms *terms,
                       enum sp_overlap overlap);

/* Smallest batch (tokens) at which some mesh of this strategy is compute-bound; `s` gets the
 * mesh. */
double sp_batch_needed_any(const struct sp_fit_input *in, const struct sp_fit_terms *terms,
                           enum sp_strategy_kind kind, bool real_axes,
                           struct sp_strategy *strategy);

/* Fewest available chips on which the strategy's memory fits at the same batch, several slices
 * included; 0 if none (its state does not shrink with chips, or no such size is offered). */
int64_t sp_chips_to_fit(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                        const struct sp_fit_terms *terms);

/* Most available chips that this batch keeps compute-bound: for DP and FSDP by the critical batch
 * on the rings of that size, else by that of this machine. 0 if none, and for several slices. */
int64_t sp_chips_fed(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                     const struct sp_fit_terms *terms);

/* Fewest micro-batches of whole sequences that make the activations fit; 0 if none does, and for
 * pipelines, which fix their own number. */
int64_t sp_accumulation_to_fit(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                               const struct sp_fit_terms *terms);

/* The recomputation policy with the least recomputation that fits, or SP_REMATS if none does. */
enum sp_remat sp_remat_to_fit(const struct sp_strategy *strategy, const struct sp_fit_input *in,
                              const struct sp_fit_terms *terms);

/*
 * == Critical batches and degrees ==
 *
 * Where communication and arithmetic take equally long. Forms of one expression are in
 * forms/critical_batch.def; the rest is here.
 */

/* Largest whole TP degree whose communication hides: within a scale-up domain at its bandwidth,
 * beyond it or on a torus at that of the slowest level. 0 if even TP 1 is bound. */
int64_t sp_usable_tp_degree(const struct sp_fit_terms *terms, int64_t domain);

/* Factor in sp_critical_fsdp_tp: 4 if collectives take turns, 1 if they overlap. */
double sp_turns(enum sp_overlap overlap);

/* Critical tokens per chip of the network between slices, r C / (M W_dcn); 0 for one slice. */
double sp_critical_dcn(const struct sp_fit_terms *terms);

/* Critical tokens per chip of a split that needs i inside a slice and d between slices: the larger
 * if they overlap, else the x that solves 2 sqrt(i / 4x) + d / x = 1. */
double sp_critical_across_slices(double inside_tokens, double between_tokens,
                                 enum sp_overlap overlap);

/* A split of N chips into X shards and TP of Y = N / X, with Y a power of two. */
struct sp_split {
    double fsdp, tp;
    double fsdp_load, tp_load; /* r C X / (W_X B), C Y / (W_Y F) */
    double comms_over_math;    /* the larger, or their sum if axes take turns */
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
