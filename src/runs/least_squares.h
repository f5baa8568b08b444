/* Fits a profile's constants to measured steps. */
#ifndef SP_FIT_H
#define SP_FIT_H

#include <stddef.h>

#include <scaleplan/step.h>

/* A measured step and the inputs that should predict it. */
struct sp_sample {
    struct sp_step_inputs in; /* its profile is replaced */
    double step_s;
    double weight; /* repeats of one configuration share a weight of 1 */
};

/* ln(predicted / measured) under a profile. */
double sp_log_error(const struct sp_sample *sample, const struct sp_profile *profile);

/* The most likely constants for the measurements, given a prior: each constant's logarithm is
 * expected within its spread of the prior's value, and inside its bounds. Errors count by their
 * logarithm, robustly. `determined` says how far the samples alone determine each constant.
 * Deterministic. */
void sp_fit_profile(const struct sp_sample *samples, size_t n, const struct sp_profile *prior,
                    struct sp_profile *fitted);

#endif
