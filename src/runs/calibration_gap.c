/* Distance of a fit's runs from its prior, the constants that explain it, and the most informative
 * next run. */
#include "runs/calibration_gap.h"

#include <math.h>
#include <stdlib.h>

#include "config/repertoire.h"

static bool is_timed(const struct sp_calibrated *run)
{
    return run->sample.step_s > 0;
}

double sp_calibration_gap(const struct sp_calibration *fit)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < fit->n; i++)
        if (is_timed(&fit->runs[i])) {
            sum -= fit->runs[i].sample.weight * fit->runs[i].before;
            n += fit->runs[i].sample.weight;
        }
    return n > 0 ? sum / n : NAN;
}

static double effect_of(const struct sp_calibration *fit, int constant)
{
    struct sp_profile moved = fit->prior;
    double sum = 0, n = 0;
    moved.value[constant] = fit->fitted.value[constant];
    for (size_t i = 0; i < fit->n; i++)
        if (is_timed(&fit->runs[i])) {
            const struct sp_sample *const s = &fit->runs[i].sample;
            sum += s->weight * (sp_log_error(s, &moved) - fit->runs[i].before);
            n += s->weight;
        }
    return n > 0 ? sum / n : 0;
}

static int by_effect(const void *a, const void *b)
{
    const double x = fabs(((const struct sp_constant_effect *)a)->effect),
                 y = fabs(((const struct sp_constant_effect *)b)->effect);
    return (x < y) - (x > y);
}

void sp_constant_effects(const struct sp_calibration *fit,
                         struct sp_constant_effect effects[SP_CONSTANTS])
{
    for (int c = 0; c < SP_CONSTANTS; c++)
        effects[c] = (struct sp_constant_effect){c, effect_of(fit, c)};
    qsort(effects, SP_CONSTANTS, sizeof *effects, by_effect);
}

/* Standard deviation of ln(step) left by the fit, and the constant that contributes most. */
static double open_spread(const struct sp_calibration *fit, const struct sp_step_inputs *inputs,
                          int *constant)
{
    struct sp_step_inputs in = *inputs;
    struct sp_profile moved = fit->fitted;
    double sum = 0, most = -1;
    in.profile = &fit->fitted;
    const double here = log(sp_estimate_step(&in).step);
    in.profile = &moved;
    for (int c = 0; c < SP_CONSTANTS; c++) {
        const double open = sp_constants[c].spread * sqrt(1 - fit->fitted.determined[c]);
        moved.value[c] = sp_constant_in_bounds(c, fit->fitted.value[c] * exp(open));
        const double part = fabs(log(sp_estimate_step(&in).step) - here);
        moved.value[c] = fit->fitted.value[c];
        sum += part * part;
        if (part > most) {
            most = part;
            *constant = c;
        }
    }
    return sqrt(sum);
}

/* Tries the plans one change away from a run's. */
static void look_around(const struct sp_calibration *fit, const struct sp_run *run,
                        struct sp_telling_run *best)
{
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    struct sp_step_inputs in = {
        &run->model, &run->hw, &run->precision, &run->framework.framework, &fit->fitted,
        &run->plan,  NULL};
    const struct sp_repertoire runs = sp_framework_repertoire(&run->framework, &run->hw);
    const size_t n = sp_find_neighbours(&in, &runs, NULL, near);
    for (size_t i = 0; i < n; i++) {
        struct sp_telling_run it = {.run = run, .plan = near[i]};
        in.plan = &near[i].plan;
        it.spread = near[i].verdict != SP_VERDICT_NO ? open_spread(fit, &in, &it.constant) : 0;
        if (it.spread > best->spread * (1 + 1e-9))
            *best = it;
    }
}

bool sp_most_telling_run(const struct sp_calibration *fit, struct sp_telling_run *best)
{
    enum { LOOKED_AT = 16 };
    int looked = 0;
    *best = (struct sp_telling_run){.spread = 0};
    for (size_t i = 0; i < fit->n && looked < LOOKED_AT; i++) {
        bool first = is_timed(&fit->runs[i]);
        for (size_t k = 0; k < i && first; k++)
            first = fit->runs[k].group != fit->runs[i].group;
        if (!first)
            continue;
        look_around(fit, fit->runs[i].run, best);
        looked++;
    }
    return best->run != NULL;
}
