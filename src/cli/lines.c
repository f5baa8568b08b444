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

static bool answer_line(const struct sp_command *command, const struct sp_args *typed,
                        const char *line, size_t length, FILE *out, struct sp_error *error)
{
    struct sp_json json;
    char *keys = NULL;
    if (!sp_json_parse(line, length, "line", &json, error))
        return false;
    struct sp_args *const args = sp_new_args(typed->world);
    *args = *typed;
    struct sp_report *const report = sp_report_new(command->name);
    bool ok = take_members(args, json.root, error) && sp_answer(command, args, report, error);
    if (ok && args->value.get)
        ok = (keys = sp_full_keys(report, args->value.get, error)) != NULL;
    if (ok)
        sp_render(report,
                  &(struct sp_render){.format = SP_FORMAT_JSON, .get = keys, .one_line = true},
                  out);
    free(keys);
    free(args);
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
static enum sp_exit answer_lines(const struct sp_command *command, const struct sp_args *typed,
                                 char *line, FILE *out, struct sp_error *error)
{
    size_t length, number = 0, plans = 0, answered = 0;
    for (; !ferror(out) && read_line(stdin, line, &length); fflush(out)) {
        struct sp_error wrong = {0};
        char place[32];
        number++;
        if (strspn(line, " \t") == length)
            continue;
        plans++;
        if (length > LONGEST_LINE) {
            sp_fail(&wrong, SP_INPUT, "the line is longer than 1 MiB, the most that is read");
        } else if (answer_line(command, typed, line, length, out, &wrong)) {
            answered++;
            continue;
        }
        snprintf(place, sizeof place, "%zu", number);
        const struct sp_cell cells[] = {{"line", place, false}, {"error", wrong.text, true}};
        sp_write_json_row(cells, 2, out);
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
    if (!line)
        abort();
    if (world)
        world->pipes.stdin_taken = true;
    const enum sp_exit code = answer_lines(command, typed, line, out, error);
    if (ferror(stdin))
        sp_fail(error, SP_INPUT, "standard input: %s", strerror(errno));
    free(line);
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
            code = answer_input(command, typed, world, out, error);
    }
    free(typed);
    return code;
}
