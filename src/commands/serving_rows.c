/* validate: files of serving runs. */
#include "commands/serving_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct sp_error_row_ids sp_serving_error_rows[SP_SERVING_MEASURES] = {
    [SP_MEASURED_TPOT] = {SP_Q_VALIDATE_TPOT_N, SP_Q_VALIDATE_TPOT_MEDIAN, SP_Q_VALIDATE_TPOT_MEAN,
                          SP_Q_VALIDATE_TPOT_P90, SP_Q_VALIDATE_TPOT_BIAS},
    [SP_MEASURED_TTFT] = {SP_Q_VALIDATE_TTFT_N, SP_Q_VALIDATE_TTFT_MEDIAN, SP_Q_VALIDATE_TTFT_MEAN,
                          SP_Q_VALIDATE_TTFT_P90, SP_Q_VALIDATE_TTFT_BIAS},
    [SP_MEASURED_RATE] = {SP_Q_VALIDATE_RATE_N, SP_Q_VALIDATE_RATE_MEDIAN, SP_Q_VALIDATE_RATE_MEAN,
                          SP_Q_VALIDATE_RATE_P90, SP_Q_VALIDATE_RATE_BIAS}};

struct serving_validation {
    const struct sp_args *args;
    struct sp_report *report;
    struct sp_serving_runs runs;
    struct sp_profile given;
    struct sp_pair_profiles profiles;
    struct sp_run_errors errors;
};

static void put_measure(struct sp_report *r, const struct sp_measure_prediction *p, int measure)
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
    sp_put(r, ids[measure].measured, p->measured);
    sp_put(r, ids[measure].predicted, p->said);
    sp_put(r, ids[measure].low, p->low);
    sp_put(r, ids[measure].high, p->high);
    sp_put(r, ids[measure].error, 100 * p->error);
}

static bool predict(struct serving_validation *f, size_t i, struct sp_error *error)
{
    const struct sp_serving_run *const run = &f->runs.run[i];
    const bool counts = run->scored || f->args->given.all;
    struct sp_report *const r = f->report;
    struct sp_run_prediction p;
    if (!sp_predict_serving_run(run, &f->profiles, &p, error))
        return false;
    sp_put_text(r, SP_Q_VALIDATE_PROFILE, "%s", p.profile->name);
    sp_put_bool(r, SP_Q_VALIDATE_OWN, p.is_own);
    for (int k = 0; k < SP_SERVING_MEASURES; k++) {
        put_measure(r, &p.of[k], k);
        f->errors.of_kind[k][i] = counts ? p.of[k].error : NAN;
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

static bool predict_rows(struct serving_validation *f, struct sp_row *rows, size_t *skipped,
                         struct sp_error *error)
{
    struct sp_report *const r = f->report;
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
        for (int k = 0; k < f->errors.kinds; k++)
            any = any || !isnan(f->errors.of_kind[k][i]);
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

static void lay_out(const struct serving_validation *f, const struct sp_row *rows)
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
    sp_line(f->report, " ");
    sp_table(f->report, columns, sizeof columns / sizeof *columns, rows, f->runs.n);
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

static bool fill_report(struct serving_validation *f, struct sp_error *error)
{
    struct sp_report *const r = f->report;
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
    sp_put_statistics(r, &f->errors, sp_serving_error_rows, -1, "");
    sp_answer_is(r, by ? "groups" : "runs");
    ok = ok &&
         (!by || sp_put_statistics_by(r, &f->errors, sp_serving_error_rows, by, statistic_columns,
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
    struct serving_validation *const f = calloc(1, sizeof *f);
    const char *const profile = args->value.profile;
    if (!f)
        abort();
    f->args = args;
    f->report = report;
    f->profiles.sources = sources;
    f->profiles.given = profile ? &f->given : NULL;
    bool ok = (!profile || sp_load_serving_profile(profile, sources, &f->given, error)) &&
              sp_read_serving_runs(args->operands[0], sources, &f->runs, error);
    if (ok) {
        f->errors = sp_new_serving_errors(&f->runs);
        ok = fill_report(f, error);
        sp_free_run_errors(&f->errors);
        sp_serving_runs_free(&f->runs);
    }
    free(f);
    return ok;
}
