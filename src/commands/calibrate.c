/* calibrate: a profile fitted to a user's own runs, or a network to its own collectives. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "base/text.h"
#include "cli/example.h"
#include "cli/launched.h"
#include "cli/plan_options.h"
#include "config/world.h"
#include "runs/columns.h"
#include "runs/fit_file.h"
#include "runs/kernel_times.h"
#include "runs/network_fit.h"
#include "runs/profile_file.h"
#include "runs/serving_errors.h"
#include "runs/training_log.h"
#include "study/plan_text.h"

static const char *const ops[] = {
    "all-gather", "reduce-scatter", "all-reduce", "all-to-all", "ag", "rs", "ar", "a2a", NULL};

/* clang-format off */
static const struct sp_taken options[] = {
    SP_TAKE(example),
    SP_TAKE(name),
    SP_TAKE(all),
    SP_TAKE(op, .choices = ops),
    SP_TAKE(log),
    SP_TAKE(from, .needs = SP_THESE(SP_O_log)),
    SP_OPTIONS_OF_LAUNCH,
    SP_OPTIONS_PLANNED,
};
/* clang-format on */

/* Options that describe the run of a log, besides those of the plan's fields. */
static const enum sp_option_id of_the_run[] = {SP_O_model, SP_O_shape, SP_O_batch, SP_O_seq,
                                               SP_O_precision};

/* A fit, and its words; calibrate.def shows it. */
struct calibrating {
    const char *file;    /* of runs; NULL: a log alone */
    const char *written; /* of -o, or NULL */
    bool serves;
    struct sp_training_log log; /* of --log */
    bool is_logged;
    struct sp_fit_of_file of;
    char undetermined[384], at_bounds[384], next_change[64];
    int constants, open; /* of the profile, and those of them that the runs do not determine */
    char others[800];    /* why the other runs of the file do not count */
    char columns[400];   /* those of the file that are not read */
};

/* A network fitted to the output of nccl-tests; calibrate_network.def shows it. */
struct measuring {
    const char *file, *written; /* of -o, or NULL */
    struct sp_hardware hw;
    struct sp_nccl_times times;
    struct sp_network_fit fit;
};

/* A constant that the fit moved. */
struct constant {
    const struct sp_constant_info *info;
    double before, after, determined;
    bool at_bound;
};

/* The effect of moving a constant. */
struct effect {
    const struct sp_constant_info *info;
    double before, after, effect;
    const char *lead; /* of its line */
};

#define SP_PART validate_error
#define SP_PART_OF struct sp_kind_errors
#include "answer/put_rows.h"

#define SP_PART calibrate_constant
#define SP_PART_OF struct constant
#include "answer/put_rows.h"

#define SP_PART calibrate_effect
#define SP_PART_OF struct effect
#include "answer/put_rows.h"

#define SP_PART calibrate_run
#define SP_PART_OF struct sp_calibrated
#include "answer/put_rows.h"

#define SP_PART calibrate_curve
#define SP_PART_OF struct sp_fitted_curve
#include "answer/put_rows.h"

static void put_curves(struct sp_report *r, const struct measuring *s)
{
    for (int i = 0; i < s->fit.n; i++) {
        sp_begin_row(r, ops[s->fit.of[i].op], "curves.%d", i);
        put_calibrate_curve_rows(r, &s->fit.of[i]);
    }
    sp_scope(r, "");
}

#define SP_PART calibrate_network
#define SP_PART_OF struct measuring
#include "answer/put_rows.h"

/* The kernels of a chip, fitted to times; calibrate_kernels.def shows it. */
struct gauging {
    const char *file, *written; /* of -o, or NULL */
    struct sp_hardware hw;
    struct sp_kernel_times times;
    struct sp_kernel_fit fit;
    char name[64];
};

#define SP_PART calibrate_kernel
#define SP_PART_OF struct sp_fitted_kernel
#include "answer/put_rows.h"

static void put_kernel_curves(struct sp_report *r, const struct gauging *s)
{
    for (int i = 0; i < s->fit.n; i++) {
        sp_begin_row(r, sp_kernel_op_names[s->fit.of[i].op], "curves.%d", i);
        put_calibrate_kernel_rows(r, &s->fit.of[i]);
    }
    sp_scope(r, "");
}

#define SP_PART calibrate_kernels
#define SP_PART_OF struct gauging
#include "answer/put_rows.h"

static void put_serving_errors(struct sp_report *r, const struct calibrating *s)
{
    static const char *const stages[] = {"before", "after", "left_out"};
    for (int stage = 0; stage < (s->of.fit.parts > 0 ? 3 : 2); stage++) {
        sp_scope(r, stages[stage]);
        for (int m = 0; m < SP_SERVING_MEASURES; m++)
            put_validate_error_rows(
                r, &(struct sp_kind_errors){(enum sp_error_kind)(SP_ERRORS_OF_TPOT + m),
                                            s->of.serving[stage][m]});
    }
    sp_scope(r, "");
}

