/* validate: measured runs against their predictions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "cli/command.h"
#include "cli/example.h"
#include "pictures/measured.h"
#include "runs/columns.h"
#include "runs/serving_errors.h"
#include "runs/validation.h"

static const struct sp_taken options[] = {
    SP_TAKE(example), SP_TAKE(by), SP_TAKE(profile), SP_TAKE(all), SP_OPTION_PLOT,
};

/* A file of runs alongside their predictions; validate.def shows it. */
struct validating {
    const char *file, *by; /* --by, or NULL */
    bool serves;
    struct sp_runs runs;
    struct sp_serving_runs serving;
    size_t n, skipped, no_level; /* no_level: runs whose memory does not say what it includes */
    char first[128], why[288];   /* the first run in no statistic, and the reason */
    char columns[400];           /* those that are not read, each with the nearest that is */
    struct sp_run_errors errors;
    int column; /* of --by */
};

#define SP_PART validate_run
#define SP_PART_OF struct sp_validated
#include "answer/put_rows.h"

#define SP_PART validate_serving
#define SP_PART_OF struct sp_run_prediction
#include "answer/put_rows.h"

#define SP_PART validate_error
#define SP_PART_OF struct sp_kind_errors
#include "answer/put_rows.h"

#define SP_PART validate_group
#define SP_PART_OF char
#include "answer/put_rows.h"

/* The statistics of the runs whose column has this value; of all where it is -1. */
static void put_statistics(struct sp_report *r, const struct validating *s, int column,
                           const char *value)
{
    for (int k = 0; k < s->errors.kinds; k++)
        put_validate_error_rows(
            r, &(struct sp_kind_errors){(enum sp_error_kind)(s->serves ? SP_ERRORS_OF_TPOT + k : k),
                                        sp_errors_of_rows(&s->errors, k, column, value)});
}

static void put_all(struct sp_report *r, const struct validating *s)
{
    put_statistics(r, s, -1, "");
}

/* The same for each value of the column of --by, in the order of the file. */
static void put_groups(struct sp_report *r, const struct validating *s)
{
    for (size_t i = 0, n = 0; i < s->n; i++) {
        const char *const value = sp_csv_cell(s->errors.csv, i, s->column);
        if (!sp_is_first_of_value(&s->errors, s->column, i))
            continue;
        sp_begin_row(r, value[0] ? value : "(none)", "groups.%zu", n++);
        put_validate_group_rows(r, value);
        put_statistics(r, s, s->column, value);
    }
    sp_scope(r, "");
}

/* Whether some run has a prediction and a measurement of that kind. */
static bool compares(const struct validating *s, enum sp_error_kind kind)
{
    const int first = s->serves ? SP_ERRORS_OF_TPOT : SP_ERRORS_OF_TIME;
    return sp_errors_of_rows(&s->errors, (int)kind - first, -1, "").n > 0;
}

#define SP_PART validate
#define SP_PART_OF struct validating
#include "answer/put_rows.h"

/* Keeps the first reason why a run is in no statistic. */
static void keep_reason(struct validating *s, const char *id, const char *reason)
{
    if (s->first[0] || !reason[0])
        return;
    snprintf(s->first, sizeof s->first, "%s", id);
    snprintf(s->why, sizeof s->why, "%s", reason);
}

static bool predict_training(const struct sp_args *args, const struct sp_sources *sources,
                             struct validating *s, struct sp_report *report, struct sp_error *error)
{
    struct sp_run_profiles *const profiles = sp_must(calloc(1, sizeof *profiles));
    bool ok = sp_load_run_profiles(args->value.profile, sources, profiles, error) &&
              sp_open_runs(s->file, sources, &s->runs, error);
    s->n = s->runs.n;
    s->errors = sp_new_training_errors(&s->runs);
    const int column = ok && s->by ? sp_run_column(&s->runs.csv, s->by) : -1;
    for (size_t i = 0; ok && i < s->n; i++) {
        struct sp_run row;
        struct sp_validated run;
        ok = sp_read_run(&s->runs, i, &row, error);
        if (!ok)
            break;
        sp_validate_run(&row, profiles, args->given.all, &run);
        s->no_level += run.is_predicted && row.memory_bytes > 0 && row.level == SP_NO_LEVEL;
        sp_begin_row(report, "", "runs.%zu", i);
        put_validate_run_rows(report, &run);
        for (int k = 0; k < SP_TRAINING_ERRORS; k++)
            s->errors.of_kind[k][i] = run.error[k];
        if (isnan(run.error[SP_ERRORS_OF_TIME]) && isnan(run.error[SP_ERRORS_OF_MEMORY]))
            keep_reason(s, row.id, run.reason);
        if (SP_FORGETS)
            sp_csv_forget(&s->runs.csv, i, column);
    }
    free(profiles);
    return ok;
}

