/* Frameworks' memory and timing rules, calibrated profiles, prediction errors. */
#ifndef SCALEPLAN_PROFILE_H
#define SCALEPLAN_PROFILE_H

#include <stddef.h>

#include <scaleplan/plan.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Frameworks and profiles ==
 */

/* How CP ranks gather keys and values, and what hides that; sp_cp_gather_names. */
enum sp_cp_gather {
    SP_CP_GATHER_WHOLE,     /* before attention: nothing */
    SP_CP_GATHER_BLOCKS,    /* attention goes block by block, its own first: that block. Their
                               results are merged, gradients go around a ring */
    SP_CP_GATHER_HEADS,     /* one KV head after the other: attention of the one before */
    SP_CP_GATHER_SCHEDULED, /* where a compiler puts it: the matmuls that do not wait for it */
    SP_CP_GATHERS
};

/* A framework's rules, read from its code; nothing here is fitted to times. */
struct sp_framework {
    char name[32];
    char family[32];       /* frameworks of a family borrow each other's constants */
    char overlap[32];      /* how collectives run behind matmuls: fsdp1, fsdp2, ...; its frameworks
                              share those constants; "": as the family */
    char precision[32];    /* default recipe */
    int balance;           /* enum sp_balance */
    double mlp_copies;     /* d_ff-wide tensors of a gated MLP kept beyond gate, up and product */
    double norm_copies;    /* 2-byte copies of its input that each RMSNorm keeps beyond that */
    bool packs_head;       /* a quantised base includes the head */
    double widened_copies; /* 16-bit copies of a quantised matmul's weights live during its use; 0:
                              one */
    bool keeps_frozen_inputs; /* keeps inputs of frozen matmuls, which no gradient needs */
    bool narrow_inputs;       /* keeps inputs of 8- and 4-bit matmuls in that format */
    double qkv_copies;        /* further kept copies of q, k and v */
    bool keeps_gathered;      /* keeps gathered inputs of TP matmuls, not only the shards */
    int cp_gather;            /* enum sp_cp_gather */
    double ring_grad_bytes;   /* bytes per gradient of a key or value that goes around a ring */
    bool cp_uneven;           /* CP ranks hold consecutive tokens, of which the last ones attend to
                                 most; else each holds an early and a late part */
    int rounds;               /* enum sp_rounds */
    bool copies_kv_heads;     /* Ulysses with fewer KV heads than ranks copies them */
    bool stops_early; /* recomputation stops at the last needed tensor and skips the last matmul */
    bool overlaps_tp; /* TP collectives overlap matmuls: see tp_exposed */
    bool overlaps_sends; /* sends between stages overlap other chunks if there are any */
    double attention; /* published share of the 16-bit peak of its attention kernel; 0: unknown */
    bool fp8_gathers; /* gathers weights of 8-bit matmuls in 8 bits */
    bool ampere_attention;   /* the kernel was tuned for Ampere: its share falls on faster chips */
    double logit_bytes;      /* live bytes per logit in the loss */
    double loss_bytes;       /* read and written per logit by the loss and its gradient */
    bool dummy_wgrads;       /* one weight-gradient buffer per weight shape (TransformerEngine) */
    double memory_passes;    /* of its elementwise kernels, relative to fully fused ones; 0:
                                unknown */
    double layer_operations; /* operations that the host launches per layer and forward pass; 0: not
                                counted */
    double operation_cost;   /* host time of one of them over that of a plain one, >= 1 */
    double gathered_layers;  /* FSDP: gathered layers live at once */
    double gathered_grads;   /* their unsharded gradients live at once, in 4-byte elements */
    double reserved_factor;  /* allocator: reserved over live memory */
    double memory_residual;  /* standard deviation of ln(predicted / measured) of peak memory */
    double context_bytes;    /* runtime context and communicator buffers, on top of reserved
                                memory */
    double reduced_gradient_bytes; /* bytes of a gradient when ranks add it up; 0: as the recipe
                                      stores it, and 2 with ZeRO 3 */
    double broadcast_tensors;      /* per layer, sent by their owners after an update, one broadcast
                                      each;      0: weights are gathered */
    double bucket_bytes;           /* gradients reduced at once during the backward pass */
    bool keeps_gradients;          /* gradient memory is allocated once and not released after an
                                      update */
    bool early_optimizer;          /* creates optimizer moments before the first step, not in its
                                      update */
    bool fp8_dispatch;             /* 8-bit runs send tokens to experts in one byte per element */
    struct sp_execution execution; /* defaults of a plan */
    int64_t usual_zero;     /* ZeRO stage of a run that states none; below 0: see sp_usual_zero */
    char fp8_precision[32]; /* recipe of its 8-bit runs; "": the one that is called fp8 */
    /* FSDP keeps a layer's weights in one tensor: during accumulation all of its gradients stay
     * whole, those of frozen weights too. Zhao et al. 2023, "PyTorch FSDP", section 4.3 (flat
     * parameters, no_sync). */
    bool flat_gradients;
    /* ZeRO 3 with a pipeline: a stage gathers its weights once a step and keeps whole 4-byte
     * gradients until the last micro-batch. */
    bool keeps_stages_whole;
    /* workspaces of its matmul libraries, and of grouped matmuls of experts on top */
    double workspace_bytes, expert_workspace_bytes;
    double split_logit_bytes; /* logit_bytes if TP divides the vocabulary; 0: the same */
};

