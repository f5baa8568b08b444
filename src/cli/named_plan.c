/* Reads a plan that an option names: KEY=VALUE pairs, a plan in JSON, a launch. */
#include "cli/named_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/read_file.h"
#include "base/suggest.h"
#include "cli/plan_json.h"
#include "config/world.h"

/* The options of a `step` without any. */
static bool begin_step(struct sp_args *args, struct sp_error *error)
{
    char step[] = "step", *words[] = {step, NULL};
    const struct sp_command *const command = sp_find_command(step, error);
    return command && sp_parse_command(command, 1, words, args, error);
}

/* One KEY=VALUE of a plan. Its keys are the fields that a search varies; the problem itself (model,
 * machine, batch, framework, imbalance of the experts) is not part of the plan. */
static bool take_pair(const char *option, char *pair, struct sp_args *args, struct sp_error *error)
{
    char *const equals = strchr(pair, '=');
    if (!equals || equals == pair || pair[0] == '-')
        return sp_fail(error, SP_INPUT,
                       "--%s: \"%s\" is not KEY=VALUE, such as tp=8,pp=16,remat=full", option,
                       sp_safe(pair));
    *equals = '\0';
    struct sp_nearest nearest = {.wanted = pair};
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        if (sp_plan_fields[i].of_problem)
            continue;
        if (strcmp(sp_plan_fields[i].name, pair) == 0)
            return args->given_at[sp_option_of_field(i)]
                       ? sp_fail(error, SP_INPUT, "--%s: %s is given twice", option, pair)
                       : sp_take_text(args, sp_option_of_field(i), equals + 1, error);
        sp_nearest_offer(&nearest, sp_plan_fields[i].name);
    }
    return sp_fail(error, SP_INPUT, "--%s: unknown field \"%s\" of a plan%s", option, sp_safe(pair),
                   sp_nearest_hint(&nearest));
}

bool sp_plan_of_pairs(const char *option, const char *pairs, const struct sp_sources *sources,
                      struct sp_planned *planned, struct sp_error *invalid, struct sp_error *error)
{
    char pair[512];
    if (strlen(pairs) >= sizeof pair)
        return sp_fail(error, SP_INPUT, "--%s: too long", option);
    struct sp_args *const args = sp_new_args(NULL);
    bool ok = begin_step(args, error);
    for (const char *rest = pairs; ok && sp_next_item(&rest, pair, sizeof pair);)
        ok = take_pair(option, pair, args, error);
    if (ok && planned->plan.imbalance > 0)
        ok = sp_take_number(args, SP_O_imbalance, planned->plan.imbalance, error);
    ok = ok && sp_plan_on(args, sources, planned, invalid);
    free(args);
    return ok;
}

/* The problem of a plan, without the plan. */
static struct sp_plan problem_of(const struct sp_planned *p)
{
    const int64_t asked = sp_round_batch(p->problem.batch.tokens / (double)p->plan.seq, 1);
    return (struct sp_plan){.seq = p->plan.seq,
                            .batch = p->problem.batch.counts_sequences ? p->plan.batch : asked,
                            .dtype = p->plan.dtype,
                            .imbalance = p->plan.imbalance};
}

/* Options that state a problem, each with one that means the same: a file that has either is not
 * given the other plan's. */
static const enum sp_option_id of_problem[][2] = {
    {SP_O_model, SP_O_shape},
    {SP_O_shape, SP_O_model},
    {SP_O_hw, SP_O_hw},
    {SP_O_network, SP_O_hw},
    {SP_O_seq, SP_O_seq},
    {SP_O_batch, SP_O_batch},
    {SP_O_profile, SP_O_framework},
    {SP_O_framework, SP_O_framework},
    {SP_O_machine_factor, SP_O_hw},
    {SP_O_precision, SP_O_precision},
    {SP_O_imbalance, SP_O_imbalance},
    {SP_O_trainable, SP_O_trainable},
    {SP_O_lora_rank, SP_O_trainable},
    {SP_O_lora_targets, SP_O_trainable},
    {SP_O_base_format, SP_O_trainable},
    {SP_O_reference, SP_O_reference},
    {SP_O_teacher, SP_O_teacher},
    {SP_O_teacher_top_k, SP_O_teacher},
    {SP_O_constants, SP_O_constants},
    {SP_O_config_dir, SP_O_config_dir},
};
enum { OF_PROBLEM = sizeof of_problem / sizeof *of_problem };

/* Whether a --set path changes a config that the file names itself. */
static bool is_of_file(const struct sp_options_given *file, const char *set)
{
    return ((file->model || file->shape) && strncmp(set, "model.", 6) == 0) ||
           (file->precision && strncmp(set, "precision.", 10) == 0);
}

