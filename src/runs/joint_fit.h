/* Fits the constants of all stacks at once: common parts of their frameworks and chips. */
#ifndef SP_JOINT_FIT_H
#define SP_JOINT_FIT_H

#include "runs/least_squares.h"

/* A measured step on one of the stacks. */
struct sp_joint_sample {
    struct sp_sample sample;
    int stack;
};

/* Fits `stacks`, which come as sp_profile_for expects them without any run, to samples of some of
 * them. The logarithm of a constant is its expected value's, plus what GPUs or TPUs have in common,
 * plus what the stack's software family (for constants of the software) or chip family (for those
 * of the chip) adds: each is drawn towards 0 as far as stacks are expected to differ, so that
 * families with few runs stay near the others. Two stacks of one family thus differ in what their
 * chips and frameworks are known by, and in nothing else. Every stack gets its constants and how
 * far samples determined them, those without samples too. Errors count by their logarithm,
 * robustly. Deterministic. */
void sp_fit_jointly(const struct sp_joint_sample *samples, size_t n,
                    const struct sp_profile *stacks, int n_stacks, struct sp_profile *fitted);

#endif
