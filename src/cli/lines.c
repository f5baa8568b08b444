/* Reads options a line, as JSON, and answers each with a line. */
#include "cli/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/world.h"
#include "answer/rows.h"
#include "cli/help.h"
#include "cli/plan_json.h"
#include "cli/plan_options.h"

/* A plan takes a few hundred bytes; what has no line breaks is no list of plans. */
enum { LONGEST_LINE = 1 << 20 };

bool sp_reads_lines(int argc, char **argv, struct sp_world *world)
{
    (void)world;
    return argc > 1 && strcmp(argv[1], "-") == 0;
}

/* The members of a line on top of the typed options: they come last and win. */
static bool take_members(struct sp_args *args, const cJSON *plan, struct sp_error *error)
{
    const cJSON *member;
    bool ok =
        cJSON_IsObject(plan) || sp_fail(error, SP_INPUT, "expected an object such as {\"tp\": 8}");
    for (member = ok ? plan->child : NULL; member && ok; member = member->next)
        ok = sp_take_member(args, plan, member, error);
    return ok;
}

/* What answers of many lines share. */
struct lines {
    const struct sp_command *command;
    const struct sp_args *typed;
    struct sp_args *args; /* of a line */
    struct sp_asker asker;
    FILE *out;
};

static bool print_line(struct lines *s, struct sp_report *report, struct sp_error *error)
{
    char *keys = NULL;
    if (s->args->value.get && !(keys = sp_full_keys(report, s->args->value.get, error)))
        return false;
    const struct sp_render how = {.format = SP_FORMAT_JSON, .get = keys, .one_line = true};
    sp_render(report, &how, s->out);
    free(keys);
    return true;
}

static bool answer_line(struct lines *s, const char *line, size_t length, struct sp_error *error)
{
    struct sp_json json;
    if (!sp_json_parse(line, length, "line", &json, error))
        return false;
    sp_restore_args(s->args, s->typed);
    struct sp_report *const report =
        take_members(s->args, json.root, error)
            ? sp_answer_asked(&s->asker, s->command, s->args, s->args->value.get, error)
            : NULL;
    const bool ok = report && print_line(s, report, error);
    sp_report_free(report);
    sp_json_free(&json);
    return ok;
}

/* Reads a line without its end into `line`, of which LONGEST_LINE bytes are kept; false at the end
 * of the input. `length` is the whole line's. */
static bool read_line(FILE *in, char *line, size_t *length)
{
    int c;
    *length = 0;
    while ((c = getc(in)) != EOF && c != '\n') {
        if (*length < LONGEST_LINE)
            line[*length] = (char)c;
        (*length)++;
    }
    if (c == EOF && *length == 0)
        return false;
    if (*length > 0 && *length <= LONGEST_LINE && line[*length - 1] == '\r')
        --*length;
    line[*length < LONGEST_LINE ? *length : LONGEST_LINE] = '\0';
    return true;
}

/* Blank lines are no plans. The exit code: 0; 1 where some lines have no answer; 3, with an error,
 * where none has. */
static enum sp_exit answer_lines(struct lines *s, char *line, struct sp_error *error)
{
    size_t length, number = 0, plans = 0, answered = 0;
    for (; !ferror(s->out) && read_line(stdin, line, &length); fflush(s->out)) {
        struct sp_error wrong = {0};
        char place[32];
        number++;
        if (strspn(line, " \t") == length)
            continue;
        plans++;
        if (length > LONGEST_LINE) {
            sp_fail(&wrong, SP_INPUT, "the line is longer than 1 MiB, the most that is read");
        } else if (answer_line(s, line, length, &wrong)) {
            answered++;
            continue;
        }
        snprintf(place, sizeof place, "%zu", number);
        const struct sp_cell cells[] = {{.name = "line", .value = place},
                                        {.name = "error", .value = wrong.text, .words = true}};
        sp_write_json_row(cells, 2, s->out);
    }
    if (plans > 0 && answered == 0)
        sp_fail(error, SP_INPUT, "no line has an answer");
    return answered < plans ? SP_NO : SP_OK;
}

/* The typed options alone: what is wrong there is wrong for every plan. */
static bool take_typed(const struct sp_command *command, int argc, char **argv,
                       struct sp_args *typed, struct sp_error *error)
{
    bool ok = sp_parse_command(command, argc - 1, argv + 1, typed, error);
    for (size_t i = 0; ok && i < typed->n_options; i++)
        ok = !typed->given_at[typed->options[i].id] || sp_only_computes(&typed->options[i], error);
    return ok;
}

/* The lines of standard input. */
static enum sp_exit answer_input(const struct sp_command *command, const struct sp_args *typed,
                                 struct sp_world *world, FILE *out, struct sp_error *error)
{
    char *const line = malloc(LONGEST_LINE + 1);
    struct lines s = {.command = command, .typed = typed, .args = sp_new_args(world), .out = out};
    if (!line)
        abort();
    if (world)
        world->pipes.stdin_taken = true;
    sp_copy_args(s.args, typed);
    const enum sp_exit code = answer_lines(&s, line, error);
    if (ferror(stdin))
        sp_fail(error, SP_INPUT, "standard input: %s", strerror(errno));
    sp_free_asker(&s.asker);
    free(s.args);
    free(line);
    return code;
}

/* The same, with what the lines share. */
static enum sp_exit answer_known(const struct sp_command *command, struct sp_args *typed,
                                 struct sp_world *world, FILE *out, struct sp_error *error)
{
    struct sp_known_problem *const known = sp_know(typed);
    typed->known = known;
    const enum sp_exit code = answer_input(command, typed, world, out, error);
    free(known);
    return code;
}

enum sp_exit sp_answer_lines(int argc, char **argv, struct sp_world *world, FILE *out,
                             struct sp_error *error)
{
    enum sp_exit code = SP_OK;
    const struct sp_command *const command = sp_find_command(argv[0], error);
    struct sp_args *const typed = sp_new_args(world);
    if (command && take_typed(command, argc, argv, typed, error)) {
        if (typed->given.help)
            sp_print_command_help(command, out);
        else
            code = answer_known(command, typed, world, out, error);
    }
    free(typed);
    return code;
}
