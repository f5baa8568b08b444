/* validate and calibrate on files of serving runs. */
#include "commands/serving_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/read_file.h"
#include "runs/serving_fit.h"

bool sp_is_serving_file(const char *path, const struct sp_sources *sources, bool *serves,
                        struct sp_error *error)
{
    size_t length;
    struct sp_csv csv;
    char *const text = sp_read_file(sources->pipes, path, 64 << 20, &length, error);
    if (!text)
        return false;
    const bool ok =
        sp_read_csv(text, length, strcmp(path, "-") == 0 ? "standard input" : path, &csv, error);
    free(text);
    if (!ok)
        return false;
    *serves = sp_is_serving_csv(&csv);
    sp_csv_free(&csv);
    return true;
}

/* Rows of one configuration and load have the number of the first of them. */
static int *number_configurations(const struct sp_serving_runs *runs)
{
    int *const numbers = calloc(runs->n + 1, sizeof *numbers);
    if (!numbers)
        abort();
    for (size_t i = 0; i < runs->n; i++) {
        size_t k = 0;
        while (k < i && (strcmp(runs->run[k].group, runs->run[i].group) != 0 ||
                         runs->run[k].requests.in_flight != runs->run[i].requests.in_flight))
            k++;
        numbers[i] = (int)k;
    }
    return numbers;
}

static double *no_errors(size_t n)
{
    double *const errors = calloc(n + 1, sizeof *errors);
    if (!errors)
        abort();
    for (size_t i = 0; i < n; i++)
        errors[i] = NAN;
    return errors;
}

struct sp_error_table sp_new_serving_errors(const struct sp_serving_runs *runs,
                                            struct sp_report *report)
{
    static const enum sp_quantity_id ids[SP_SERVING_MEASURES][5] = {
        [SP_MEASURED_TPOT] = {SP_Q_VALIDATE_TPOT_N, SP_Q_VALIDATE_TPOT_MEDIAN,
                              SP_Q_VALIDATE_TPOT_MEAN, SP_Q_VALIDATE_TPOT_P90,
                              SP_Q_VALIDATE_TPOT_BIAS},
        [SP_MEASURED_TTFT] = {SP_Q_VALIDATE_TTFT_N, SP_Q_VALIDATE_TTFT_MEDIAN,
                              SP_Q_VALIDATE_TTFT_MEAN, SP_Q_VALIDATE_TTFT_P90,
                              SP_Q_VALIDATE_TTFT_BIAS},
        [SP_MEASURED_RATE] = {SP_Q_VALIDATE_RATE_N, SP_Q_VALIDATE_RATE_MEDIAN,
                              SP_Q_VALIDATE_RATE_MEAN, SP_Q_VALIDATE_RATE_P90,
                              SP_Q_VALIDATE_RATE_BIAS}};
    struct sp_error_table t = {
        .report = report, .csv = &runs->csv, .n = runs->n, .kinds = SP_SERVING_MEASURES};
    for (int k = 0; k < t.kinds; k++)
        t.kind[k] = (struct sp_error_kind){ids[k], no_errors(runs->n)};
    t.configuration = number_configurations(runs);
    return t;
}

void sp_free_serving_errors(struct sp_error_table *t)
{
    free(t->configuration);
    for (int k = 0; k < t->kinds; k++)
        free(t->kind[k].errors);
}

/* One measure of a run: its quantities, each a fraction error in `table`. */
static void put_measure(struct sp_error_table *table, size_t row, const struct sp_serving_run *run,
                        const struct sp_profile *profile, double said,
                        enum sp_serving_measure measure)
{
    static const struct {
        enum sp_quantity_id measured, predicted, low, high, error;
    } ids[SP_SERVING_MEASURES] = {
        [SP_MEASURED_TPOT] = {SP_Q_VALIDATE_TPOT_MEASURED, SP_Q_VALIDATE_TPOT_PREDICTED,
                              SP_Q_VALIDATE_TPOT_LOW, SP_Q_VALIDATE_TPOT_HIGH,
                              SP_Q_VALIDATE_TPOT_ERROR},
        [SP_MEASURED_TTFT] = {SP_Q_VALIDATE_TTFT_MEASURED, SP_Q_VALIDATE_TTFT_PREDICTED,
                              SP_Q_VALIDATE_TTFT_LOW, SP_Q_VALIDATE_TTFT_HIGH,
                              SP_Q_VALIDATE_TTFT_ERROR},
        [SP_MEASURED_RATE] = {SP_Q_VALIDATE_RATE_MEASURED, SP_Q_VALIDATE_RATE_PREDICTED,
                              SP_Q_VALIDATE_RATE_LOW, SP_Q_VALIDATE_RATE_HIGH,
                              SP_Q_VALIDATE_RATE_ERROR}};
    struct sp_report *const r = table->report;
    /* throughput is as uncertain as the time between tokens that makes it */
    const double range =
        sp_serving_range_log(profile, run->service.model,
                             measure == SP_MEASURED_TTFT ? SP_LATENCY_TTFT : SP_LATENCY_TPOT);
    const double measured = run->measured[measure];
    sp_put(r, ids[measure].measured, measured);
    sp_put(r, ids[measure].predicted, said);
    sp_put(r, ids[measure].low, said * exp(-range));
    sp_put(r, ids[measure].high, said * exp(range));
    sp_put(r, ids[measure].error, 100 * (said / measured - 1));
    table->kind[measure].errors[row] = said / measured - 1;
}

