/* validate: measured runs against their predictions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/run_estimate.h"
#include "cli/command.h"
#include "commands/serving_rows.h"

static const struct sp_taken options[] = {
    SP_TAKE(by),
    SP_TAKE(profile),
    SP_TAKE(all),
};

/* A run and what was predicted of it. */
struct verdict {
    double time_error, memory_error; /* NAN: does not count */
    char reason[256];
};

struct validation {
    struct sp_runs runs;
    struct verdict *verdicts;
    int *configuration;
    struct sp_profile known[SP_MAX_PROFILES], given;
    size_t n_known;
    bool one_profile, all;
    struct sp_row *rows;
    struct sp_report *report;
};

static void give_reason(struct verdict *v, const char *reason)
{
    const size_t used = strlen(v->reason);
    snprintf(v->reason + used, sizeof v->reason - used, "%s%s", used ? "; " : "", reason);
}

/* The profile that predicts a run; true when it is the stack's own or the user's choice. */
static bool profile_of(const struct validation *f, const struct sp_run *run,
                       struct sp_profile *profile)
{
    bool own = true;
    if (f->one_profile)
        *profile = f->given;
    else
        sp_profile_for(&run->hw, &run->framework.framework, f->known, f->n_known, profile, &own);
    return own;
}

static void predict_time(struct validation *f, const struct sp_run *run,
                         const struct sp_estimate *e, struct verdict *v)
{
    struct sp_report *const r = f->report;
    const double step = e->time.step;
    sp_put(r, SP_Q_VALIDATE_MEASURED, run->step_s);
    sp_put(r, SP_Q_VALIDATE_PREDICTED, step);
    sp_put(r, SP_Q_VALIDATE_LOW, e->low_s);
    sp_put(r, SP_Q_VALIDATE_HIGH, e->high_s);
    sp_put(r, SP_Q_VALIDATE_ERROR, 100 * (step / run->step_s - 1));
    if (isnan(run->step_s))
        give_reason(v, "no step time is measured");
    else
        v->time_error = step / run->step_s - 1;
}

static void predict_memory(struct validation *f, const struct sp_run *run,
                           const struct sp_stage_memory *m, struct verdict *v)
{
    struct sp_report *const r = f->report;
    if (isnan(run->memory_bytes) || run->level >= SP_CLOSED_FORM) {
        sp_put_null(r, SP_Q_VALIDATE_MEM_LEVEL);
        sp_put_null(r, SP_Q_VALIDATE_MEM_MEASURED);
        sp_put(r, SP_Q_VALIDATE_MEM_PREDICTED, (double)m->live);
        sp_put_null(r, SP_Q_VALIDATE_MEM_ERROR);
        if (run->level == SP_CLOSED_FORM)
            give_reason(v, "its memory is a closed form, not a measurement");
        else if (!isnan(run->memory_bytes))
            give_reason(v, "what its memory counts is not stated");
        return;
    }
    const double predicted = sp_bytes_at_level(m, run->level);
    sp_put_text(r, SP_Q_VALIDATE_MEM_LEVEL, "%s", sp_memory_level_names[run->level]);
    sp_put(r, SP_Q_VALIDATE_MEM_MEASURED, run->memory_bytes);
    sp_put(r, SP_Q_VALIDATE_MEM_PREDICTED, predicted);
    sp_put(r, SP_Q_VALIDATE_MEM_ERROR, 100 * (predicted / run->memory_bytes - 1));
    if (run->recompute_stated)
        v->memory_error = predicted / run->memory_bytes - 1;
    else
        give_reason(v, "its memory depends on the recompute policy, which is not stated");
}

static void predict(struct validation *f, const struct sp_run *run, struct verdict *v)
{
    struct sp_profile profile;
    struct sp_estimate e;
    sp_put_bool(f->report, SP_Q_VALIDATE_OWN, profile_of(f, run, &profile));
    sp_estimate_run(run, &profile, &e);
    sp_put_text(f->report, SP_Q_VALIDATE_PROFILE, "%s", profile.name);
    predict_time(f, run, &e, v);
    predict_memory(f, run, &e.memory, v);
}

