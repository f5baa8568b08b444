/* calibrate: a profile fitted to a user's own runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/calibration.h"
#include "runs/calibration_gap.h"
#include "runs/group_error.h"
#include "runs/profile_file.h"
#include "base/text.h"
#include "cli/command.h"
#include "commands/calibrate_profile.h"
#include "commands/neighbours.h"
#include "commands/serving_rows.h"

static const struct sp_taken options[] = {
    SP_OPTION_HW,  SP_TAKE(framework), SP_TAKE(write, .alias = "output"),
    SP_TAKE(name), SP_TAKE(profile),   SP_TAKE(all),
};

struct calibrating {
    struct sp_runs runs;
    char chip[64], framework[32];
    bool own;
    struct sp_calibration fit;
    struct sp_report *report;
};

static bool find_chip(const struct sp_args *args, const struct sp_sources *sources,
                      struct calibrating *c, struct sp_error *error)
{
    const char *const spec = args->value.hw;
    char name[256];
    struct sp_hardware hw;
    if (!spec)
        return sp_fail(error, SP_USAGE, "--hw is needed: the chip whose runs are fitted");
    if (!sp_check_name(args->value.name, error))
        return false;
    sp_machine_name(spec, sources, name, sizeof name);
    if (!sp_load_chip(name, sources, &hw, error))
        return false;
    snprintf(c->chip, sizeof c->chip, "%s", hw.name);
    return true;
}

static bool counts(const struct calibrating *c, const struct sp_run *run, bool all)
{
    return run->problem[0] == '\0' && strcmp(run->chip, c->chip) == 0 && (all || run->scored) &&
           (run->step_s > 0 ||
            (run->memory_bytes > 0 && run->level < SP_CLOSED_FORM && run->recompute_stated));
}

/* The framework of the chip's runs; more than one is for the user to choose from. */
static bool find_framework(const struct sp_args *args, struct calibrating *c, bool all,
                           struct sp_error *error)
{
    const char *const given = args->value.framework;
    char seen[256] = "", why[192] = "";
    size_t several = 0, broken = 0;
    for (size_t i = 0; i < c->runs.n; i++) {
        const struct sp_run *const run = &c->runs.run[i];
        const char *const name = run->framework.framework.name;
        if (run->problem[0] != '\0' && broken++ == 0)
            snprintf(why, sizeof why, "%.100s: %.80s", run->id, run->problem);
        if (!counts(c, run, all) || (given && strcmp(name, given) != 0) || strstr(seen, name))
            continue;
        const size_t used = strlen(seen);
        snprintf(seen + used, sizeof seen - used, "%s%s", used ? ", " : "", name);
        snprintf(c->framework, sizeof c->framework, "%s", name);
        several++;
    }
    if (several == 1)
        return true;
    if (several > 1)
        return sp_fail(error, SP_INPUT,
                       "the runs on %s are of several frameworks (%s): choose one "
                       "with --framework",
                       c->chip, seen);
    return sp_fail(error, SP_INPUT, "%s: no run on %s%s%s that can be predicted%s%s",
                   sp_safe(args->operands[0]), c->chip, given ? " with " : "",
                   given ? sp_safe(given) : "", broken ? "; " : "", why);
}

/* Picks the runs and numbers their configurations, those with a step time first. */
static void pick_runs(struct calibrating *c, bool all)
{
    struct sp_calibration *const fit = &c->fit;
    int groups = 0;
    fit->runs = calloc(c->runs.n + 1, sizeof *fit->runs);
    if (!fit->runs)
        abort();
    for (int timed = 1; timed >= 0; timed--)
        for (size_t i = 0; i < c->runs.n; i++) {
            struct sp_run *const run = &c->runs.run[i];
            if (!counts(c, run, all) || strcmp(run->framework.framework.name, c->framework) != 0 ||
                (run->step_s > 0) != (timed == 1))
                continue;
            if (!run->recompute_stated)
                run->memory_bytes = NAN; /* it chose the policy: it cannot judge too */
            int group = groups;
            for (size_t k = 0; k < fit->n; k++) {
                const struct sp_run *const other = fit->runs[k].run;
                if (other && strcmp(other->group, run->group) == 0)
                    group = fit->runs[k].group;
            }
            groups += group == groups;
            fit->runs[fit->n++] = (struct sp_calibrated){
                .run = run,
                .sample = {{&run->model, &run->hw, &run->precision, &run->framework.framework, NULL,
                            &run->plan},
                           run->step_s,
                           1},
                .group = group,
            };
        }
}