enum { MOST_PAIRS = 64 };

/* What the command knows. */
struct validation {
    const struct sp_args *args;
    const struct sp_sources *sources;
    struct sp_serving_runs runs;
    struct sp_profile given;
    struct sp_profile known[MOST_PAIRS]; /* looked up already */
    bool known_own[MOST_PAIRS];
    int n_known;
    struct sp_error_table table;
};

/* The pair's profile, its own or borrowed; looked up once. */
static const struct sp_profile *profile_of(struct validation *f, const struct sp_serving_run *run,
                                           bool *own, struct sp_error *error)
{
    struct sp_profile pair;
    *own = true;
    if (f->given.name[0])
        return &f->given;
    sp_expect_serving_of(run->service.hw, run->engine->name, &pair);
    for (int i = 0; i < f->n_known; i++)
        if (strcmp(f->known[i].chip, pair.chip) == 0 &&
            strcmp(f->known[i].framework, pair.framework) == 0) {
            *own = f->known_own[i];
            return &f->known[i];
        }
    const int at = f->n_known < MOST_PAIRS - 1 ? f->n_known++ : MOST_PAIRS - 1;
    if (!sp_load_serving(run->service.hw, run->engine->name, f->sources, &f->known[at],
                         &f->known_own[at], error))
        return NULL;
    *own = f->known_own[at];
    return &f->known[at];
}

static bool predict(struct validation *f, size_t i, struct sp_error *error)
{
    const struct sp_serving_run *const run = &f->runs.run[i];
    struct sp_report *const r = f->table.report;
    bool own;
    const struct sp_profile *const profile = profile_of(f, run, &own, error);
    if (!profile)
        return false;
    sp_put_text(r, SP_Q_VALIDATE_PROFILE, "%s", profile->name);
    sp_put_bool(r, SP_Q_VALIDATE_OWN, own);
    const struct sp_serve_estimate e = sp_estimate_serving_run(run, profile->value);
    const double said[] = {[SP_MEASURED_TPOT] = e.tpot_s,
                           [SP_MEASURED_TTFT] = e.ttft_s,
                           [SP_MEASURED_RATE] = e.tokens_per_s};
    const bool counts = run->scored || f->args->given.all;
    for (int k = 0; k < SP_SERVING_MEASURES; k++) {
        put_measure(&f->table, i, run, profile, said[k], (enum sp_serving_measure)k);
        if (!counts)
            f->table.kind[k].errors[i] = NAN;
    }
    if (!counts)
        sp_put_text(r, SP_Q_VALIDATE_REASON, "%s%s",
                    run->waits    ? "requests wait for a place that the source does not state"
                    : run->why[0] ? run->why
                                  : "its source leaves a needed field out",
                    run->waits ? "" : " (--all counts it)");
    else
        sp_put_null(r, SP_Q_VALIDATE_REASON);
    return true;
}

static bool predict_rows(struct validation *f, struct sp_row *rows, size_t *skipped,
                         struct sp_error *error)
{
    struct sp_report *const r = f->table.report;
    for (size_t i = 0; i < f->runs.n; i++) {
        const struct sp_serving_run *const run = &f->runs.run[i];
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "runs.%zu", i);
        sp_scope(r, rows[i].prefix);
        sp_put_text(r, SP_Q_VALIDATE_ID, "%s", run->id);
        if (run->problem[0] != '\0')
            sp_put_text(r, SP_Q_VALIDATE_REASON, "%s%s%s", run->problem, run->why[0] ? "; " : "",
                        run->why);
        else if (!predict(f, i, error))
            return false;
        bool any = false;
        for (int k = 0; k < f->table.kinds; k++)
            any = any || !isnan(f->table.kind[k].errors[i]);
        *skipped += !any;
    }
    sp_scope(r, "");
    return true;
}