static void predict_row(struct validation *f, size_t i)
{
    const struct sp_run *const run = &f->runs.run[i];
    struct verdict *const v = &f->verdicts[i];
    *v = (struct verdict){NAN, NAN, ""};
    snprintf(f->rows[i].prefix, sizeof f->rows[i].prefix, "runs.%zu", i);
    sp_scope(f->report, f->rows[i].prefix);
    sp_put_text(f->report, SP_Q_VALIDATE_ID, "%s", run->id);
    if (run->framework.framework.name[0] != '\0')
        sp_put_text(f->report, SP_Q_VALIDATE_FRAMEWORK, "%s", run->framework.framework.name);
    else
        sp_put_null(f->report, SP_Q_VALIDATE_FRAMEWORK);
    if (run->note[0] != '\0')
        sp_put_text(f->report, SP_Q_VALIDATE_NOTE, "%s", run->note);
    else
        sp_put_null(f->report, SP_Q_VALIDATE_NOTE);
    if (run->problem[0] != '\0') {
        give_reason(v, run->problem);
    } else {
        predict(f, run, v);
        if (!run->scored && !f->all) {
            v->time_error = v->memory_error = NAN;
            give_reason(v, "its source leaves a needed field out (--all counts it)");
        }
    }
    if (v->reason[0] != '\0')
        sp_put_text(f->report, SP_Q_VALIDATE_REASON, "%s", v->reason);
    else
        sp_put_null(f->report, SP_Q_VALIDATE_REASON);
}

/* Runs of one configuration have the number of the first of them. */
static void number_configurations(struct validation *f)
{
    for (size_t i = 0; i < f->runs.n; i++)
        for (size_t k = 0; k <= i; k++)
            if (strcmp(f->runs.run[k].group, f->runs.run[i].group) == 0) {
                f->configuration[i] = (int)k;
                break;
            }
}

static const struct sp_column statistic_columns[] = {
    {"time.n", "step times", false},
    {"time.mean_abs_pct_error", "mean %", false},
    {"time.median_abs_pct_error", "median %", false},
    {"time.p90_abs_pct_error", "p90 %", false},
    {"time.bias_pct", "bias %", false},
    {"memory.n", "memory", false},
    {"memory.mean_abs_pct_error", "mean %", false},
    {"memory.p90_abs_pct_error", "p90 %", false},
    {"memory.bias_pct", "bias %", false},
};

static const struct sp_error_row_ids error_rows[] = {
    {SP_Q_VALIDATE_TIME_N, SP_Q_VALIDATE_TIME_MEDIAN, SP_Q_VALIDATE_TIME_MEAN,
     SP_Q_VALIDATE_TIME_P90, SP_Q_VALIDATE_TIME_BIAS},
    {SP_Q_VALIDATE_MEMORY_N, SP_Q_VALIDATE_MEMORY_MEDIAN, SP_Q_VALIDATE_MEMORY_MEAN,
     SP_Q_VALIDATE_MEMORY_P90, SP_Q_VALIDATE_MEMORY_BIAS}};

/* The errors of both kinds, in the order of the rows. */
static struct sp_run_errors errors_of(const struct validation *f)
{
    struct sp_run_errors e;
    sp_init_run_errors(&e, &f->runs.csv, f->runs.n, 2);
    for (size_t i = 0; i < f->runs.n; i++) {
        e.configuration[i] = f->configuration[i];
        e.of_kind[0][i] = f->verdicts[i].time_error;
        e.of_kind[1][i] = f->verdicts[i].memory_error;
    }
    return e;
}

static void lay_out(struct validation *f)
{
    static const struct sp_column columns[] = {
        {"id", "run", true},
        {"profile", "profile", true},
        {"measured_step_s", "measured", false},
        {"predicted_step_s", "predicted", false},
        {"error_pct", "error %", false},
        {"measured_memory_bytes", "memory", false},
        {"predicted_memory_bytes", "predicted", false},
        {"memory_error_pct", "error %", false},
        {"reason", "does not count", true},
    };
    sp_line(f->report, " ");
    sp_table(f->report, columns, sizeof columns / sizeof *columns, f->rows, f->runs.n);
}

