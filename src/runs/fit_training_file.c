/* Fits a profile to a file of training runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "runs/fit_file.h"

/* Why a run does not count; NULL: it does. */
static const char *reason_of(const struct sp_fit_request *q, const struct sp_run *run)
{
    if (run->problem[0] != '\0')
        return run->problem;
    if (strcmp(run->chip, q->chip) != 0)
        return "of another chip";
    if (!q->all && !run->scored)
        return "its source omits a needed field (--all counts it)";
    return run->step_s > 0 ||
                   (run->memory_bytes > 0 && run->level < SP_CLOSED_FORM && run->recompute_stated)
               ? NULL
               : "it has no step time, and no memory that can be compared";
}

static bool counts(const struct sp_fit_request *q, const struct sp_run *run)
{
    return !reason_of(q, run);
}

/* The framework of the chip's runs; if there are several, the user must choose one. */
static bool find_framework(const struct sp_fit_request *q, struct sp_fit_of_file *f,
                           struct sp_error *error)
{
    char seen[256] = "", why[192] = "";
    size_t several = 0;
    for (size_t i = 0; i < f->runs.n; i++) {
        const struct sp_run *const run = &f->runs.run[i];
        const char *const name = run->framework.framework.name;
        if (run->problem[0] != '\0' && !why[0])
            snprintf(why, sizeof why, "; %.100s: %.80s", run->id, run->problem);
        if (!counts(q, run) || (q->framework && strcmp(name, q->framework) != 0) ||
            strstr(seen, name))
            continue;
        sp_append(seen, sizeof seen, "%s%s", seen[0] ? ", " : "", name);
        snprintf(f->framework, sizeof f->framework, "%s", name);
        several++;
    }
    if (several == 1)
        return true;
    if (several > 1)
        return sp_fail(error, SP_INPUT,
                       "the runs on %s have several frameworks (%s): choose one with --framework",
                       q->chip, seen);
    return sp_fail(error, SP_INPUT, "%s: no run on %s%s%s that can be predicted%s",
                   sp_safe(q->file), q->chip, q->framework ? " with " : "",
                   q->framework ? sp_safe(q->framework) : "", why);
}

/* The number of a run's configuration: that of an earlier run of it, else the next. */
static int group_of(struct sp_calibration *fit, const struct sp_run *run)
{
    for (size_t k = 0; k < fit->n; k++)
        if (fit->runs[k].run && strcmp(fit->runs[k].run->group, run->group) == 0)
            return fit->runs[k].group;
    return fit->groups++;
}

/* Says why each of the other runs is left out. */
static void leave_out_others(const struct sp_fit_request *q, struct sp_fit_of_file *f)
{
    for (size_t i = 0; i < f->runs.n; i++) {
        const struct sp_run *const run = &f->runs.run[i];
        const char *const reason = reason_of(q, run);
        if (reason || strcmp(run->framework.framework.name, f->framework) != 0)
            sp_leave_out(&f->others, run->id, reason ? reason : "of another framework");
        else
            f->no_level += run->memory_bytes > 0 && run->level == SP_NO_LEVEL;
    }
}

/* Picks the runs and numbers their configurations, those with a step time first. */
static void pick_runs(const struct sp_fit_request *q, struct sp_fit_of_file *f)
{
    struct sp_calibration *const fit = &f->fit;
    fit->runs = sp_must(calloc(f->runs.n + 1, sizeof *fit->runs));
    for (int timed = 1; timed >= 0; timed--)
        for (size_t i = 0; i < f->runs.n; i++) {
            struct sp_run *const run = &f->runs.run[i];
            if (!counts(q, run) || strcmp(run->framework.framework.name, f->framework) != 0 ||
                (run->step_s > 0) != (timed == 1))
                continue;
            if (!run->recompute_stated)
                run->memory_bytes = NAN; /* it chose the policy: it cannot judge too */
            const int group = group_of(fit, run);
            fit->runs[fit->n++] = (struct sp_calibrated){
                .run = run,
                .sample = {{&run->model, &run->hw, &run->precision, &run->framework.framework, NULL,
                            &run->plan, NULL},
                           run->step_s,
                           1},
                .group = group,
            };
        }
}

static bool find_prior(const struct sp_fit_request *q, struct sp_fit_of_file *f,
                       struct sp_error *error)
{
    const struct sp_run *const run = f->fit.runs[0].run;
    struct sp_profile stack;
    if (!sp_load_stack(&run->hw, &run->framework.framework, q->sources, &stack, &f->own, error))
        return false;
    f->fit.prior = stack;
    if (!q->profile)
        return true;
    f->own = true;
    if (!sp_load_profile(q->profile, q->sources, &f->fit.prior, error))
        return false;
    return f->fit.prior.kind == stack.kind ||
           sp_fail(error, SP_INPUT, "--profile %s: fitted to a different kind of machine from %s",
                   sp_safe(q->profile), q->chip);
}

/* Statistics of the five errors of each run, over configurations. */
static void sum_up_errors(struct sp_fit_of_file *f)
{
    enum { KINDS = 5 };
    struct sp_error_stats *const to[KINDS] = {&f->step[SP_BEFORE_FIT], &f->step[SP_AFTER_FIT],
                                              &f->step[SP_LEFT_OUT_OF_FIT],
                                              &f->memory[SP_BEFORE_FIT], &f->memory[SP_AFTER_FIT]};
    struct sp_run_errors errors;
    sp_init_run_errors(&errors, NULL, f->fit.n, KINDS);
    for (size_t i = 0; i < f->fit.n; i++) {
        const struct sp_calibrated *const r = &f->fit.runs[i];
        const double of[] = {r->before, r->after, r->left_out, r->memory_before, r->memory_after};
        errors.configuration[i] = r->group;
        for (int k = 0; k < errors.kinds; k++)
            errors.of_kind[k][i] = expm1(of[k]);
    }
    for (int k = 0; k < errors.kinds; k++)
        *to[k] = sp_errors_of_rows(&errors, k, -1, "");
    sp_free_run_errors(&errors);
}

/* The runs of the file, and the one from a log after them. */
static bool read_runs(const struct sp_fit_request *q, struct sp_runs *runs, struct sp_error *error)
{
    if (q->file && !sp_read_runs(q->file, q->sources, runs, error))
        return false;
    if (!q->logged)
        return true;
    runs->run = sp_must(realloc(runs->run, (runs->n + 1) * sizeof *runs->run));
    runs->run[runs->n++] = *q->logged;
    return true;
}

bool sp_fit_training_file(const struct sp_fit_request *q, struct sp_fit_of_file *f,
                          struct sp_error *error)
{
    enum { MENTIONED = 3 };
    if (!read_runs(q, &f->runs, error) || !find_framework(q, f, error))
        return false;
    snprintf(f->chip, sizeof f->chip, "%s", q->chip);
    leave_out_others(q, f);
    pick_runs(q, f);
    if (!find_prior(q, f, error))
        return false;
    sp_calibrate(&f->fit);
    f->used = f->fit.n;
    sum_up_errors(f);
    f->gap = sp_calibration_gap(&f->fit);
    sp_constant_effects(&f->fit, f->effects);
    while (!isnan(f->gap) && f->n_effects < MENTIONED &&
           fabs(f->effects[f->n_effects].effect) > 1e-3)
        f->n_effects++;
    f->has_next = sp_most_telling_run(&f->fit, &f->next);
    return true;
}

void sp_free_fit_of_file(struct sp_fit_of_file *f)
{
    free(f->fit.runs);
    sp_runs_free(&f->runs);
}
