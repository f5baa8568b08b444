/* Fits the constants of all stacks at once, from parts common to frameworks and chips. */
#ifndef SP_STACKS_FIT_H
#define SP_STACKS_FIT_H

#include "runs/profile_fit.h"

/* A measured step on one of the stacks. */
struct sp_joint_sample {
    struct sp_sample sample;
    int stack;
    int unit[SP_UNKNOWNS]; /* runs of one unit share their unknowns */
};

/* Fits `stacks`, with expected values as from sp_profile_for without runs, to samples of some of
 * them. The logarithm of a constant is that of its expected value plus a part common to GPUs or
 * TPUs plus a part of its software or chip family; each part is shrunk towards 0 by the expected
 * spread, so that families with few runs stay near the others. Stacks of one family thus differ
 * only in their expected values. All stacks get constants and `determined`, also those without
 * samples. `deviations`, unless NULL, gets for each sample what its unknowns are found to be, in
 * standard deviations. Errors count by their logarithm, robustly. Deterministic. */
void sp_fit_jointly(const struct sp_joint_sample *samples, size_t n,
                    const struct sp_profile *stacks, int n_stacks, struct sp_profile *fitted,
                    double (*deviations)[SP_UNKNOWNS]);

#endif