/* Half-width of the 80 % interval of a normal distribution, in standard deviations. */
#define SP_RANGE_DEVIATIONS 1.2816

/* ZeRO stage of a plan that states none: usual_zero, else 3 if the framework gathers layers on use,
 * else 1. */
int sp_usual_zero(const struct sp_framework *framework);

/* Bytes per element of tokens sent to experts (1 if the framework sends 8 bits and the plan's
 * matmuls are 8-bit, else 2), and of those coming back (2). */
double sp_dispatch_bytes(const struct sp_plan *plan, const struct sp_framework *framework);
double sp_combine_bytes(void);

/* The calibrated constants of training: profile_constants.def. */
#define SP_CONSTANT(id, key, unit, of, gpu, tpu, spread, low, high, meaning) SP_C_##id,
enum sp_constant {
#include <scaleplan/profile_constants.def>
    SP_CONSTANTS
};
#undef SP_CONSTANT

/* The family that a constant belongs to: the chip's family, the software's, the way it overlaps
 * collectives; kernels are the software's, alike on all chips of a family. */
enum sp_trait { SP_OF_CHIP, SP_OF_SOFTWARE, SP_OF_OVERLAP, SP_OF_KERNELS, SP_OF_HOST };

/* A row of that list. `spread` is the expected standard deviation of the constant's logarithm
 * between stacks: how far a fit moves it for a given amount of evidence. */
struct sp_constant_info {
    const char *key, *unit;
    enum sp_trait of;
    double gpu, tpu; /* defaults without runs */
    double spread, low, high;
    const char *meaning;
};
extern const struct sp_constant_info sp_constants[SP_CONSTANTS];

/* Room for the constants of training or of serving. */
enum { SP_PROFILE_ROOM = 19 };

/* The value clamped to the bounds of a training constant. The constant must be below
 * SP_CONSTANTS. */
double sp_constant_in_bounds(int constant, double value);

/* What calibrates a profile: runs of the stack, of its framework's family on other chips, of its
 * chip's family under other frameworks, or neither. */
enum sp_known { SP_KNOWN_STACK, SP_KNOWN_SOFTWARE, SP_KNOWN_CHIP, SP_KNOWN_NEITHER, SP_KNOWN };

/* A plan's place, in octaves (base-2 logarithms): TP, stages, CP, sequences of a micro-batch,
 * tokens of a rank (micro-batch x sequence / CP), experts of a rank, and how far TP leaves the
 * domain of fast links. */
enum {
    SP_GROUND_TP,
    SP_GROUND_PP,
    SP_GROUND_CP,
    SP_GROUND_MICRO_BATCH,
    SP_GROUND_TOKENS,
    SP_GROUND_EXPERTS,
    SP_GROUND_OUTSIDE,
    SP_GROUND_DIMENSIONS
};
struct sp_place {
    bool has_experts; /* dense models and mixtures say nothing about each other's plans */
    double octaves[SP_GROUND_DIMENSIONS];
};

/* The place of a plan of a model on a machine. Degrees must be at least 1. */
struct sp_place sp_place_of(const struct sp_model *model, const struct sp_hardware *hw,
                            const struct sp_plan *plan);

/* Octaves between two places, summed over the dimensions; INFINITY between a dense model and a
 * mixture. */
double sp_octaves_between(const struct sp_place *one, const struct sp_place *other);

/* A run of the user's own machine: errors of plans near its place are like its own. */
struct sp_seen_run {
    struct sp_place place;
    double weight; /* of its likeness to a plan in ln(estimate / measured) */
};
enum { SP_MOST_SEEN_RUNS = 12 };