/* The constants whose moves change the steps, the largest first. */
static void put_effects(struct sp_report *r, const struct calibrating *s)
{
    for (int i = 0; i < s->of.n_effects; i++) {
        const int c = s->of.effects[i].constant;
        sp_begin_row(r, "", "explains.%d", i);
        put_calibrate_effect_rows(r, &(struct effect){&sp_constants[c], s->of.fit.prior.value[c],
                                                      s->of.fit.fitted.value[c],
                                                      s->of.effects[i].effect,
                                                      i == 0 ? "most by   " : "          "});
    }
    sp_scope(r, "");
}

static void put_constants(struct sp_report *r, const struct calibrating *s)
{
    const struct sp_profile *const fitted = &s->of.fit.fitted;
    const struct sp_constant_list constants = sp_constants_of(fitted);
    for (int i = 0; i < constants.n; i++) {
        sp_begin_row(r, constants.of[i].key, "constants.%s", constants.of[i].key);
        put_calibrate_constant_rows(
            r, &(struct constant){&constants.of[i], s->of.fit.prior.value[i], fitted->value[i],
                                  fitted->determined[i], sp_at_bound(fitted, i)});
    }
    sp_scope(r, "");
}

static void put_runs(struct sp_report *r, const struct calibrating *s)
{
    for (size_t i = 0; i < s->of.fit.n; i++) {
        sp_begin_row(r, "", "runs.%zu", i);
        put_calibrate_run_rows(r, &s->of.fit.runs[i]);
    }
    sp_scope(r, "");
}

#define SP_PART calibrate
#define SP_PART_OF struct calibrating
#include "answer/put_rows.h"

/* Writes the profile to the file of -o. */
static bool write_profile(const struct calibrating *s, struct sp_report *report,
                          struct sp_error *error)
{
    char fitted_to[256];
    if (!s->written)
        return true;
    snprintf(fitted_to, sizeof fitted_to,
             "%zu runs, %d configurations on %s with %s, from profile %s", s->of.used,
             s->of.fit.groups, s->of.chip, s->of.framework, s->of.fit.prior.name);
    const char *const of = s->file ? s->file : s->of.runs.run[0].id;
    char *const text = sp_profile_text(&s->of.fit.fitted, fitted_to, of);
    sp_make_printable(text, "\n"); /* names of files may be unsafe text */
    const bool ok = sp_put_file(report, s->written, text, error);
    free(text);
    return ok;
}

/* The request of a command line; the names that it has are checked first. */
static bool read_request(const struct sp_args *args, const struct sp_sources *sources, bool serves,
                         struct sp_hardware *hw, struct sp_fit_request *request,
                         struct sp_error *error)
{
    char name[256];
    struct sp_framework_file known;
    const char *const framework = args->value.framework;
    if (!args->value.hw)
        return sp_fail(error, SP_USAGE, "--hw is needed: the chip of the runs");
    if (!sp_check_name(args->value.name, error))
        return false;
    sp_machine_name(args->value.hw, sources, name, sizeof name);
    *request = (struct sp_fit_request){.file = args->n_operands ? args->operands[0] : NULL,
                                       .chip = hw->name,
                                       .framework = framework,
                                       .profile = args->value.profile,
                                       .all = args->given.all,
                                       .sources = sources};
    return sp_load_chip(name, sources, hw, error) &&
           (serves || !framework || sp_load_framework(framework, sources, &known, error));
}

/* The run of --log, whose plan is that of the launch or of options. */
static bool read_log(const struct sp_args *typed, const struct sp_sources *sources,
                     struct calibrating *s, struct sp_run *run, struct sp_error *error)
{
    struct sp_launch launch = {0};
    struct sp_planned planned;
    struct sp_args *const args = sp_new_args(typed->world);
    const bool ok =
        sp_take_launch(typed, &launch, args, error) && sp_plan_of(args, sources, &planned, error);
    free(args);
    if (!ok)
        return false;
    const struct sp_logged_run asked = {.batch = (double)planned.plan.batch,
                                        .tokens =
                                            (double)planned.plan.batch * (double)planned.plan.seq,
                                        .devices = (double)sp_chips(&planned.hw)};
    s->is_logged = sp_read_training_log(typed->value.log, sources, &asked, &s->log, error);
    *run = sp_run_of_log(&planned, &s->log, typed->value.log);
    return s->is_logged;
}

