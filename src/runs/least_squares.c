/* Fits a profile's constants to measured steps. */
#include <math.h>

#include "runs/least_squares.h"

/* Runs of one configuration differ by this much (of the logarithm). */
#define NOISE 0.05

struct problem {
    const struct sp_sample *samples;
    size_t n;
    const struct sp_profile *prior;
};

double sp_log_error(const struct sp_sample *sample, const struct sp_profile *profile)
{
    struct sp_step_inputs in = sample->in;
    in.profile = profile;
    return log(sp_estimate_step(&in).step / sample->step_s);
}

static void profile_at(const struct problem *p, const double *x, struct sp_profile *profile)
{
    *profile = *p->prior;
    for (int i = 0; i < SP_CONSTANTS; i++)
        profile->value[i] = exp(x[i]);
}

/* Minus the logarithm of the posterior: quadratic for small errors, linear for large ones. */
static double cost(const struct problem *p, const double *x)
{
    struct sp_profile profile;
    profile_at(p, x, &profile);
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double z = sp_log_error(&p->samples[i], &profile) / NOISE;
        sum += p->samples[i].weight * (sqrt(1 + z * z) - 1);
    }
    for (int i = 0; i < SP_CONSTANTS; i++) {
        const double z = (x[i] - log(p->prior->value[i])) / sp_constants[i].spread;
        sum += z * z / 2;
    }
    return sum;
}

static double objective(unsigned n, const double *x, double *gradient, void *data)
{
    const struct problem *const p = data;
    const double here = cost(p, x);
    if (gradient) {
        const double step = 1e-5;
        double moved[SP_CONSTANTS];
        for (unsigned i = 0; i < n; i++)
            moved[i] = x[i];
        for (unsigned i = 0; i < n; i++) {
            moved[i] = x[i] + step;
            const double ahead = cost(p, moved);
            moved[i] = x[i] - step;
            gradient[i] = (ahead - cost(p, moved)) / (2 * step);
            moved[i] = x[i];
        }
    }
    return here;
}

/* How far the data alone pin each constant down: information over information plus prior. */
static void measure_determined(const struct problem *p, const double *x, struct sp_profile *fitted)
{
    double information[SP_CONSTANTS] = {0}, moved[SP_CONSTANTS];
    struct sp_profile ahead, behind;
    const double step = 1e-4;
    for (int j = 0; j < SP_CONSTANTS; j++) {
        for (int i = 0; i < SP_CONSTANTS; i++)
            moved[i] = x[i];
        moved[j] = x[j] + step;
        profile_at(p, moved, &ahead);
        moved[j] = x[j] - step;
        profile_at(p, moved, &behind);
        for (size_t i = 0; i < p->n; i++) {
            const double slope =
                (sp_log_error(&p->samples[i], &ahead) - sp_log_error(&p->samples[i], &behind)) /
                (2 * step * NOISE);
            information[j] += p->samples[i].weight * slope * slope;
        }
        const double spread = sp_constants[j].spread;
        fitted->determined[j] = information[j] / (information[j] + 1 / (spread * spread));
    }
}

/* One descent from a start; returns the cost. */
static double descend(const struct sp_optimizer *nlopt, struct problem *problem, const double *low,
                      const double *high, double *x)
{
    double least = HUGE_VAL;
    for (int i = 0; i < SP_CONSTANTS; i++)
        x[i] = fmin(high[i], fmax(low[i], x[i]));
    nlopt_opt opt = nlopt->create(NLOPT_LD_SLSQP, SP_CONSTANTS);
    nlopt->set_lower_bounds(opt, low);
    nlopt->set_upper_bounds(opt, high);
    nlopt->set_min_objective(opt, objective, problem);
    nlopt->set_ftol_rel(opt, 1e-6);
    nlopt->set_maxeval(opt, 150);
    nlopt->optimize(opt, x, &least);
    nlopt->destroy(opt);
    return least;
}

void sp_fit_profile(const struct sp_optimizer *nlopt, const struct sp_sample *samples, size_t n,
                    const struct sp_profile *prior, struct sp_profile *fitted)
{
    struct problem problem = {samples, n, prior};
    double low[SP_CONSTANTS], high[SP_CONSTANTS], best[SP_CONSTANTS], least = HUGE_VAL;
    for (int i = 0; i < SP_CONSTANTS; i++) {
        low[i] = log(sp_constants[i].low);
        high[i] = log(sp_constants[i].high);
        best[i] = log(prior->value[i]);
    }
    /* the floor of launches has no slope where it is far below the work: start above it too */
    for (int start = 0; start < 3; start++) {
        double x[SP_CONSTANTS];
        for (int i = 0; i < SP_CONSTANTS; i++)
            x[i] = log(prior->value[i]);
        x[SP_C_LAUNCH] += 1.5 * start;
        const double cost_here = descend(nlopt, &problem, low, high, x);
        if (cost_here < least) {
            least = cost_here;
            for (int i = 0; i < SP_CONSTANTS; i++)
                best[i] = x[i];
        }
    }
    profile_at(&problem, best, fitted);
    measure_determined(&problem, best, fitted);
}