/* The profile of a stack: sp_constants, or sp_serving_constants if the software is an engine. */
struct sp_profile {
    char name[64];
    char chip[64], framework[32]; /* framework or engine */
    bool serves;
    int kind; /* enum sp_network_kind: GPUs and TPUs never borrow from each other */
    /* profiles of one family borrow constants from each other, each by its trait */
    char chip_family[64], software_family[32], overlap_family[32];
    double value[SP_PROFILE_ROOM];
    double expected[SP_PROFILE_ROOM];   /* values expected without runs: sp_expect_constants */
    double determined[SP_PROFILE_ROOM]; /* share of the value that runs determine, 0 to 1 */
    enum sp_known known;                /* the runs on which the constants rest */
    char date[16]; /* of the fit, or of the newest fit that lends to it: 2026-11-22; "": unknown */
    double residual; /* from leave-one-out errors of the user's own runs: 80 % of |ln(predicted /
                        measured)| lie within 1.2816 times this; 0: use sp_range_log */
    double memory_factor;  /* reserved memory on this machine over the framework's rule; 1: as the
                              rule */
    double machine_factor; /* times on this machine over those by the constants; 1: equal */
    double used_factor;    /* the one that the constants were multiplied by, for work that no
                              constant scales; 0: 1 */
    int seen_runs;         /* what its own runs tell about similar plans: sp_seen_factor */
    struct sp_seen_run seen[SP_MOST_SEEN_RUNS];
    char seen_lines[SP_MOST_SEEN_RUNS * 80]; /* as in its file, one per line */
};

/* Whether a profile has runs of its own; the page reads no user's profile. */
#ifdef __wasi__
static inline bool sp_has_seen_runs(const struct sp_profile *profile)
{
    (void)profile;
    return false;
}
#else
static inline bool sp_has_seen_runs(const struct sp_profile *profile)
{
    return profile->seen_runs > 0;
}
#endif

/* Correlation of the errors of two plans on one machine: exp(-octaves / 3), 0 between a dense model
 * and a mixture. */
double sp_likeness(const struct sp_place *one, const struct sp_place *other);

/* Step of a plan over the estimate from the constants, by the errors of the profile's own runs; 1
 * without any. Rasmussen and Williams 2006, "Gaussian Processes for Machine Learning",
 * equation 2.25. */
double sp_seen_factor(const struct sp_profile *profile, const struct sp_model *model,
                      const struct sp_hardware *hw, const struct sp_plan *plan);

/* At most the sp_seen_factor of any plan. */
double sp_least_seen_factor(const struct sp_profile *profile);

#define SP_MACHINE_FACTOR_MIN 0.25
#define SP_MACHINE_FACTOR_MAX 4
#define SP_MEMORY_FACTOR_MIN 0.7
#define SP_MEMORY_FACTOR_MAX 1.5

/* Multiplies the framework's reserved_factor by a profile's memory_factor; the result is at least
 * 1, because an allocator reserves at least the live memory. */
void sp_use_memory_factor(double memory_factor, struct sp_framework *framework);

/* Makes every operation of a training profile take `factor` times as long: rates are divided, times
 * and memory passes multiplied, and its machine_factor is 1 then. Shares of other times and
 * network latencies stay unchanged. */
void sp_use_machine_factor(double factor, struct sp_profile *profile);

/* The list of constants of a profile. */
struct sp_constant_list {
    const struct sp_constant_info *of;
    int n;
};
struct sp_constant_list sp_constants_of(const struct sp_profile *profile);

/* The family of a constant: that of the profile's chip, of its software or of its overlap. */
const char *sp_family_of_constant(const struct sp_profile *profile, int constant);

/* Copies the profile with every constant at the bad end of its 80 % interval, within bounds: its
 * logarithm moves by SP_RANGE_DEVIATIONS x spread sqrt(1 - determined) in the direction that
 * lengthens steps. No values inside the intervals give any plan a longer step. */
void sp_worsen_constants(const struct sp_profile *profile, struct sp_profile *worst);

/* Expected constants of a chip and framework without runs, written to `expected` and `value`: the
 * defaults of the list; GPU matmuls by power per peak (0.82 - 0.17 (C / W - 0.78 TFLOP/J), 0.5 to
 * 0.85, since large matmuls on A100 to B200 are power-limited); attention as published for the
 * kernel, falling with the square root of the peak on chips that it was not tuned for. */
void sp_expect_constants(const struct sp_hardware *hw, const struct sp_framework *framework,
                         struct sp_profile *profile);

/* Constants for a stack without runs, from `n` known profiles of the same kind of machine. Each
 * constant is its expected value times the mean ratio of value to expected over profiles of the
 * same chip family (constants of the chip) or software family (of the software), weighted by
 * `determined`; without any, the mean over families. Chips of one family thus differ only in their
 * expected values. Reads the families and `expected` of `profile`, sets `value` and `known`. A
 * profile of the same name is skipped. */
void sp_borrow_constants(const struct sp_profile *known, size_t count, struct sp_profile *profile);

/*
 * == Errors ==
 */

/* Statistics of relative errors, predicted / measured - 1. NAN if n is 0. */
struct sp_error_stats {
    size_t n;
    double mean_abs, median_abs, p90_abs;
    double bias; /* signed mean */
};

/* Summarises `n` errors and sorts them by magnitude in place. Quantiles interpolate linearly
 * (Hyndman and Fan 1996, type 7). */
struct sp_error_stats sp_summarise_errors(double *errors, size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
