/* Fits a profile's constants to measured steps: the joint fit with a single stack. */
#include "runs/least_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "runs/shared_fit.h"

struct problem {
    const struct sp_sample *samples;
    const struct sp_profile *prior;
};

/* Standard deviation of ln(estimate / measured) by tier for a known stack, from published runs left
 * out of the fit. With 5 % for all tiers, a fit to three MoE runs followed them so closely that
 * others became worse than without a fit. */
static double noise_of(const struct sp_sample *sample)
{
    const struct sp_profile known = {.known = SP_KNOWN_STACK};
    const struct sp_step_inputs *const in = &sample->in;
    return sp_range_log(&known, sp_tier_of(in->model, &in->hw->chip, in->plan)) /
           SP_RANGE_DEVIATIONS;
}

double sp_log_error(const struct sp_sample *sample, const struct sp_profile *profile)
{
    struct sp_step_inputs in = sample->in;
    in.profile = profile;
    return log(sp_estimate_step(&in).step / sample->step_s);
}

static double error_of(const void *context, size_t i, const double *constants)
{
    const struct problem *const p = context;
    struct sp_profile profile = *p->prior;
    memcpy(profile.value, constants, sizeof profile.value);
    return sp_log_error(&p->samples[i], &profile);
}

void sp_fit_profile(const struct sp_sample *samples, size_t n, const struct sp_profile *prior,
                    struct sp_profile *fitted)
{
    const struct problem problem = {samples, prior};
    struct sp_shared_constant layout[SP_CONSTANTS];
    struct sp_shared_sample *const shared = calloc(n + 1, sizeof *shared);
    if (!shared)
        abort();
    for (int c = 0; c < SP_CONSTANTS; c++) /* one parameter per constant */
        layout[c] = (struct sp_shared_constant){{c, -1, -1, -1}, {1}};
    for (size_t i = 0; i < n; i++)
        shared[i] = (struct sp_shared_sample){0, samples[i].weight, noise_of(&samples[i])};
    const struct sp_shared_fit fit = {.constants = SP_CONSTANTS,
                                      .stacks = 1,
                                      .parameters = SP_CONSTANTS,
                                      .info = sp_constants,
                                      .expected = prior->value,
                                      .layout = layout,
                                      .samples = shared,
                                      .n = n,
                                      .error = error_of,
                                      .context = &problem};
    *fitted = *prior;
    sp_fit_shared(&fit, fitted->value, fitted->determined);
    free(shared);
}