/* Refuses options of a plan without a log. */
static bool check_plan_options(const struct sp_args *args, struct sp_error *error)
{
    for (size_t i = 0; i < sizeof of_the_run / sizeof *of_the_run; i++)
        if (args->given_at[of_the_run[i]])
            return sp_fail(error, SP_USAGE, "--%s needs --log", sp_option_name(of_the_run[i]));
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (args->given_at[sp_option_of_field(i)])
            return sp_fail(error, SP_USAGE, "--%s needs --log",
                           sp_option_name(sp_option_of_field(i)));
    return true;
}

/* Fits training or serving, whichever the file holds. */
static bool fit(const struct sp_args *args, struct calibrating *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_hardware hw;
    struct sp_fit_request request;
    struct sp_run *const run = sp_must(calloc(1, sizeof *run));
    bool ok = (!s->file || sp_is_serving_file(s->file, &sources, &s->serves, error)) &&
              read_request(args, &sources, s->serves, &hw, &request, error);
    if (ok && args->value.log) {
        ok = s->serves ? sp_fail(error, SP_USAGE, "--log is for training; %s has serving runs",
                                 sp_safe(s->file))
                       : read_log(args, &sources, s, run, error);
        request.logged = run;
        request.framework = ok ? run->framework.framework.name : NULL;
    }
    ok = ok && (s->serves ? sp_fit_serving_file : sp_fit_training_file)(&request, &s->of, error);
    free(run);
    return ok;
}

static bool calibrate(const struct sp_args *args, struct calibrating *s, struct sp_report *report,
                      struct sp_error *error)
{
    if (!fit(args, s, error))
        return false;
    sp_take_name(args, s->of.fit.fitted.name, sizeof s->of.fit.fitted.name);
    if (s->of.has_next)
        sp_change_text(&s->of.next.plan, "", s->next_change, sizeof s->next_change);
    sp_undetermined_constants(&s->of.fit.fitted, s->undetermined, sizeof s->undetermined);
    s->constants = sp_constants_of(&s->of.fit.fitted).n;
    s->open = sp_n_undetermined(&s->of.fit.fitted);
    sp_left_out_text(&s->of.others, s->others, sizeof s->others);
    if (s->file && !s->serves)
        sp_list_unread(&s->of.runs.csv, s->columns, sizeof s->columns);
    sp_constants_at_bounds(&s->of.fit.fitted, s->at_bounds, sizeof s->at_bounds);
    if (!write_profile(s, report, error))
        return false;
    put_calibrate_rows(report, s);
    return true;
}

/* The operation of tests that do not name theirs. */
static enum sp_collective given_op(const struct sp_args *args)
{
    return args->given.op ? (enum sp_collective)(args->value.op % SP_COLLECTIVES) : SP_COLLECTIVES;
}

static bool write_network(const struct measuring *s, struct sp_report *report,
                          struct sp_error *error)
{
    char source[256];
    if (!s->written)
        return true;
    snprintf(source, sizeof source, "nccl-tests: %zu times on %s in %s", s->times.n, s->hw.name,
             s->file);
    sp_make_printable(source, ""); /* names of files may be unsafe text */
    char *const text = sp_network_text(&s->fit.network, source);
    const bool ok = sp_put_file(report, s->written, text, error);
    free(text);
    return ok;
}

static bool measure(const struct sp_args *args, const char *text, struct measuring *s,
                    struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (!sp_check_name(args->value.name, error) || !sp_hardware_of(args, &sources, &s->hw, error))
        return false;
    if (s->hw.network.kind == SP_TORUS)
        return sp_fail(error, SP_INPUT, "--hw %s is a torus; nccl-tests run on switches",
                       s->hw.name);
    if (!sp_read_nccl_times(text, s->file, given_op(args), &s->times, error))
        return false;
    snprintf(s->fit.network.name, sizeof s->fit.network.name, "%.48s-network", s->hw.name);
    const bool ok = sp_fit_network(&s->hw, &s->times, &s->fit, error);
    sp_take_name(args, s->fit.network.name, sizeof s->fit.network.name);
    if (!ok || !write_network(s, report, error))
        return false;
    put_calibrate_network_rows(report, s);
    return true;
}

