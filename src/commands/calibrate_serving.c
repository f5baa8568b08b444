/* calibrate: the profile of a chip and an engine, fitted to a user's own serving runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/calibrate_profile.h"
#include "commands/serving_rows.h"
#include "runs/serving_fit.h"

/* Parts of the cross-validation, by configuration. */
enum { MOST_PARTS = 5 };

struct calibrating {
    const struct sp_args *args;
    struct sp_report *report;
    struct sp_serving_runs runs;
    struct sp_serving_sample *samples;
    size_t *row; /* of each sample */
    int *group;  /* its configuration's number */
    size_t n, used;
    int groups;
    bool own;
    struct sp_profile prior, fitted;
    char chip[64], engine[64];
};

static bool counts(const struct calibrating *c, const struct sp_serving_run *run)
{
    bool measured = false;
    for (int m = 0; m < SP_SERVING_MEASURES; m++)
        measured = measured || run->measured[m] > 0;
    return measured && run->problem[0] == '\0' && strcmp(run->service.hw->name, c->chip) == 0 &&
           (run->scored || c->args->given.all);
}

static bool find_chip(struct calibrating *c, const struct sp_sources *sources,
                      struct sp_error *error)
{
    const char *const spec = c->args->value.hw;
    char name[256];
    struct sp_hardware hw;
    if (!spec)
        return sp_fail(error, SP_USAGE, "--hw is needed: the chip whose runs are fitted");
    if (!sp_check_name(c->args->value.name, error))
        return false;
    sp_machine_name(spec, sources, name, sizeof name);
    if (!sp_load_chip(name, sources, &hw, error))
        return false;
    snprintf(c->chip, sizeof c->chip, "%s", hw.name);
    return true;
}

/* The engine of the chip's runs; more than one is for the user to choose from. */
static bool find_engine(struct calibrating *c, struct sp_error *error)
{
    const char *const given = c->args->value.framework;
    for (size_t i = 0; i < c->runs.n; i++) {
        const struct sp_serving_run *const run = &c->runs.run[i];
        if (!counts(c, run) || (given && strcmp(run->engine->name, given) != 0))
            continue;
        if (c->engine[0] && strcmp(c->engine, run->engine->name) != 0)
            return sp_fail(error, SP_INPUT,
                           "the runs on %s are of several engines (%s, %s): choose one with "
                           "--framework",
                           c->chip, c->engine, run->engine->name);
        snprintf(c->engine, sizeof c->engine, "%.63s", run->engine->name);
    }
    return c->engine[0] || sp_fail(error, SP_INPUT, "%s: no run on %s%s%s that can be predicted",
                                   sp_safe(c->args->operands[0]), c->chip, given ? " with " : "",
                                   given ? sp_safe(given) : "");
}

static void pick_samples(struct calibrating *c)
{
    const size_t room = SP_SERVING_MEASURES * c->runs.n + 1;
    c->samples = calloc(room, sizeof *c->samples);
    c->row = calloc(room, sizeof *c->row);
    c->group = calloc(room, sizeof *c->group);
    if (!c->samples || !c->row || !c->group)
        abort();
    for (size_t i = 0; i < c->runs.n; i++) {
        const struct sp_serving_run *const run = &c->runs.run[i];
        if (!counts(c, run) || strcmp(run->engine->name, c->engine) != 0)
            continue;
        c->used++;
        int group = c->groups;
        for (size_t k = 0; k < c->n && group == c->groups; k++) {
            const struct sp_serving_run *const other = c->samples[k].run;
            if (other && strcmp(other->group, run->group) == 0)
                group = c->group[k];
        }
        c->groups += group == c->groups;
        for (int m = 0; m < SP_SERVING_MEASURES; m++)
            if (run->measured[m] > 0) {
                c->samples[c->n] =
                    (struct sp_serving_sample){run, (enum sp_serving_measure)m, 0, 1};
                c->row[c->n] = i;
                c->group[c->n++] = group;
            }
    }
}

static bool find_prior(struct calibrating *c, const struct sp_sources *sources,
                       struct sp_error *error)
{
    const char *const given = c->args->value.profile;
    const struct sp_serving_run *const run = c->samples[0].run;
    if (!run) /* none was picked */
        return false;
    if (!sp_load_serving(run->service.hw, c->engine, sources, &c->prior, &c->own, error))
        return false;
    if (!given)
        return true;
    c->own = true;
    return sp_load_serving_profile(given, sources, &c->prior, error);
}