static bool find_prior(const struct sp_args *args, const struct sp_sources *sources,
                       struct calibrating *c, struct sp_error *error)
{
    struct sp_profile known[SP_MAX_PROFILES];
    const char *const given = args->value.profile;
    const struct sp_run *const run = c->fit.runs[0].run;
    size_t n;
    if (!sp_load_profiles(sources, known, &n, error))
        return false;
    sp_profile_for(&run->hw, &run->framework.framework, known, n, &c->fit.prior, &c->own);
    if (!given)
        return true;
    const struct sp_profile stack = c->fit.prior;
    if (!sp_load_profile(given, sources, &c->fit.prior, error))
        return false;
    if (c->fit.prior.kind != stack.kind)
        return sp_fail(error, SP_INPUT, "--profile %s: fitted to another kind of machine than %s",
                       sp_safe(given), c->chip);
    c->own = true;
    return true;
}

static double per_cent(double log_error)
{
    return 100 * expm1(log_error);
}

/* Mean absolute error over configurations, per cent; `field` is an offset into sp_calibrated. */
static double mean_error(const struct sp_calibration *fit, size_t field)
{
    double *const errors = calloc(fit->n + 1, sizeof *errors);
    double *const means = calloc(fit->n + 1, sizeof *means);
    int *const group = calloc(fit->n + 1, sizeof *group);
    if (!errors || !means || !group)
        abort();
    for (size_t i = 0; i < fit->n; i++) {
        const struct sp_calibrated *const r = &fit->runs[i];
        errors[i] = expm1(*(const double *)(const void *)((const char *)r + field));
        group[i] = r->group;
    }
    const size_t n = sp_group_errors(errors, group, fit->n, means);
    const double mean = sp_summarise_errors(means, n).mean_abs;
    free(errors);
    free(means);
    free(group);
    return 100 * mean;
}

static void put_runs(struct calibrating *c)
{
    static const struct sp_column columns[] = {
        {"id", "run", true},
        {"measured_step_s", "measured", false},
        {"before_pct", "before %", false},
        {"after_pct", "after %", false},
        {"left_out_pct", "left out %", false},
        {"measured_memory_bytes", "memory", false},
        {"memory_before_pct", "before %", false},
        {"memory_after_pct", "after %", false},
    };
    struct sp_report *const r = c->report;
    struct sp_row *const rows = calloc(c->fit.n + 1, sizeof *rows);
    if (!rows)
        abort();
    for (size_t i = 0; i < c->fit.n; i++) {
        const struct sp_calibrated *const run = &c->fit.runs[i];
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "runs.%zu", i);
        sp_scope(r, rows[i].prefix);
        sp_put_text(r, SP_Q_CALIBRATE_R_ID, "%s", run->run->id);
        sp_put(r, SP_Q_CALIBRATE_R_STEP, run->sample.step_s);
        sp_put(r, SP_Q_CALIBRATE_R_BEFORE, per_cent(run->before));
        sp_put(r, SP_Q_CALIBRATE_R_AFTER, per_cent(run->after));
        sp_put(r, SP_Q_CALIBRATE_R_CV, per_cent(run->left_out));
        sp_put(r, SP_Q_CALIBRATE_R_MEMORY, run->run->memory_bytes);
        sp_put(r, SP_Q_CALIBRATE_R_MEM_BEFORE, per_cent(run->memory_before));
        sp_put(r, SP_Q_CALIBRATE_R_MEM_AFTER, per_cent(run->memory_after));
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, c->fit.n);
    free(rows);
}