static const struct sp_column statistic_columns[] = {
    {"tpot.n", "between tokens", false},
    {"tpot.mean_abs_pct_error", "mean %", false},
    {"tpot.median_abs_pct_error", "median %", false},
    {"tpot.bias_pct", "bias %", false},
    {"ttft.n", "first token", false},
    {"ttft.median_abs_pct_error", "median %", false},
    {"throughput.n", "throughput", false},
    {"throughput.median_abs_pct_error", "median %", false},
};

static void lay_out(const struct validation *f, const struct sp_row *rows)
{
    static const struct sp_column columns[] = {
        {"id", "run", true},
        {"profile", "profile", true},
        {"measured_tpot_s", "between tokens", false},
        {"predicted_tpot_s", "predicted", false},
        {"tpot_error_pct", "error %", false},
        {"measured_ttft_s", "first token", false},
        {"predicted_ttft_s", "predicted", false},
        {"measured_tokens_per_s", "throughput", false},
        {"predicted_tokens_per_s", "predicted", false},
        {"reason", "does not count", true},
    };
    sp_line(f->table.report, " ");
    sp_table(f->table.report, columns, sizeof columns / sizeof *columns, rows, f->runs.n);
}

static void put_lines(struct sp_report *r)
{
    sp_line(r, "between tokens  {tpot.n}: mean {tpot.mean_abs_pct_error} %%, median "
               "{tpot.median_abs_pct_error} %%, 90 in 100 within {tpot.p90_abs_pct_error} %%, bias "
               "{tpot.bias_pct} %%");
    sp_line(r, "first token     {ttft.n}: mean {ttft.mean_abs_pct_error} %%, median "
               "{ttft.median_abs_pct_error} %%, 90 in 100 within {ttft.p90_abs_pct_error} %%, bias "
               "{ttft.bias_pct} %%");
    sp_line(r, "throughput      {throughput.n}: mean {throughput.mean_abs_pct_error} %%, median "
               "{throughput.median_abs_pct_error} %%, 90 in 100 within "
               "{throughput.p90_abs_pct_error} %%, bias {throughput.bias_pct} %%");
    sp_line(r, "skipped         {skipped} of {rows} runs, with the reason beside each");
}

static bool fill_report(struct validation *f, struct sp_error *error)
{
    struct sp_report *const r = f->table.report;
    const char *const by = f->args->value.by;
    struct sp_row *const rows = calloc(f->runs.n + 1, sizeof *rows);
    size_t skipped = 0;
    if (!rows)
        abort();
    put_lines(r);
    bool ok = predict_rows(f, rows, &skipped, error);
    sp_put_text(r, SP_Q_VALIDATE_FILE, "%s", f->args->operands[0]);
    sp_put(r, SP_Q_VALIDATE_ROWS, (double)f->runs.n);
    sp_put(r, SP_Q_VALIDATE_SKIPPED, (double)skipped);
    sp_put_statistics(&f->table, -1, "");
    sp_answer_is(r, by ? "groups" : "runs");
    ok = ok &&
         (!by || sp_put_statistics_by(&f->table, by, statistic_columns,
                                      sizeof statistic_columns / sizeof *statistic_columns, error));
    lay_out(f, rows);
    sp_note(r, "the built-in serving profiles were fitted to the runs that they name; on these the "
               "errors are those of the fit (docs/accuracy.md has those of runs left out)");
    free(rows);
    return ok;
}

bool sp_validate_serving(const struct sp_args *args, const struct sp_sources *sources,
                         struct sp_report *report, struct sp_error *error)
{
    struct validation *const f = calloc(1, sizeof *f);
    const char *const profile = args->value.profile;
    if (!f)
        abort();
    f->args = args;
    f->sources = sources;
    bool ok = (!profile || sp_load_serving_profile(profile, sources, &f->given, error)) &&
              sp_read_serving_runs(args->operands[0], sources, &f->runs, error);
    if (ok) {
        f->table = sp_new_serving_errors(&f->runs, report);
        ok = fill_report(f, error);
        sp_free_serving_errors(&f->table);
        sp_serving_runs_free(&f->runs);
    }
    free(f);
    return ok;
}
