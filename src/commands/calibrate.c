/* calibrate: a profile fitted to a user's own runs, or a network to its own collectives. */
#include <stdlib.h>
#include <string.h>

#include "base/read_file.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/world.h"
#include "runs/fit_file.h"
#include "runs/network_fit.h"
#include "runs/profile_file.h"
#include "runs/serving_errors.h"
#include "study/plan_text.h"

static const char *const ops[] = {
    "all-gather", "reduce-scatter", "all-reduce", "all-to-all", "ag", "rs", "ar", "a2a", NULL};

static const struct sp_taken options[] = {
    SP_OPTION_HW,
    SP_TAKE(framework),
    SP_TAKE(write, .alias = "output"),
    SP_TAKE(name),
    SP_TAKE(profile),
    SP_TAKE(all),
    SP_TAKE(network),
    SP_TAKE(op, .choices = ops),
};

/* A fit, and its words; calibrate.def shows it. */
struct calibrating {
    const char *file, *written; /* of -o, or NULL */
    bool serves;
    struct sp_fit_of_file of;
    char undetermined[384], at_bounds[384], next_change[64];
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

/* What the move of a constant changes. */
struct effect {
    const struct sp_constant_info *info;
    double before, after, effect;
    const char *lead; /* of its line */
};

#define SP_ROWS "commands/validate_error.def"
#define SP_ROWS_OF struct sp_kind_errors
#define SP_PUT_ROWS put_errors
#include "answer/put_rows.h"

#define SP_ROWS "commands/calibrate_constant.def"
#define SP_ROWS_OF struct constant
#define SP_PUT_ROWS put_constant
#include "answer/put_rows.h"

#define SP_ROWS "commands/calibrate_effect.def"
#define SP_ROWS_OF struct effect
#define SP_PUT_ROWS put_effect
#include "answer/put_rows.h"

#define SP_ROWS "commands/calibrate_run.def"
#define SP_ROWS_OF struct sp_calibrated
#define SP_PUT_ROWS put_run
#include "answer/put_rows.h"

#define SP_ROWS "commands/calibrate_curve.def"
#define SP_ROWS_OF struct sp_fitted_curve
#define SP_PUT_ROWS put_curve
#include "answer/put_rows.h"

static void put_curves(struct sp_report *r, const struct measuring *s)
{
    for (int i = 0; i < s->fit.n; i++) {
        sp_begin_row(r, ops[s->fit.of[i].op], "curves.%d", i);
        put_curve(r, &s->fit.of[i]);
    }
    sp_scope(r, "");
}

#define SP_ROWS "commands/calibrate_network.def"
#define SP_ROWS_OF struct measuring
#define SP_PUT_ROWS put_network
#include "answer/put_rows.h"

static void put_serving_errors(struct sp_report *r, const struct calibrating *s)
{
    static const char *const stages[] = {"before", "after", "left_out"};
    for (int stage = 0; stage < (s->of.fit.parts > 0 ? 3 : 2); stage++) {
        sp_scope(r, stages[stage]);
        for (int m = 0; m < SP_SERVING_MEASURES; m++)
            put_errors(r, &(struct sp_kind_errors){(enum sp_error_kind)(SP_ERRORS_OF_TPOT + m),
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
        put_effect(r, &(struct effect){&sp_constants[c], s->of.fit.prior.value[c],
                                       s->of.fit.fitted.value[c], s->of.effects[i].effect,
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
        put_constant(r, &(struct constant){&constants.of[i], s->of.fit.prior.value[i],
                                           fitted->value[i], fitted->determined[i],
                                           sp_at_bound(fitted, i)});
    }
    sp_scope(r, "");
}

static void put_runs(struct sp_report *r, const struct calibrating *s)
{
    for (size_t i = 0; i < s->of.fit.n; i++) {
        sp_begin_row(r, "", "runs.%zu", i);
        put_run(r, &s->of.fit.runs[i]);
    }
    sp_scope(r, "");
}

#define SP_ROWS "commands/calibrate.def"
#define SP_ROWS_OF struct calibrating
#define SP_PUT_ROWS put_rows
#include "answer/put_rows.h"

/* Takes the name of --name, else that of the file: "dir/my-cluster.json" -> "my-cluster". */
static void take_name(const struct sp_args *args, char *name, size_t size)
{
    const char *const given = args->value.name, *const output = args->value.write;
    const char *const path = output && strcmp(output, "-") == 0 ? NULL : output;
    const char *const slash = path ? strrchr(path, '/') : NULL;
    if (given || path)
        snprintf(name, size, "%s", given ? given : slash ? slash + 1 : path);
    char *const dot = given ? NULL : strrchr(name, '.');
    if (dot && path && strcmp(dot, ".json") == 0)
        *dot = '\0';
}

/* Writes the profile where -o says. */
static bool write_profile(const struct calibrating *s, struct sp_report *report,
                          struct sp_error *error)
{
    char fitted_to[256];
    if (!s->written)
        return true;
    snprintf(fitted_to, sizeof fitted_to,
             "%zu runs, %d configurations on %s with %s, from profile %s", s->of.used,
             s->of.fit.groups, s->of.chip, s->of.framework, s->of.fit.prior.name);
    char *const text = sp_profile_text(&s->of.fit.fitted, fitted_to, s->file);
    sp_make_printable(text, "\n"); /* names of files are others' text */
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
        return sp_fail(error, SP_USAGE, "--hw is needed: the chip whose runs are fitted");
    if (!sp_check_name(args->value.name, error))
        return false;
    sp_machine_name(args->value.hw, sources, name, sizeof name);
    *request = (struct sp_fit_request){.file = args->operands[0],
                                       .chip = hw->name,
                                       .framework = framework,
                                       .profile = args->value.profile,
                                       .all = args->given.all,
                                       .sources = sources};
    return sp_load_chip(name, sources, hw, error) &&
           (serves || !framework || sp_load_framework(framework, sources, &known, error));
}

static bool calibrate(const struct sp_args *args, struct calibrating *s, struct sp_report *report,
                      struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_hardware hw;
    struct sp_fit_request request;
    if (!sp_is_serving_file(s->file, &sources, &s->serves, error) ||
        !read_request(args, &sources, s->serves, &hw, &request, error) ||
        !(s->serves ? sp_fit_serving_file : sp_fit_training_file)(&request, &s->of, error))
        return false;
    take_name(args, s->of.fit.fitted.name, sizeof s->of.fit.fitted.name);
    if (s->of.has_next)
        sp_change_text(&s->of.next.plan, "", s->next_change, sizeof s->next_change);
    sp_undetermined_constants(&s->of.fit.fitted, s->undetermined, sizeof s->undetermined);
    sp_constants_at_bounds(&s->of.fit.fitted, s->at_bounds, sizeof s->at_bounds);
    if (!write_profile(s, report, error))
        return false;
    put_rows(report, s);
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
    sp_make_printable(source, ""); /* names of files are others' text */
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
        return sp_fail(error, SP_INPUT, "--hw %s: nccl-tests run on switches, this is a torus",
                       s->hw.name);
    if (!sp_read_nccl_times(text, s->file, given_op(args), &s->times, error))
        return false;
    snprintf(s->fit.network.name, sizeof s->fit.network.name, "%.48s-network", s->hw.name);
    const bool ok = sp_fit_network(&s->hw, &s->times, &s->fit, error);
    take_name(args, s->fit.network.name, sizeof s->fit.network.name);
    if (!ok || !write_network(s, report, error))
        return false;
    put_network(report, s);
    return true;
}

/* Options of one kind of file mean nothing to the other. */
static bool check_options(const struct sp_args *args, bool of_nccl, struct sp_error *error)
{
    static const enum sp_option_id of_runs[] = {SP_O_framework, SP_O_profile, SP_O_all,
                                                SP_NO_OPTION};
    static const enum sp_option_id of_times[] = {SP_O_network, SP_O_op, SP_NO_OPTION};
    const enum sp_option_id *const others = of_nccl ? of_runs : of_times;
    for (int i = 0; others[i] != SP_NO_OPTION; i++)
        if (args->given_at[others[i]])
            return sp_fail(error, SP_USAGE, "--%s is for %s, and %s is %s",
                           sp_option_name(others[i]), of_nccl ? "runs" : "the output of nccl-tests",
                           sp_safe(args->operands[0]), of_nccl ? "that of nccl-tests" : "a table");
    return true;
}

/* A file of runs makes a profile, what nccl-tests print a network. */
static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE,
                       "one file of runs is needed: scaleplan calibrate RUNS.csv --hw H");
    const char *const file = args->operands[0];
    size_t length;
    char *const text = sp_read_file(sp_pipes_of(args->world), file, 64 << 20, &length, error);
    if (!text)
        return false;
    const bool is_nccl = sp_is_nccl_output(text);
    bool ok = check_options(args, is_nccl, error);
    if (ok && is_nccl) {
        struct measuring s = {.file = file, .written = args->value.write};
        ok = measure(args, text, &s, report, error);
        free(s.times.of);
    } else if (ok) {
        struct calibrating s = {.file = file, .written = args->value.write};
        ok = calibrate(args, &s, report, error);
        sp_free_fit_of_file(&s.of);
    }
    free(text);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan calibrate runs.csv --hw h100 --framework nemo -o my-cluster.json",
     "fit a profile to your own runs, three or more"},
    {"scaleplan step --model llama3-8b --hw h100-64 --profile my-cluster.json",
     "then estimate with it"},
    {"scaleplan calibrate nccl.txt --hw h100 -o my-network.json",
     "fit a network to what all_reduce_perf and its kind printed"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_calibrate = {
    .name = "calibrate",
    .summary = "a profile fitted to your own measured runs",
    .operands = "RUNS.csv|NCCL.txt",
    .about =
        "Fits the bounded constants of one profile to the runs of one chip and framework in a "
        "CSV file (its columns: docs/runs.md; step time and peak memory from a training log, "
        "three runs or more). Prints the errors before and after and of configurations left "
        "out of the fit, and which constants the runs could not determine. Of a file of serving "
        "runs, which has columns input and output, the profile of a chip and an engine. Of the "
        "output of nccl-tests, a network with the rates of its collectives by size.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