static bool write_profile(const struct sp_args *args, struct calibrating *c, struct sp_error *error)
{
    char fitted_to[256];
    sp_name_profile(args, &c->fit.fitted);
    snprintf(fitted_to, sizeof fitted_to,
             "%zu runs, %d configurations on %s with %s, from profile %s", c->fit.n, c->fit.groups,
             c->chip, c->framework, c->fit.prior.name);
    return sp_write_profile(args, c->report, &c->fit.fitted, fitted_to, "step", error);
}

static void put_summary(const struct sp_args *args, struct calibrating *c)
{
    struct sp_report *const r = c->report;
    const struct sp_calibration *const fit = &c->fit;
    sp_put_text(r, SP_Q_CALIBRATE_FILE, "%s", args->operands[0]);
    sp_put_text(r, SP_Q_CALIBRATE_CHIP, "%s", c->chip);
    sp_put_text(r, SP_Q_CALIBRATE_FRAMEWORK, "%s", c->framework);
    sp_put_text(r, SP_Q_CALIBRATE_PRIOR, "%s", fit->prior.name);
    sp_put_bool(r, SP_Q_CALIBRATE_OWN, c->own);
    sp_put(r, SP_Q_CALIBRATE_RUNS, (double)fit->n);
    sp_put(r, SP_Q_CALIBRATE_OTHERS, (double)(c->runs.n - fit->n));
    sp_put(r, SP_Q_CALIBRATE_CONFIGS, fit->groups);
    const size_t before = offsetof(struct sp_calibrated, before);
    sp_put(r, SP_Q_CALIBRATE_BEFORE, mean_error(fit, before));
    sp_put(r, SP_Q_CALIBRATE_AFTER, mean_error(fit, offsetof(struct sp_calibrated, after)));
    sp_put(r, SP_Q_CALIBRATE_CV, mean_error(fit, offsetof(struct sp_calibrated, left_out)));
    sp_put(r, SP_Q_CALIBRATE_PARTS, fit->parts > 1 ? fit->parts : 0);
    sp_put(r, SP_Q_CALIBRATE_MEM_N, (double)fit->memory_runs);
    sp_put(r, SP_Q_CALIBRATE_MEM_BEFORE,
           mean_error(fit, offsetof(struct sp_calibrated, memory_before)));
    sp_put(r, SP_Q_CALIBRATE_MEM_AFTER,
           mean_error(fit, offsetof(struct sp_calibrated, memory_after)));
    sp_put(r, SP_Q_CALIBRATE_MEM_FACTOR, fit->fitted.memory_factor);
    sp_put(r, SP_Q_CALIBRATE_RESIDUAL, fit->fitted.residual);
}

