/* Fits the constants of a stack and judges the fit on runs left out. */
#include "runs/calibration.h"

#include <math.h>
#include <stdlib.h>

#include <scaleplan/estimate.h>

#include "base/memory.h"
#include "runs/run_estimate.h"

/* Expected spread (of the logarithm) of reserved memory between machines, and between runs on
 * one. */
#define MEMORY_SPREAD 0.10
#define MEMORY_NOISE 0.02

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sp_residual(double *errors, size_t n, double pooled)
{
    for (size_t i = 0; i < n; i++)
        errors[i] = fabs(errors[i]);
    qsort(errors, n, sizeof *errors, ascending);
    const double own = n > 0 ? errors[(size_t)(0.8 * (double)n)] / SP_RANGE_DEVIATIONS : 0;
    return (own * (double)n + pooled * 10) / ((double)n + 10);
}

/* Fits to timed runs outside part `left_out` of `parts`. */
static void fit_without(const struct sp_calibration *c, int left_out, struct sp_profile *fitted)
{
    struct sp_sample *const samples = sp_must(calloc(c->n + 1, sizeof *samples));
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->runs[i].sample.step_s > 0 &&
            (left_out < 0 || c->runs[i].group % c->parts != left_out))
            samples[n++] = c->runs[i].sample;
    *fitted = c->prior;
    if (n > 0)
        sp_fit_profile(samples, n, &c->prior, fitted);
    free(samples);
}

static void cross_validate(struct sp_calibration *c)
{
    c->parts = c->groups < 2 ? 0 : c->groups < 5 ? c->groups : 5;
    for (int part = 0; part < c->parts; part++) {
        struct sp_profile fitted;
        fit_without(c, part, &fitted);
        for (size_t i = 0; i < c->n; i++)
            if (c->runs[i].sample.step_s > 0 && c->runs[i].group % c->parts == part)
                c->runs[i].left_out = sp_log_error(&c->runs[i].sample, &fitted);
    }
}

/* ln(predicted / measured) of peak memory at the level that the run measured. */
static double memory_error(const struct sp_run *run, const struct sp_profile *profile)
{
    struct sp_estimate e;
    sp_estimate_run(run, profile, &e);
    return log(sp_bytes_at_level(&e.memory, run->level) / run->memory_bytes);
}

/* Fits one factor on reserved bytes: the mean logarithm over runs, shrunk towards the prior by the
 * spreads of machines and runs. Allocator slack differs between machines, tensors do not; live
 * bytes do not depend on the allocator. */
static void fit_memory(struct sp_calibration *c)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct sp_calibrated *const r = &c->runs[i];
        const bool known = r->run->memory_bytes > 0 && r->run->level < SP_CLOSED_FORM;
        r->memory_before = known ? memory_error(r->run, &c->prior) : NAN;
        c->memory_runs += known;
        if (known && r->run->level != SP_LIVE) {
            sum -= r->memory_before;
            n++;
        }
    }
    const double ratio = MEMORY_NOISE / MEMORY_SPREAD;
    const double moved = log(c->prior.memory_factor) + sum / ((double)n + ratio * ratio);
    c->fitted.memory_factor =
        exp(fmin(log(SP_MEMORY_FACTOR_MAX), fmax(log(SP_MEMORY_FACTOR_MIN), moved)));
    for (size_t i = 0; i < c->n; i++)
        if (!isnan(c->runs[i].memory_before))
            c->runs[i].memory_after = memory_error(c->runs[i].run, &c->fitted);
}

static void share_weights(struct sp_calibration *c)
{
    c->groups = 0;
    for (size_t i = 0; i < c->n; i++) {
        int repeats = 0;
        if (!(c->runs[i].sample.step_s > 0))
            continue;
        for (size_t k = 0; k < c->n; k++)
            repeats += c->runs[k].group == c->runs[i].group && c->runs[k].sample.step_s > 0;
        c->runs[i].sample.weight = 1.0 / repeats;
        if (c->runs[i].group >= c->groups)
            c->groups = c->runs[i].group + 1;
    }
}

/* Expected standard deviation of the runs' errors after the fit: the noise of configurations, and
 * the remaining uncertainty of the machine's factor, which falls with their number. */
static double expected_residual(const struct sp_calibration *c)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct sp_sample *const s = &c->runs[i].sample;
        if (!(s->step_s > 0))
            continue;
        const double before =
            sp_range_log(&c->prior, sp_tier_of(s->in.model, &s->in.hw->chip, s->in.plan)) /
            SP_RANGE_DEVIATIONS;
        sum += hypot(sp_configuration_noise(s), before / sqrt(1 + c->groups));
        n++;
    }
    return n > 0 ? sum / (double)n : 0;
}

void sp_calibrate(struct sp_calibration *c)
{
    double *const errors = sp_must(calloc(c->n + 1, sizeof *errors));
    for (size_t i = 0; i < c->n; i++) {
        struct sp_calibrated *const r = &c->runs[i];
        r->before = r->after = r->left_out = r->memory_before = r->memory_after = NAN;
    }
    share_weights(c);
    fit_without(c, -1, &c->fitted);
    cross_validate(c);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct sp_calibrated *const r = &c->runs[i];
        if (!(r->sample.step_s > 0))
            continue;
        r->before = sp_log_error(&r->sample, &c->prior);
        r->after = sp_log_error(&r->sample, &c->fitted);
        if (!isnan(r->left_out))
            errors[n++] = r->left_out;
    }
    c->fitted.residual = sp_residual(errors, n, expected_residual(c));
    fit_memory(c);
    free(errors);
}