static bool gauge(const struct sp_args *args, const char *text, struct gauging *s,
                  struct sp_report *report, struct sp_error *error)
{
    char source[256], chip[256];
    const struct sp_sources sources = sp_sources_of(args);
    if (!args->value.hw)
        return sp_fail(error, SP_USAGE, "--hw is needed: the chip of the kernels");
    sp_machine_name(args->value.hw, &sources, chip, sizeof chip);
    if (!sp_check_name(args->value.name, error) || !sp_load_chip(chip, &sources, &s->hw, error) ||
        !sp_read_kernel_times(text, s->file, &s->times, error))
        return false;
    sp_fit_kernels(&s->hw, &s->times, &s->fit);
    snprintf(s->name, sizeof s->name, "%.63s", args->value.name ? args->value.name : s->hw.name);
    bool ok = true;
    if (s->written) {
        snprintf(source, sizeof source, "%zu kernels measured alone, %s", s->times.n, s->file);
        sp_make_printable(source, ""); /* names of files may be unsafe text */
        char *const json = sp_kernels_text(&s->fit.kernels, s->name, source);
        ok = sp_put_file(report, s->written, json, error);
        free(json);
    }
    put_calibrate_kernels_rows(report, s);
    return ok;
}

/* Options of one kind of file mean nothing for the other; a log's run has a network too. */
static bool check_options(const struct sp_args *args, bool of_nccl, struct sp_error *error)
{
    static const enum sp_option_id of_runs[] = {SP_O_framework, SP_O_profile, SP_O_all, SP_O_log,
                                                SP_NO_OPTION};
    static const enum sp_option_id of_times[] = {SP_O_op, SP_O_network, SP_NO_OPTION};
    const enum sp_option_id *const others = of_nccl ? of_runs : of_times;
    for (int i = 0; others[i] != SP_NO_OPTION; i++)
        if (args->given_at[others[i]] && !(others[i] == SP_O_network && args->value.log))
            return sp_fail(error, SP_USAGE, "--%s is for %s", sp_option_name(others[i]),
                           of_nccl ? "runs, not for the output of nccl-tests"
                                   : "the output of nccl-tests, not for runs");
    return true;
}

/* A file of runs makes a profile, the output of nccl-tests a network. */
static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    if (args->given.example)
        return sp_file_text(report, sp_example_runs), true;
    if (args->n_operands > 1 || (args->n_operands == 0 && !args->value.log))
        return sp_fail(error, SP_USAGE,
                       "give a file of runs or a log: scaleplan calibrate RUNS.csv --hw H, "
                       "scaleplan calibrate --from LAUNCH --log LOG --hw H");
    const char *const file = args->n_operands ? args->operands[0] : NULL;
    size_t length;
    char *const text =
        file ? sp_read_file(sp_pipes_of(args->world), file, 64 << 20, &length, error) : NULL;
    if (file && !text)
        return false;
    const bool is_nccl = text && sp_is_nccl_output(text);
    bool ok =
        check_options(args, is_nccl, error) && (args->value.log || check_plan_options(args, error));
    if (ok && is_nccl) {
        struct measuring s = {.file = file, .written = args->value.write};
        ok = measure(args, text, &s, report, error);
        free(s.times.of);
    } else if (ok && text && sp_is_kernel_times(text)) {
        struct gauging *const s = sp_must(calloc(1, sizeof *s));
        s->file = file;
        s->written = args->value.write;
        ok = gauge(args, text, s, report, error);
        free(s->times.of);
        free(s);
    } else if (ok) {
        struct calibrating s = {.file = file, .written = args->value.write};
        ok = calibrate(args, &s, report, error);
        sp_free_fit_of_file(&s.of);
    }
    free(text);
    return ok;
}

static const struct sp_example examples[] = {
    {"calibrate runs.csv --hw h100 --framework nemo -o my-cluster.json",
     "fit a profile to three or more of your own runs"},
    {"step --model llama3-8b --hw h100-64 --profile my-cluster.json", "estimate with it"},
    {"calibrate --from run.sh --log train.log --hw h100-64 -o mine.json",
     "fit to the log of a launch"},
    {"calibrate kernels.csv --hw h100 -o kernels/h100.json",
     "fit a chip's kernels to the times of measure.py"},
    {"calibrate nccl.txt --hw h100 -o my-network.json",
     "fit a network to output of all_reduce_perf and the like"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_calibrate = {
    .name = "calibrate",
    .writes_other = true,
    .summary = "fit a profile to your own measured runs",
    .operands = "[RUNS.csv|NCCL.txt|KERNELS.csv]",
    .about = SP_ABOUT_IN_SHELL(
        "Fits a profile of a chip and framework to three or more measured runs in a CSV file "
        "(docs/runs.md) or, with columns input and output, of a chip and engine. Prints "
        "errors before and after, also on held-out configurations, and the undetermined "
        "constants. --log adds the run of a launch (--from) or of a plan. The output of "
        "nccl-tests gives a network; times of share/scaleplan/measure.py give kernels."),
    SP_OPTIONS(options),
    .examples = SP_EXAMPLES_IN_SHELL(examples),
    .run = SP_IN_SHELL(run),
};
