/* calibrate: what the runs say, in words, the largest gain first. */
#include "commands/calibrate_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plan_options.h"
#include "commands/neighbours.h"

/* What a constant's move changes, the mean over the runs, of the logarithm of the step. */
struct effect {
    int constant;
    double effect;
};

static bool is_timed(const struct sp_calibrated *run)
{
    return run->sample.step_s > 0;
}

/* Geometric mean of measured over predicted, of the logarithm, by the errors before. */
static double mean_gap(const struct sp_calibration *fit,
                       double (*error)(const struct sp_calibrated *))
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < fit->n; i++)
        if (is_timed(&fit->runs[i])) {
            sum -= fit->runs[i].sample.weight * error(&fit->runs[i]);
            n += fit->runs[i].sample.weight;
        }
    return n > 0 ? sum / n : NAN;
}

static double error_before(const struct sp_calibrated *run)
{
    return run->before;
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
    const double x = fabs(((const struct effect *)a)->effect),
                 y = fabs(((const struct effect *)b)->effect);
    return (x < y) - (x > y);
}

/* The constants whose moves change the steps, the largest first. */
static void put_effects(struct sp_report *r, const struct sp_calibration *fit)
{
    enum { SHOWN = 3 };
    struct effect effects[SP_CONSTANTS];
    for (int c = 0; c < SP_CONSTANTS; c++)
        effects[c] = (struct effect){c, effect_of(fit, c)};
    qsort(effects, SP_CONSTANTS, sizeof *effects, by_effect);
    for (int i = 0; i < SHOWN && fabs(effects[i].effect) > 1e-3; i++) {
        char scope[32];
        const int c = effects[i].constant;
        const struct sp_constant_info *const info = &sp_constants[c];
        snprintf(scope, sizeof scope, "explains.%d", i);
        sp_scope(r, scope);
        sp_put_text(r, SP_Q_CALIBRATE_E_CONSTANT, "%s", info->key);
        sp_put(r, SP_Q_CALIBRATE_E_EFFECT, 100 * expm1(effects[i].effect));
        sp_line(r, "%s %s %.3g -> %.3g: steps %+.1f %% (%s)", i == 0 ? "most by   " : "          ",
                info->key, fit->prior.value[c], fit->fitted.value[c],
                100 * expm1(effects[i].effect), info->meaning);
    }
    sp_scope(r, "");
}

void sp_put_gap_of_runs(struct sp_report *r, const struct sp_calibration *fit)
{
    const double gap = mean_gap(fit, error_before);
    sp_put(r, SP_Q_CALIBRATE_GAP, 100 * expm1(gap));
    if (isnan(gap))
        return;
    sp_line(r,
            "your runs  are %.1f %% %s than profile %s says, in the mean; the largest gain first:",
            100 * fabs(expm1(gap)), gap < 0 ? "faster" : "slower", fit->prior.name);
    put_effects(r, fit);
}

/* A plan beside one that was run, and what its step would tell. */
struct telling {
    const struct sp_run *run;
    struct sp_neighbour plan;
    int constant;  /* that it hangs on most */
    double spread; /* of the logarithm of its step by all that the runs leave open */
};

/* How far a step is open, of the logarithm, one standard deviation, and by which constant most. */
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

/* Looks through the plans that are one change away from a run's. */
static void look_around(const struct sp_calibration *fit, const struct sp_run *run,
                        struct telling *best)
{
    struct sp_planned planned = {.model = run->model,
                                 .hw = run->hw,
                                 .precision = run->precision,
                                 .framework = run->framework,
                                 .profile = fit->fitted,
                                 .plan = run->plan};
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    struct sp_step_inputs in = sp_inputs_of(&planned);
    const struct sp_repertoire runs = sp_repertoire_of(&planned, false);
    const size_t n = sp_find_neighbours(&in, &runs, near);
    for (size_t i = 0; i < n; i++) {
        struct telling it = {.run = run, .plan = near[i]};
        in.plan = &near[i].plan;
        it.spread = near[i].fits ? open_spread(fit, &in, &it.constant) : 0;
        if (it.spread > best->spread * (1 + 1e-9))
            *best = it;
    }
}

void sp_put_next_run(struct sp_report *r, const struct sp_calibration *fit)
{
    enum { LOOKED_AT = 16 };
    struct telling best = {.spread = 0};
    int looked = 0;
    for (size_t i = 0; i < fit->n && looked < LOOKED_AT; i++) {
        bool first = is_timed(&fit->runs[i]);
        for (size_t k = 0; k < i && first; k++)
            first = fit->runs[k].group != fit->runs[i].group;
        if (!first)
            continue;
        look_around(fit, fit->runs[i].run, &best);
        looked++;
    }
    if (!best.run)
        return;
    char change[64];
    sp_change_text(&best.plan, "", change, sizeof change);
    sp_put_text(r, SP_Q_CALIBRATE_N_RUN, "%s", best.run->id);
    sp_put_text(r, SP_Q_CALIBRATE_N_CHANGE, "%s", change);
    sp_put_text(r, SP_Q_CALIBRATE_N_CONSTANT, "%s", sp_constants[best.constant].key);
    sp_put(r, SP_Q_CALIBRATE_N_SPREAD, 100 * expm1(best.spread));
    sp_line(r,
            "next run   {next.run} with {next.change} would tell most: what these runs leave open, "
            "{next.constant} above all, moves its step by {next.spread_pct} %%");
}