/* The constants whose moves change the steps, the largest first. */
static void put_effects(struct sp_report *r, const struct sp_calibration *fit)
{
    enum { SHOWN = 3 };
    struct sp_constant_effect effects[SP_CONSTANTS];
    sp_constant_effects(fit, effects);
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

static void put_gap_of_runs(struct sp_report *r, const struct sp_calibration *fit)
{
    const double gap = sp_calibration_gap(fit);
    sp_put(r, SP_Q_CALIBRATE_GAP, 100 * expm1(gap));
    if (isnan(gap))
        return;
    sp_line(r,
            "your runs  are %.1f %% %s than profile %s says, in the mean; the largest gain first:",
            100 * fabs(expm1(gap)), gap < 0 ? "faster" : "slower", fit->prior.name);
    put_effects(r, fit);
}

static void put_next_run(struct sp_report *r, const struct sp_calibration *fit)
{
    struct sp_telling_run best;
    char change[64];
    if (!sp_most_telling_run(fit, &best))
        return;
    sp_change_text(&best.plan, "", change, sizeof change);
    sp_put_text(r, SP_Q_CALIBRATE_N_RUN, "%s", best.run->id);
    sp_put_text(r, SP_Q_CALIBRATE_N_CHANGE, "%s", change);
    sp_put_text(r, SP_Q_CALIBRATE_N_CONSTANT, "%s", sp_constants[best.constant].key);
    sp_put(r, SP_Q_CALIBRATE_N_SPREAD, 100 * expm1(best.spread));
    sp_line(r,
            "next run   {next.run} with {next.change} would tell most: what these runs leave open, "
            "{next.constant} above all, moves its step by {next.spread_pct} %%");
}

static void lay_out(struct sp_report *r, const struct sp_calibration *fit)
{
    sp_line(r, "{runs_used} runs of {configurations} configurations on {chip} with {framework}; "
               "{runs_left_out} others in the file left out");
    sp_line(r, "started    from {prior}; the fit keeps to it where the runs say little");
    put_gap_of_runs(r, fit);
    sp_line(r, "step time  mean error {before.mean_abs_pct_error} %% before, "
               "{after.mean_abs_pct_error} %% after, {left_out.mean_abs_pct_error} %% for "
               "configurations left out of the fit ({left_out.parts} parts)");
    sp_line(r, "memory     {memory.n} peaks: mean error {memory.before.mean_abs_pct_error} %% "
               "before, {memory.after.mean_abs_pct_error} %% after; factor {memory.factor}");
    sp_line(r, "unknown    the runs do not determine {undetermined}");
    sp_line(r, "at bounds  {at_bounds}");
    put_next_run(r, fit);
    sp_line(r, "written    {written}");
}

static bool calibrate(const struct sp_args *args, const struct sp_sources *sources,
                      struct calibrating *c, struct sp_error *error)
{
    const bool all = args->given.all;
    if (!find_framework(args, c, all, error))
        return false;
    pick_runs(c, all);
    if (!find_prior(args, sources, c, error))
        return false;
    sp_calibrate(&c->fit);
    put_summary(args, c);
    if (!write_profile(args, c, error))
        return false;
    lay_out(c->report, &c->fit);
    sp_put_fitted_constants(c->report, &c->fit.prior, &c->fit.fitted);
    put_runs(c);
    if (mean_error(&c->fit, offsetof(struct sp_calibrated, after)) > 10)
        sp_note(c->report, "no constants within their bounds explain these runs to 10 %%: check "
                           "that the columns say what was run");
    if (c->fit.groups < 3)
        sp_note(c->report, "fewer than three configurations: the fit moves little, and no error of "
                           "runs left out says what it is worth");
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct calibrating c = {.report = report};
    const struct sp_sources sources = sp_sources_of(args);
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE,
                       "one file of runs is needed: scaleplan calibrate RUNS.csv --hw H");
    bool serves;
    if (!sp_is_serving_file(args->operands[0], &sources, &serves, error))
        return false;
    if (serves)
        return sp_calibrate_serving(args, &sources, report, error);
    struct sp_framework_file known;
    const char *const framework = args->value.framework;
    if (!find_chip(args, &sources, &c, error) ||
        (framework && !sp_load_framework(framework, &sources, &known, error)) ||
        !sp_read_runs(args->operands[0], &sources, &c.runs, error))
        return false;
    const bool ok = calibrate(args, &sources, &c, error);
    free(c.fit.runs);
    sp_runs_free(&c.runs);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan calibrate runs.csv --hw h100 --framework nemo -o my-cluster.json",
     "fit a profile to your own runs, three or more"},
    {"scaleplan step --model llama3-8b --hw h100-64 --profile my-cluster.json",
     "then estimate with it"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_calibrate = {
    .name = "calibrate",
    .summary = "a profile fitted to your own measured runs",
    .operands = "RUNS.csv",
    .about =
        "Fits the bounded constants of one profile to the runs of one chip and framework in a "
        "CSV file (its columns: docs/runs.md; step time and peak memory from a training log, "
        "three runs or more). Prints the errors before and after and of configurations left "
        "out of the fit, and which constants the runs could not determine. Of a file of serving "
        "runs, which has columns input and output, the profile of a chip and an engine.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