static bool predict_serving(const struct sp_args *args, const struct sp_sources *sources,
                            struct validating *s, struct sp_report *report, struct sp_error *error)
{
    const char *const profile = args->value.profile;
    struct sp_profile given = {.serves = true};
    struct sp_pair_profiles *const profiles = sp_must(calloc(1, sizeof *profiles));
    profiles->sources = sources;
    profiles->given = profile ? &given : NULL;
    bool ok = (!profile || sp_load_serving_profile(profile, sources, &given, error)) &&
              sp_read_serving_runs(s->file, sources, &s->serving, error);
    s->n = s->serving.n;
    s->errors = sp_new_serving_errors(&s->serving);
    for (size_t i = 0; ok && i < s->n; i++) {
        struct sp_run_prediction run;
        ok = sp_predict_serving_run(&s->serving.run[i], profiles, args->given.all, &run, error);
        if (!ok)
            break;
        sp_begin_row(report, "", "runs.%zu", i);
        put_validate_serving_rows(report, &run);
        keep_reason(s, run.run->id, run.reason);
        for (int k = 0; run.counts && k < SP_SERVING_MEASURES; k++)
            s->errors.of_kind[k][i] = run.of[k].error;
    }
    free(profiles);
    return ok;
}

/* Refuses a file without runs, and a file with unknown columns if none of its runs counts. */
static bool check_read(struct validating *s, struct sp_error *error)
{
    const size_t unread =
        s->serves ? 0 : sp_list_unread(s->errors.csv, s->columns, sizeof s->columns);
    const char *const file = sp_safe(sp_origin_of(s->file));
    if (s->n == 0)
        return sp_fail(error, SP_INPUT, "%s: no runs: the file has only a header", file);
    if (unread == 0 || sp_rows_without_error(&s->errors) < s->n)
        return true;
    return sp_fail(error, SP_INPUT,
                   "%s: all runs (%zu) are skipped; the first, %s: %s; unknown columns: %s", file,
                   s->n, sp_safe(s->first), s->why, s->columns);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    if (args->given.example)
        return sp_file_text(report, sp_example_runs), true;
    const struct sp_sources sources = sp_sources_of(args);
    struct validating s = {.file = args->operands[0], .by = args->value.by};
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE, "give a file of runs: scaleplan validate RUNS.csv");
    if (!sp_is_serving_file(s.file, &sources, &s.serves, error))
        return false;
    const bool ok =
        (s.serves ? predict_serving : predict_training)(args, &sources, &s, report, error) &&
        check_read(&s, error) && (!s.by || sp_find_column(s.errors.csv, s.by, &s.column, error));
    s.skipped = sp_rows_without_error(&s.errors);
    sp_scope(report, "");
    sp_answer_is(report, s.by ? "groups" : "runs");
    if (ok)
        put_validate_rows(report, &s);
    sp_free_run_errors(&s.errors);
    sp_runs_free(&s.runs);
    sp_serving_runs_free(&s.serving);
    return ok;
}

static const struct sp_example examples[] = {
    {"validate runs.csv", "measured and predicted time and memory of every run"},
    {"validate runs.csv --by hardware --get time.mean_abs_pct_error,time.n",
     "two numbers for a script"},
    {NULL, NULL},
};

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    (void)args;
    return sp_draw_measured(report, error);
}

const struct sp_command sp_cmd_validate = {
    .name = "validate",
    .summary = "compare the estimator with measured runs",
    .operands = "RUNS.csv",
    .about =
        "Compares predicted and measured step time and peak memory for every run in a CSV file "
        "(columns: docs/runs.md). A run that cannot be predicted has a reason. "
        "Repeats of a configuration (config_group) count once. Serving runs have columns input and "
        "output.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
