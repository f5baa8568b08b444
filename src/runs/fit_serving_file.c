/* Fits a profile of a chip and an engine to a file of serving runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "runs/fit_file.h"
#include "runs/serving_errors.h"
#include "runs/serving_fit.h"

/* Parts of the cross-validation, by configuration. */
enum { MOST_PARTS = 5 };

/* The measurements that are fitted to, with their rows and the numbers of their configurations. */
struct samples {
    const struct sp_serving_runs *runs;
    struct sp_serving_sample *sample;
    size_t *row;
    int *group;
    size_t n;
};

/* Why a run does not count; NULL: it does. */
static const char *reason_of(const struct sp_fit_request *q, const struct sp_serving_run *run)
{
    bool measured = false;
    for (int m = 0; m < SP_SERVING_MEASURES; m++)
        measured = measured || run->measured[m] > 0;
    return run->problem[0]                               ? run->problem
           : strcmp(run->service.hw->name, q->chip) != 0 ? "of another chip"
           : !run->scored && !q->all && run->why[0]      ? run->why
           : !run->scored && !q->all                     ? "its source omits a needed field"
           : !measured                                   ? "it has no measurement"
                                                         : NULL;
}

static bool counts(const struct sp_fit_request *q, const struct sp_serving_run *run)
{
    return !reason_of(q, run);
}

/* The engine of the chip's runs; more than one is for the user to choose from. */
static bool find_engine(const struct sp_fit_request *q, const struct sp_serving_runs *runs,
                        struct sp_fit_of_file *f, struct sp_error *error)
{
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_serving_run *const run = &runs->run[i];
        const char *const name = counts(q, run) ? run->engine->name : NULL;
        if (!name || (q->framework && strcmp(name, q->framework) != 0))
            continue;
        if (f->framework[0] && strcmp(f->framework, name) != 0)
            return sp_fail(
                error, SP_INPUT,
                "the runs on %s have several engines (%s, %s): choose one with --framework",
                q->chip, f->framework, name);
        snprintf(f->framework, sizeof f->framework, "%.63s", name);
    }
    return f->framework[0] || sp_fail(error, SP_INPUT, "%s: no run on %s%s%s that can be predicted",
                                      sp_safe(q->file), q->chip, q->framework ? " with " : "",
                                      q->framework ? sp_safe(q->framework) : "");
}

/* The number of a run's configuration: that of an earlier sample of it, else the next. */
static int group_of(const struct samples *s, const struct sp_serving_run *run, int *groups)
{
    for (size_t k = 0; k < s->n; k++)
        if (strcmp(s->sample[k].run->group, run->group) == 0)
            return s->group[k];
    return (*groups)++;
}

static void pick_samples(const struct sp_fit_request *q, struct samples *s,
                         struct sp_fit_of_file *f)
{
    for (size_t i = 0; i < s->runs->n; i++) {
        const struct sp_serving_run *const run = &s->runs->run[i];
        const char *const reason = reason_of(q, run);
        if (reason || strcmp(run->engine->name, f->framework) != 0) {
            sp_leave_out(&f->others, run->id, reason ? reason : "of another engine");
            continue;
        }
        f->used++;
        const int group = group_of(s, run, &f->fit.groups);
        for (int m = 0; m < SP_SERVING_MEASURES; m++)
            if (run->measured[m] > 0) {
                s->sample[s->n] = (struct sp_serving_sample){run, (enum sp_serving_measure)m, 0, 1};
                s->row[s->n] = i;
                s->group[s->n++] = group;
            }
    }
}

/* Statistics of the samples' errors under the profiles of their parts. */
static void sum_up_errors(const struct samples *s, const struct sp_profile *profiles, int parts,
                          struct sp_error_stats of[SP_SERVING_MEASURES])
{
    struct sp_run_errors errors = sp_new_serving_errors(s->runs);
    for (size_t i = 0; i < s->n; i++)
        errors.of_kind[s->sample[i].measure][s->row[i]] =
            expm1(sp_serving_log_error(&s->sample[i], profiles[s->group[i] % parts].value));
    for (int m = 0; m < SP_SERVING_MEASURES; m++)
        of[m] = sp_errors_of_rows(&errors, m, -1, "");
    sp_free_run_errors(&errors);
}

/* Each part of the configurations is left out in turn. */
static void cross_validate(const struct samples *s, struct sp_fit_of_file *f)
{
    struct sp_profile without[MOST_PARTS];
    struct sp_serving_sample *const others = sp_must(calloc(s->n + 1, sizeof *others));
    for (int part = 0; part < f->fit.parts; part++) {
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++)
            if (s->group[i] % f->fit.parts != part)
                others[n++] = s->sample[i];
        sp_fit_serving_pair(others, n, &f->fit.prior, &without[part]);
    }
    sum_up_errors(s, without, f->fit.parts, f->serving[SP_LEFT_OUT_OF_FIT]);
    free(others);
}

static bool fit(const struct sp_fit_request *q, struct samples *s, struct sp_fit_of_file *f,
                struct sp_error *error)
{
    struct sp_calibration *const c = &f->fit;
    if (!find_engine(q, s->runs, f, error))
        return false;
    pick_samples(q, s, f);
    const struct sp_serving_run *const first = s->sample[0].run;
    if (!first) /* the engine is that of a run that counts */
        abort();
    if (!sp_load_serving(first->service.hw, f->framework, q->sources, &c->prior, &f->own, error) ||
        (q->profile && !sp_load_serving_profile(q->profile, q->sources, &c->prior, error)))
        return false;
    f->own = f->own || q->profile;
    sp_fit_serving_pair(s->sample, s->n, &c->prior, &c->fitted);
    sum_up_errors(s, &c->prior, 1, f->serving[SP_BEFORE_FIT]);
    sum_up_errors(s, &c->fitted, 1, f->serving[SP_AFTER_FIT]);
    c->parts = c->groups < 2 ? 0 : c->groups < MOST_PARTS ? c->groups : MOST_PARTS;
    if (c->parts > 0)
        cross_validate(s, f);
    return true;
}

bool sp_fit_serving_file(const struct sp_fit_request *q, struct sp_fit_of_file *f,
                         struct sp_error *error)
{
    struct sp_serving_runs runs;
    if (!sp_read_serving_runs(q->file, q->sources, &runs, error))
        return false;
    const size_t room = SP_SERVING_MEASURES * runs.n + 1;
    struct samples s = {.runs = &runs,
                        .sample = sp_must(calloc(room, sizeof *s.sample)),
                        .row = sp_must(calloc(room, sizeof *s.row)),
                        .group = sp_must(calloc(room, sizeof *s.group))};
    snprintf(f->chip, sizeof f->chip, "%s", q->chip);
    const bool ok = fit(q, &s, f, error);
    free(s.sample);
    free(s.row);
    free(s.group);
    sp_serving_runs_free(&runs);
    return ok;
}
