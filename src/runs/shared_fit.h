/* Constants of several stacks, fitted at once to measurements of all of them. */
#ifndef SP_SHARED_FIT_H
#define SP_SHARED_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include <scaleplan/profile.h>

enum { SP_SHARED_CONSTANTS = 24, SP_SHARED_PARTS = 4 };

/* The logarithm of a constant of one stack is that of what is expected plus its spread times a sum
 * of parameters, each expected within 1 of 0 and counted `scale` times; parameters that several
 * stacks name are shared by them. A parameter below 0 is none. */
struct sp_shared_constant {
    int parameter[SP_SHARED_PARTS];
    double scale[SP_SHARED_PARTS];
};

/* A measurement on one of the stacks. */
struct sp_shared_sample {
    int stack;
    double weight; /* repeats share a weight of 1 */
    double noise;  /* standard deviation of ln(predicted / measured) under a model that is right */
};

struct sp_shared_fit {
    int constants, stacks, parameters;
    const struct sp_constant_info *info;     /* of each constant: spread and bounds */
    const double *expected;                  /* constants of each stack, one stack after another */
    const struct sp_shared_constant *layout; /* the same */
    /* of each parameter: whether far from 0 it counts linearly, as errors do, because few of those
     * like it may be odd; NULL: all count quadratically */
    const bool *heavy_tailed;
    const struct sp_shared_sample *samples;
    size_t n;
    /* ln(predicted / measured) of a sample whose stack has these constants */
    double (*error)(const void *context, size_t sample, const double *constants);
    const void *context;
};

/* The most likely constants: errors count quadratically while they are small against their noise,
 * then linearly; Levenberg's and Marquardt's damped steps. `values` and `determined` (how far
 * samples pin down the last parameter of each constant: information over information plus prior)
 * have room for the constants of all stacks. Deterministic. */
void sp_fit_shared(const struct sp_shared_fit *fit, double *values, double *determined);

/* The same from profiles to profiles: what is expected is that of `stacks`, one for each of
 * fit->stacks, whatever fit->expected says; of `fitted` value and determined are the fit's, all
 * else is the stack's. The two may not be the same. */
void sp_fit_stacks(const struct sp_shared_fit *fit, const struct sp_profile *stacks,
                   struct sp_profile *fitted);

#endif
