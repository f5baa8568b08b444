/* Fits one profile's constants to measured steps: one stack, nothing shared. */
#include "runs/profile_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "runs/levenberg_marquardt.h"

struct problem {
    const struct sp_sample *samples;
    const struct sp_profile *prior;
    double factor_spread;
};

double sp_configuration_noise(const struct sp_sample *sample)
{
    static const double noise[SP_TIERS] = {[SP_TIER_DENSE_16] = 0.06,
                                           [SP_TIER_DENSE_8] = 0.05,
                                           [SP_TIER_EXPERTS] = 0.20,
                                           [SP_TIER_BLOCKS] = 0.08};
    const struct sp_step_inputs *const in = &sample->in;
    return noise[sp_tier_of(in->model, &in->hw->chip, in->plan)];
}

double sp_log_error_with(const struct sp_sample *sample, const struct sp_profile *profile,
                         const double deviations[SP_UNKNOWNS])
{
    struct sp_step_inputs in = sample->in;
    struct sp_profile machine = *profile;
    sp_use_machine_factor(profile->machine_factor, &machine);
    in.profile = &machine;
    return log(sp_step_with_unknowns(&in, deviations) / sample->step_s);
}

double sp_log_error(const struct sp_sample *sample, const struct sp_profile *profile)
{
    return sp_log_error_with(sample, profile, (const double[SP_UNKNOWNS]){0});
}

/* Standard deviation of the factor's logarithm: that of the errors of publications left out of a
 * fit, of equally well known stacks. */
static double factor_spread(const struct sp_sample *sample, const struct sp_profile *prior)
{
    const struct sp_step_inputs *const in = &sample->in;
    return sp_range_log(prior, sp_tier_of(in->model, &in->hw->chip, in->plan)) /
           SP_RANGE_DEVIATIONS;
}

static double error_of(const void *context, size_t i, const double *constants,
                       const double *unknowns)
{
    const struct problem *const p = context;
    struct sp_profile profile = *p->prior;
    profile.seen_runs = 0;
    memcpy(profile.value, constants, sizeof profile.value);
    return sp_log_error(&p->samples[i], &profile) + p->factor_spread * unknowns[0];
}

/* Solves the symmetric positive definite system in place by elimination. */
static void solve(double a[][SP_MOST_SEEN_RUNS], double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            const double f = a[k][i] / a[i][i];
            for (size_t j = i; j < n; j++)
                a[k][j] -= f * a[i][j];
            b[k] -= f * b[i];
        }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
}

/* Plans that are alike share the remaining errors of the runs: simple kriging, with the noise of
 * configurations and that of their repeats apart. If there are too many runs, it takes evenly
 * spaced ones. */
static void see_runs(const struct sp_sample *samples, size_t n, struct sp_profile *fitted)
{
    static const double of_repeats = 0.02;
    double covariance[SP_MOST_SEEN_RUNS][SP_MOST_SEEN_RUNS], weight[SP_MOST_SEEN_RUNS],
        noise[SP_MOST_SEEN_RUNS];
    const size_t seen = n < SP_MOST_SEEN_RUNS ? n : SP_MOST_SEEN_RUNS;
    for (size_t i = 0; i < seen; i++) {
        const struct sp_sample *const s = &samples[i * n / seen];
        fitted->seen[i].place = sp_place_of(s->in.model, s->in.hw, s->in.plan);
        weight[i] = sp_log_error(s, fitted);
        noise[i] = sp_configuration_noise(s);
    }
    for (size_t i = 0; i < seen; i++) {
        for (size_t k = 0; k < seen; k++)
            covariance[i][k] =
                noise[i] * noise[k] * sp_likeness(&fitted->seen[i].place, &fitted->seen[k].place);
        covariance[i][i] += of_repeats * of_repeats;
    }
    solve(covariance, weight, seen);
    for (size_t i = 0; i < seen; i++)
        fitted->seen[i].weight = noise[i] * noise[i] * weight[i];
    fitted->seen_runs = (int)seen;
}

void sp_fit_profile(const struct sp_sample *samples, size_t n, const struct sp_profile *prior,
                    struct sp_profile *fitted)
{
    enum { FACTOR = SP_CONSTANTS, PARAMETERS };
    const double spread = n > 0 ? factor_spread(&samples[0], prior) : 0;
    const struct problem problem = {samples, prior, spread};
    struct sp_shared_constant layout[SP_CONSTANTS];
    double unknowns[PARAMETERS];
    /* a machine may be far from all others: SimuMax's is a quarter slower */
    const bool heavy_tailed[PARAMETERS] = {[FACTOR] = true};
    struct sp_shared_sample *const shared = sp_must(calloc(n + 1, sizeof *shared));
    /* one parameter per constant, which moves as far as the prior's own runs leave it open */
    for (int c = 0; c < SP_CONSTANTS; c++)
        layout[c] = (struct sp_shared_constant){{c, -1, -1, -1}, {sqrt(1 - prior->determined[c])}};
    for (size_t i = 0; i < n; i++)
        shared[i] = (struct sp_shared_sample){
            0, samples[i].weight, sp_configuration_noise(&samples[i]), {FACTOR}};
    const struct sp_shared_fit fit = {.constants = SP_CONSTANTS,
                                      .stacks = 1,
                                      .parameters = PARAMETERS,
                                      .unknowns = 1,
                                      .info = sp_constants,
                                      .expected = prior->value,
                                      .layout = layout,
                                      .heavy_tailed = heavy_tailed,
                                      .samples = shared,
                                      .n = n,
                                      .error = error_of,
                                      .context = &problem};
    *fitted = *prior;
    fitted->seen_runs = 0;
    sp_fit_shared(&fit, fitted->value, fitted->determined, unknowns);
    fitted->machine_factor =
        fmin(SP_MACHINE_FACTOR_MAX,
             fmax(SP_MACHINE_FACTOR_MIN, prior->machine_factor * exp(spread * unknowns[FACTOR])));
    free(shared);
    see_runs(samples, n, fitted);
}