/* Both errors in a line each, and the runs that count for neither. */
static void put_summary(struct sp_report *r)
{
    sp_line(r, "step time  {time.n} configurations: mean {time.mean_abs_pct_error} %%, median "
               "{time.median_abs_pct_error} %%, 90 in 100 within {time.p90_abs_pct_error} %%, bias "
               "{time.bias_pct} %%");
    sp_line(r, "memory     {memory.n} configurations: mean {memory.mean_abs_pct_error} %%, median "
               "{memory.median_abs_pct_error} %%, 90 in 100 within {memory.p90_abs_pct_error} %%, "
               "bias {memory.bias_pct} %%");
    sp_line(r, "skipped    {skipped} of {rows} runs, with the reason beside each");
}

static bool fill_report(struct validation *f, const struct sp_args *args, struct sp_error *error)
{
    struct sp_report *const r = f->report;
    size_t skipped = 0;
    if (f->runs.n == 0)
        sp_line(r, "runs       none: the file has a header alone");
    else
        put_summary(r);
    for (size_t i = 0; i < f->runs.n; i++) {
        predict_row(f, i);
        skipped += isnan(f->verdicts[i].time_error) && isnan(f->verdicts[i].memory_error);
    }
    sp_scope(r, "");
    sp_put_text(r, SP_Q_VALIDATE_FILE, "%s", args->operands[0]);
    sp_put(r, SP_Q_VALIDATE_ROWS, (double)f->runs.n);
    sp_put(r, SP_Q_VALIDATE_SKIPPED, (double)skipped);
    struct sp_run_errors errors = errors_of(f);
    const char *const by = args->value.by;
    sp_put_statistics(r, &errors, error_rows, -1, "");
    sp_answer_is(f->report, by ? "groups" : "runs");
    const bool ok =
        !by || sp_put_statistics_by(r, &errors, error_rows, by, statistic_columns,
                                    sizeof statistic_columns / sizeof *statistic_columns, error);
    sp_free_run_errors(&errors);
    if (!ok)
        return false;
    lay_out(f);
    sp_note(r, "the built-in profiles were fitted to the runs that they name; on these the errors "
               "are those of the fit (docs/accuracy.md has those of runs left out)");
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const char *const profile = args->value.profile;
    bool serves;
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE, "one file of runs is needed: scaleplan validate RUNS.csv");
    if (!sp_is_serving_file(args->operands[0], &sources, &serves, error))
        return false;
    if (serves)
        return sp_validate_serving(args, &sources, report, error);
    struct validation f = {
        .report = report, .all = args->given.all, .one_profile = profile != NULL};
    if (profile && !sp_load_profile(profile, &sources, &f.given, error))
        return false;
    if (!sp_read_runs(args->operands[0], &sources, &f.runs, error))
        return false;
    if (!profile && !sp_load_profiles(&sources, f.known, &f.n_known, error)) {
        sp_runs_free(&f.runs);
        return false;
    }
    f.verdicts = calloc(f.runs.n + 1, sizeof *f.verdicts);
    f.rows = calloc(f.runs.n + 1, sizeof *f.rows);
    f.configuration = calloc(f.runs.n + 1, sizeof *f.configuration);
    if (!f.verdicts || !f.rows || !f.configuration)
        abort();
    number_configurations(&f);
    const bool ok = fill_report(&f, args, error);
    free(f.verdicts);
    free(f.rows);
    free(f.configuration);
    sp_runs_free(&f.runs);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan validate runs.csv", "every run's measured and predicted time and memory"},
    {"scaleplan validate runs.csv --by hardware --get time.mean_abs_pct_error,time.n",
     "two bare numbers for a script"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_validate = {
    .name = "validate",
    .summary = "the estimator against measured runs, with error statistics",
    .operands = "RUNS.csv",
    .about =
        "Predicts step time and peak memory of every run of a CSV file (architecture, machine "
        "and plan in its columns; see docs/runs.md) and compares. A run that cannot be "
        "predicted stays in the list with the reason. Repeats of one configuration "
        "(config_group) count once. A file of serving runs, which has columns input and output, is "
        "compared in the time between tokens, to the first, and in throughput.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
