/* Software: habits of frameworks, calibrated constants of a stack, errors of predictions. */
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
 *
 * What a training framework does with memory, and how well a stack of chip and software runs.
 */

/* A framework's own habits: facts of its code, nothing fitted to times. */
struct sp_framework {
    char name[32];
    char family[32];       /* frameworks that share it lend each other constants */
    char precision[32];    /* recipe of its training state */
    int balance;           /* enum sp_balance */
    double mlp_copies;     /* d_ff-wide tensors of a gated MLP kept beyond gate, up and product */
    double norm_copies;    /* 2-byte copies of its input that each RMSNorm keeps beyond that */
    bool packs_head;       /* a base in fewer bits has the head in it */
    double widened_copies; /* 16-bit copies of a matmul's base that are there at once while it is
                              used; 0: one */
    bool keeps_frozen_inputs; /* inputs of frozen matmuls are kept, though no gradient needs them */
    double qkv_copies;        /* further copies of q, k and v */
    bool keeps_gathered; /* the gathered inputs of TP matmuls are kept, not only their shards */
    bool ring_attention; /* context parallelism passes keys and values on; else exchanges heads */
    bool stops_early; /* recomputation ends with the last tensor that is needed: no last matmul */
    bool overlaps_tp; /* tensor-parallel collectives hide behind matmuls: see tp_exposed */
    bool overlaps_sends; /* sends between stages hide behind other chunks when there are any */
    double
        attention; /* share of the 16-bit peak its attention kernel is published with; 0: unknown */
    bool fp8_gathers;      /* weights that matmuls take in 8 bits are gathered in 8 bits */
    bool ampere_attention; /* the kernel was written for Ampere: its share falls on faster chips */
    double logit_bytes;    /* bytes per logit live in the loss */
    bool dummy_wgrads;     /* one weight-gradient buffer per weight shape (TransformerEngine) */
    double
        memory_passes; /* of its elementwise kernels over what fully fused ones need; 0: unknown */
    double layer_operations; /* that the host issues for a layer's forward pass; 0: not counted */
    double gathered_layers;  /* FSDP: unsharded layers at once */
    double gathered_grads;   /* and their unsharded gradients, in 4-byte elements */
    double capacity_factor;  /* experts compute this much more than they are sent, >= 1 */
    double reserved_factor;  /* allocator: reserved over live */
    double memory_residual;  /* standard deviation of ln(predicted / measured) of peak memory */
    double context_bytes;    /* runtime context and communicator buffers, beyond reserved */
    double bucket_bytes;     /* gradients that are reduced at once, beside the backward pass */
    bool keeps_gradients;    /* their room is taken once, not given back after an update */
    bool early_optimizer;    /* its moments are made before the first step, not in its update */
    bool fp8_dispatch;       /* 8-bit runs send tokens to their experts in one byte an element */
    struct sp_execution execution; /* of a plan that says nothing else */
    int64_t usual_zero;     /* ZeRO stage of a run that states none; below 0: see sp_usual_zero */
    char fp8_precision[32]; /* recipe of its 8-bit runs; "": the one that is called fp8 */
    /* FSDP with a layer's weights in one tensor: while micro-batches add up, gradients of all of it
     * are kept whole, frozen weights' with them. Zhao et al. 2023, "PyTorch FSDP", section 4.3, for
     * flat parameters and no_sync. */
    bool flat_gradients;
    /* ZeRO 3 of a pipeline: a stage's weights are gathered once a step, and its gradients stay
     * whole, 4 bytes each, until the last micro-batch */
    bool keeps_stages_whole;
    /* what its matmul libraries hold beside the model, and grouped matmuls of experts beside that
     */
    double workspace_bytes, expert_workspace_bytes;
    double split_logit_bytes; /* logit_bytes where TP splits the vocabulary; 0: the same */
};

/* 80 % of a normal distribution lie within this many standard deviations. */
#define SP_RANGE_DEVIATIONS 1.2816

/* The ZeRO stage of a plan that states none: usual_zero, else 3 where the framework gathers layers
 * as they are needed, and 1. */
int sp_usual_zero(const struct sp_framework *framework);

/* Bytes of an element on its way to the experts: 1 where the framework sends 8 bits and the plan
 * multiplies in 8 bits, else 2; and on its way back, 2. */
double sp_dispatch_bytes(const struct sp_plan *plan, const struct sp_framework *framework);
double sp_combine_bytes(void);

/* The calibrated constants of a profile: see profile_constants.def. */
#define SP_CONSTANT(id, key, unit, of, gpu, tpu, spread, low, high, meaning) SP_C_##id,
enum sp_constant {
#include <scaleplan/profile_constants.def>
    SP_CONSTANTS
};
#undef SP_CONSTANT