/* Statistics of the samples' errors under the profiles of their parts. */
static void put_errors(const struct calibrating *c, const char *scope,
                       const struct sp_profile *profiles, int parts)
{
    struct sp_run_errors errors = sp_new_serving_errors(&c->runs);
    for (size_t i = 0; i < c->n; i++)
        errors.of_kind[c->samples[i].measure][c->row[i]] =
            expm1(sp_serving_log_error(&c->samples[i], profiles[c->group[i] % parts].value));
    sp_scope(c->report, scope);
    sp_put_statistics(c->report, &errors, sp_serving_error_rows, -1, "");
    sp_scope(c->report, "");
    sp_free_run_errors(&errors);
}

/* Each part of the configurations is left out in turn. */
static void put_left_out(const struct calibrating *c, int parts)
{
    struct sp_profile without[MOST_PARTS];
    struct sp_serving_sample *const others = calloc(c->n + 1, sizeof *others);
    if (!others)
        abort();
    for (int part = 0; part < parts; part++) {
        size_t n = 0;
        for (size_t i = 0; i < c->n; i++)
            if (c->group[i] % parts != part)
                others[n++] = c->samples[i];
        sp_fit_serving_pair(others, n, &c->prior, &without[part]);
    }
    put_errors(c, "left_out", without, parts);
    free(others);
}

static void put_summary(const struct calibrating *c)
{
    struct sp_report *const r = c->report;
    sp_put_text(r, SP_Q_CALIBRATE_FILE, "%s", c->args->operands[0]);
    sp_put_text(r, SP_Q_CALIBRATE_CHIP, "%s", c->chip);
    sp_put_text(r, SP_Q_CALIBRATE_FRAMEWORK, "%s", c->engine);
    sp_put_text(r, SP_Q_CALIBRATE_PRIOR, "%s", c->prior.name);
    sp_put_bool(r, SP_Q_CALIBRATE_OWN, c->own);
    sp_put(r, SP_Q_CALIBRATE_RUNS, (double)c->used);
    sp_put(r, SP_Q_CALIBRATE_OTHERS, (double)(c->runs.n - c->used));
    sp_put(r, SP_Q_CALIBRATE_CONFIGS, c->groups);
}

static void lay_out(struct sp_report *r, bool left_out)
{
    sp_line(r, "{runs_used} runs of {configurations} configurations on {chip} with {framework}; "
               "{runs_left_out} others in the file left out");
    sp_line(r, "started         from {prior}; the fit keeps to it where the runs say little");
    sp_line(r,
            "between tokens  median error {before.tpot.median_abs_pct_error} %% before, "
            "{after.tpot.median_abs_pct_error} %% after%s",
            left_out ? ", {left_out.tpot.median_abs_pct_error} % for configurations left out" : "");
    sp_line(r, "first token     median error {before.ttft.median_abs_pct_error} %% before, "
               "{after.ttft.median_abs_pct_error} %% after");
    sp_line(r, "throughput      median error {before.throughput.median_abs_pct_error} %% before, "
               "{after.throughput.median_abs_pct_error} %% after");
    sp_line(r, "unknown         the runs do not determine {undetermined}");
    sp_line(r, "at bounds       {at_bounds}");
    sp_line(r, "written         {written}");
}

static bool calibrate(struct calibrating *c, const struct sp_sources *sources,
                      struct sp_error *error)
{
    char fitted_to[256];
    if (!find_engine(c, error))
        return false;
    pick_samples(c);
    if (!find_prior(c, sources, error))
        return false;
    const int parts = c->groups < MOST_PARTS ? c->groups : MOST_PARTS;
    sp_fit_serving_pair(c->samples, c->n, &c->prior, &c->fitted);
    sp_name_profile(c->args, &c->fitted);
    put_summary(c);
    put_errors(c, "before", &c->prior, 1);
    put_errors(c, "after", &c->fitted, 1);
    if (parts > 1)
        put_left_out(c, parts);
    snprintf(fitted_to, sizeof fitted_to,
             "%zu runs, %d configurations on %s with %s, from profile %s", c->used, c->groups,
             c->chip, c->engine, c->prior.name);
    if (!sp_write_profile(c->args, c->report, &c->fitted, fitted_to, "serve", error))
        return false;
    lay_out(c->report, parts > 1);
    sp_put_fitted_constants(c->report, &c->prior, &c->fitted);
    return true;
}

bool sp_calibrate_serving(const struct sp_args *args, const struct sp_sources *sources,
                          struct sp_report *report, struct sp_error *error)
{
    struct calibrating c = {.args = args, .report = report};
    if (!find_chip(&c, sources, error) ||
        !sp_read_serving_runs(args->operands[0], sources, &c.runs, error))
        return false;
    const bool ok = calibrate(&c, sources, error);
    free(c.samples);
    free(c.row);
    free(c.group);
    sp_serving_runs_free(&c.runs);
    return ok;
}
