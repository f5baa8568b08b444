/* Fits a profile's constants to measured steps. */
#ifndef SP_FIT_H
#define SP_FIT_H

#include <stddef.h>

#include <scaleplan/step.h>

/* A measured step and its inputs. */
struct sp_sample {
    struct sp_step_inputs in; /* its profile is replaced */
    double step_s;
    double weight; /* repeats of a configuration share a weight of 1 */
};

/* ln(predicted / measured) under a profile. */
double sp_log_error(const struct sp_sample *sample, const struct sp_profile *profile);

/* The most likely constants for the samples: each constant's logarithm has a normal prior with its
 * spread, within bounds. Errors count by their logarithm, robustly. `determined`: how far samples
 * determine each constant. Deterministic. */
void sp_fit_profile(const struct sp_sample *samples, size_t n, const struct sp_profile *prior,
                    struct sp_profile *fitted);

#endif