enum sp_trait { SP_OF_CHIP, SP_OF_SOFTWARE };

/* One row of that list. `spread` is the standard deviation (of the logarithm) that is expected
 * between stacks: how far a fit may go for how much evidence. */
struct sp_constant_info {
    const char *key, *unit;
    enum sp_trait of;
    double gpu, tpu; /* values without data */
    double spread, low, high;
    const char *meaning;
};
extern const struct sp_constant_info sp_constants[SP_CONSTANTS];

/* Room for the constants of a profile, those of training or those of serving. */
enum { SP_PROFILE_ROOM = 16 };

/* A value of a constant of training inside its bounds. The constant must be below SP_CONSTANTS. */
double sp_constant_in_bounds(int constant, double value);

/* What is known of a stack: runs of it, of its framework's family on other chips, of its chip's
 * family under other frameworks, neither. */
enum sp_known { SP_KNOWN_STACK, SP_KNOWN_SOFTWARE, SP_KNOWN_CHIP, SP_KNOWN_NEITHER, SP_KNOWN };

/* A stack: a chip and the software on it, with its constants: those of sp_constants, or where the
 * software serves those of sp_serving_constants. */
struct sp_profile {
    char name[64];
    char chip[64], framework[32]; /* the latter an engine where it serves */
    bool serves;
    int kind; /* enum sp_network_kind: GPUs and TPUs lend each other nothing */
    char chip_family[64], software_family[32]; /* siblings lend each other constants */
    double value[SP_PROFILE_ROOM];
    double expected[SP_PROFILE_ROOM];   /* what is expected without any runs: sp_expect_constants */
    double determined[SP_PROFILE_ROOM]; /* share of the value that runs decided, 0 to 1 */
    enum sp_known known;                /* what its constants rest on */
    double residual; /* 80 % of ln(predicted / measured) of the user's own runs, left out in turn,
                        lie within 1.2816 of it; 0: sp_range_log */
    double memory_factor; /* reserved memory on this machine over the framework's rule; 1: as it */
};

/* Bounds of memory_factor. */
#define SP_MEMORY_FACTOR_MIN 0.7
#define SP_MEMORY_FACTOR_MAX 1.5

/* Puts a profile's memory_factor into the framework's reserved_factor, which stays at least 1:
 * an allocator never reserves less than what is live. */
void sp_use_memory_factor(double memory_factor, struct sp_framework *framework);

/* The constants that a profile has. */
struct sp_constant_list {
    const struct sp_constant_info *of;
    int n;
};
struct sp_constant_list sp_constants_of(const struct sp_profile *profile);

/* Whom a constant of the profile belongs to: its chip's family or its software's. */
const char *sp_family_of_constant(const struct sp_profile *profile, int constant);

/* Writes the profile with every constant at the bad end of its 80 % interval: the logarithm of a
 * constant is known up to its spread sqrt(1 - determined), and moves by SP_RANGE_DEVIATIONS of
 * that the way that makes steps longer, inside its bounds. No step is shorter under it: of all
 * values inside the intervals these are the worst for any plan. */
void sp_worsen_constants(const struct sp_profile *profile, struct sp_profile *worst);

/* What is expected of a chip and a framework before any run is seen: the list's values; matmuls of
 * GPUs by how much power stands behind their peak (0.82 - 0.17 (C / W - 0.78 TFLOP/J), 0.5 to 0.85:
 * large matmuls on A100 to B200 run into their power limit); attention as its kernel is published,
 * falling with the square root of the peak on chips that it was not written for. Writes `expected`
 * and `value`. */
void sp_expect_constants(const struct sp_hardware *hw, const struct sp_framework *framework,
                         struct sp_profile *profile);

/* Constants of a stack without runs of its own, from the `n` known profiles of the same kind of
 * machine: each constant's ratio to what was expected, that of its chip's family (for constants of
 * the chip) or of its software's (for those of the software), as far as runs determined it; where
 * no profile is of the family, the mean over the families. Two chips of one family thus differ in
 * what they are expected to do and in nothing else. `profile` has its families and `expected`;
 * writes `value` and `known`. A profile of the same name is left out. */
void sp_borrow_constants(const struct sp_profile *known, size_t count, struct sp_profile *profile);

/*
 * == Errors ==
 *
 * How far predictions are from measurements.
 */

/* What relative errors, predicted / measured - 1, come to. Fractions; NAN where n is 0. */
struct sp_error_stats {
    size_t n;
    double mean_abs, median_abs, p90_abs;
    double bias; /* mean, with its sign */
};

/* Summarises `n` errors; sorts them by size in place. Quantiles lie between neighbours in
 * proportion (Hyndman and Fan 1996, type 7). */
struct sp_error_stats sp_summarise_errors(double *errors, size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
