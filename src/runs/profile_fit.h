/* Fits one profile's constants to measured steps. */
#ifndef SP_PROFILE_FIT_H
#define SP_PROFILE_FIT_H

#include <stddef.h>

#include <scaleplan/estimate.h>

/* A measured step and its inputs. */
struct sp_sample {
    struct sp_step_inputs in; /* its profile is replaced */
    double step_s;
    double weight; /* repeats of a configuration share a weight of 1 */
};

/* ln(predicted / measured) under a profile, with its machine factor. */
double sp_log_error(const struct sp_sample *sample, const struct sp_profile *profile);

/* The same with each unknown that many standard deviations from what is expected. */
double sp_log_error_with(const struct sp_sample *sample, const struct sp_profile *profile,
                         const double deviations[SP_UNKNOWNS]);

/* Standard deviation of ln(estimate / measured) between the configurations of one machine with a
 * known common factor: repeats differ by 1 to 2 %, the rest is the model's error. By tier, from the
 * runs of machines whose factor is fitted. */
double sp_configuration_noise(const struct sp_sample *sample);

/* The most likely constants for the samples, all of one machine, with one factor of all its steps:
 * each constant's logarithm has a normal prior with its spread, within bounds, and that of the
 * factor the spread of publications left out. Errors count by their logarithm, robustly.
 * `determined`: how far samples determine each constant. Deterministic. */
void sp_fit_profile(const struct sp_sample *samples, size_t n, const struct sp_profile *prior,
                    struct sp_profile *fitted);

#endif