/* Takes from the problem of `from` whatever the file leaves out. */
static bool take_rest(const struct sp_args *from, const struct sp_planned *first,
                      struct sp_args *to, struct sp_error *error)
{
    const struct sp_options_given file = to->given;
    bool said[OF_PROBLEM], ok = true;
    for (int i = 0; i < OF_PROBLEM; i++)
        said[i] = to->given_at[of_problem[i][0]] || to->given_at[of_problem[i][1]];
    for (int i = 0; i < OF_PROBLEM && ok; i++)
        if (from->given_at[of_problem[i][0]] && !said[i])
            ok = sp_take_text(to, of_problem[i][0], from->text[of_problem[i][0]], error);
    for (int i = 0; i < from->n_many && ok; i++)
        if (!is_of_file(&file, from->many[i]))
            ok = sp_take_text(to, SP_O_set, from->many[i], error);
    /* plans of one problem are compared under one framework, also where neither names one and
     * `step` would choose by the ZeRO stage */
    return ok && (to->given.framework || to->given.profile ||
                  sp_take_text(to, SP_O_framework, first->framework.framework.name, error));
}

/* Makes the plan of a file's options. */
static bool make_plan(const struct sp_args *from, const struct sp_planned *first,
                      struct sp_args *args, struct sp_planned *planned, struct sp_error *error)
{
    if (!take_rest(from, first, args, error))
        return false;
    const struct sp_sources sources = sp_sources_of(args);
    if (!sp_plan_of(args, &sources, planned, error))
        return false;
    planned->problem.machine = planned->hw.name; /* typed values go with the file's text */
    return true;
}

/* A plan in JSON. */
static bool read_members(const struct sp_args *from, const struct sp_planned *first,
                         const struct sp_json *json, struct sp_args *args,
                         struct sp_planned *planned, struct sp_error *error)
{
    struct sp_error wrong = {0};
    bool ok = begin_step(args, error);
    for (const cJSON *member = json->root->child; member && ok; member = member->next)
        ok = sp_take_member(args, json->root, member, &wrong);
    if (wrong.lines > 0)
        return sp_fail(error, wrong.code, "%s: %s", json->origin, wrong.text);
    return ok && make_plan(from, first, args, planned, error);
}

/* A launch, for the machine of `from`. */
static bool read_launch(const struct sp_args *from, const struct sp_planned *first,
                        const char *path, struct sp_args *args, struct sp_named_plan *named,
                        struct sp_error *error)
{
    static const enum sp_option_id machine[] = {SP_O_hw, SP_O_network, SP_O_constants,
                                                SP_O_config_dir};
    struct sp_args *const typed = sp_new_args(args->world);
    bool ok = begin_step(typed, error) && sp_take_text(typed, SP_O_from, path, error);
    for (size_t i = 0; i < sizeof machine / sizeof *machine && ok; i++)
        if (from->given_at[machine[i]])
            ok = sp_take_text(typed, machine[i], from->text[machine[i]], error);
    ok = ok && sp_take_launch(typed, &named->launch, args, error) &&
         make_plan(from, first, args, &named->planned, error);
    free(typed);
    return ok;
}

/* A file: an object in which no launch is recognised is a plan. */
static bool read_file(const struct sp_args *from, const struct sp_planned *first, const char *path,
                      struct sp_named_plan *named, struct sp_error *error)
{
    struct sp_error no_launch = {0};
    struct sp_json json = {0};
    size_t length;
    char *const text =
        sp_read_file(sp_pipes_of(from->world), path, SP_JSON_MAX_BYTES, &length, &no_launch);
    if (!text)
        return sp_fail(error, no_launch.code,
                       "%s (a plan is KEY=VALUE, such as tp=8,pp=16,remat=full)", no_launch.text);
    struct sp_args *const args = sp_new_args(from->world);
    bool ok = read_launch(from, first, path, args, named, &no_launch);
    if (!ok && !named->launch.format && text[strspn(text, " \t\r\n")] == '{') {
        sp_clear_args(args);
        ok = sp_json_parse(text, length, sp_origin_of(path), &json, error) &&
             read_members(from, first, &json, args, &named->planned, error);
    } else if (!ok) {
        *error = no_launch;
    }
    free(args);
    if (json.root)
        sp_json_free(&json);
    free(text);
    return ok;
}

/* Adds the option to the error; several lines name their places themselves. */
static bool refuse(const char *option, const struct sp_error *why, struct sp_error *error)
{
    if (why->lines == 1)
        return sp_fail(error, why->code, "--%s: %s", option, why->text);
    *error = *why;
    return false;
}

bool sp_read_named_plan(const struct sp_args *args, const struct sp_planned *first,
                        const char *option, const char *text, struct sp_named_plan *named,
                        struct sp_error *error)
{
    struct sp_error why = {0};
    named->launch.format = NULL;
    if (strchr(text, '/') || !strchr(text, '='))
        return read_file(args, first, text, named, &why) || refuse(option, &why, error);
    const struct sp_sources sources = sp_sources_of(args);
    named->planned = *first;
    named->planned.plan = problem_of(first);
    return sp_plan_of_pairs(option, text, &sources, &named->planned, &why, error) ||
           (why.lines > 0 && refuse(option, &why, error)); /* an invalid plan names no option */
}
