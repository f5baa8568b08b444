/* Levenberg-Marquardt: fits constants of several stacks that share parameters. */
#ifndef SP_LEVENBERG_MARQUARDT_H
#define SP_LEVENBERG_MARQUARDT_H

#include <stdbool.h>
#include <stddef.h>

#include <scaleplan/profile.h>

enum { SP_SHARED_CONSTANTS = 24, SP_SHARED_PARTS = 4, SP_SHARED_UNKNOWNS = 8 };

/* The logarithm of a stack's constant is that of its expected value plus its spread times a sum of
 * parameters, each with prior N(0, 1) and factor `scale`; stacks share a parameter by using its
 * index. Negative: none. */
struct sp_shared_constant {
    int parameter[SP_SHARED_PARTS];
    double scale[SP_SHARED_PARTS];
};

/* A measurement on one of the stacks. */
struct sp_shared_sample {
    int stack;
    double weight; /* repeats share a weight of 1 */
    double noise;  /* standard deviation of ln(predicted / measured) under a correct model */
    /* Parameters for unknowns of the measurement, each with prior N(0, 1); measurements share one
     * by using its index. Below 0: none. */
    int unknown[SP_SHARED_UNKNOWNS];
};

struct sp_shared_fit {
    int constants, stacks, parameters;
    int unknowns;                            /* of each sample, at most SP_SHARED_UNKNOWNS */
    const struct sp_constant_info *info;     /* spread and bounds per constant */
    const double *expected;                  /* constants of each stack, concatenated */
    const struct sp_shared_constant *layout; /* likewise */
    /* per parameter: linear cost far from 0, because a few may be outliers; NULL: all quadratic */
    const bool *heavy_tailed;
    const struct sp_shared_sample *samples;
    size_t n;
    /* ln(predicted / measured) of a sample for these constants of its stack, with each of its
     * unknowns as many standard deviations from what is expected */
    double (*error)(const void *context, size_t sample, const double *constants,
                    const double *unknowns);
    const void *context;
};

/* The most likely constants, by Levenberg-Marquardt: errors count quadratically while small
 * relative to their noise, then linearly. `values` and `determined` (the share of
 * each constant's variance that the measurements take away) have room for all stacks' constants.
 * `parameters`, unless NULL, gets all of them. Deterministic. */
void sp_fit_shared(const struct sp_shared_fit *fit, double *values, double *determined,
                   double *parameters);

/* The same on profiles: expected values are those of `stacks`, one per fit->stacks, overriding
 * fit->expected; `fitted` gets values and `determined`, the rest is copied. The two must differ. */
void sp_fit_stacks(const struct sp_shared_fit *fit, const struct sp_profile *stacks,
                   struct sp_profile *fitted, double *parameters);

#endif
