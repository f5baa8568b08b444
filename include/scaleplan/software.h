/* What a training framework does with memory, and how well a stack of chip and software runs. */
#ifndef SCALEPLAN_SOFTWARE_H
#define SCALEPLAN_SOFTWARE_H

#include <scaleplan/plan.h>

/* A framework's own habits: facts of its code, nothing fitted to times. */
struct sp_framework {
    char name[32];
    char precision[32];  /* recipe of its training state */
    int balance;         /* enum sp_balance */
    double mlp_copies;   /* d_ff-wide tensors kept beyond gate, up and product */
    double qkv_copies;   /* further copies of q, k and v */
    bool keeps_gathered; /* the gathered inputs of TP matmuls are kept, not only their shards */
    bool ring_attention; /* context parallelism passes keys and values on; else exchanges heads */
    bool stops_early; /* recomputation ends with the last tensor that is needed: no last matmul */
    bool overlaps_tp; /* tensor-parallel collectives hide behind matmuls: see tp_exposed */
    bool overlaps_sends; /* sends between stages hide behind other chunks when there are any */
    double
        attention; /* share of the 16-bit peak its attention kernel is published with; 0: unknown */
    bool ampere_attention;  /* the kernel was written for Ampere: its share falls on faster chips */
    double logit_bytes;     /* bytes per logit live in the loss */
    bool dummy_wgrads;      /* one weight-gradient buffer per weight shape (TransformerEngine) */
    double gathered_layers; /* FSDP: unsharded layers at once */
    double gathered_grads;  /* and their unsharded gradients, in 4-byte elements */
    double capacity_factor; /* experts compute this much more than they are sent, >= 1 */
    double reserved_factor; /* allocator: reserved over live */
    double context_bytes;   /* runtime context and communicator buffers, beyond reserved */
};

/* The calibrated constants of a profile: see profile_constants.def. */
#define SP_CONSTANT(id, key, unit, fallback, spread, low, high, meaning) SP_C_##id,
enum sp_constant {
#include <scaleplan/profile_constants.def>
    SP_CONSTANTS
};
#undef SP_CONSTANT

/* One row of that list. `spread` is the standard deviation (of the logarithm) that is expected
 * between stacks: how far a fit may go for how much evidence. */
struct sp_constant_info {
    const char *key, *unit;
    double fallback, spread, low, high;
    const char *meaning;
};
extern const struct sp_constant_info sp_constants[SP_CONSTANTS];

struct sp_profile {
    char name[64];
    char chip[64], framework[32];
    double value[SP_CONSTANTS];
    double determined[SP_CONSTANTS]; /* share of each value that data, not the prior, decided: 0 to
                                        1 */
    double residual; /* standard deviation of ln(predicted / measured) on runs left out */
};

#endif
