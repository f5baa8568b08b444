/* Reads a plan a line and answers it with a line. */
#include "commands/step_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/read_file.h"
#include "answer/rows.h"
#include "cli/help.h"
#include "cli/plan_json.h"

/* A plan takes a few hundred bytes; what has no line breaks is no list of plans. */
enum { LONGEST_LINE = 1 << 20 };

bool sp_step_streams(int argc, char **argv, struct sp_pipes *pipes)
{
    (void)pipes;
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

static bool answer_line(const struct sp_command *step, const struct sp_args *typed,
                        const char *line, size_t length, FILE *out, struct sp_error *error)
{
    static struct sp_args args;
    struct sp_json json;
    char *keys = NULL;
    if (!sp_json_parse(line, length, "line", &json, error))
        return false;
    args = *typed;
    struct sp_report *const report = sp_report_new("step");
    bool ok = take_members(&args, json.root, error) && sp_answer(step, &args, report, error);
    if (ok && args.value.get)
        ok = (keys = sp_full_keys(report, args.value.get, error)) != NULL;
    if (ok)
        sp_render(report,
                  &(struct sp_render){.format = SP_FORMAT_JSON, .get = keys, .one_line = true},
                  out);
    free(keys);
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
static enum sp_exit answer_lines(const struct sp_command *step, const struct sp_args *typed,
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
        } else if (answer_line(step, typed, line, length, out, &wrong)) {
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
static bool take_typed(const struct sp_command *step, int argc, char **argv, struct sp_args *typed,
                       struct sp_error *error)
{
    bool ok = sp_parse_command(step, argc - 1, argv + 1, typed, error);
    for (size_t i = 0; ok && i < typed->n_options; i++)
        ok = !typed->given_at[typed->options[i].id] || sp_only_computes(&typed->options[i], error);
    return ok;
}

enum sp_exit sp_step_lines(int argc, char **argv, struct sp_pipes *pipes, FILE *out,
                           struct sp_error *error)
{
    static struct sp_args typed;
    const struct sp_command *const step = sp_find_command(argv[0], error);
    typed.pipes = pipes;
    if (!step || !take_typed(step, argc, argv, &typed, error))
        return SP_OK;
    if (typed.given.help) {
        sp_print_command_help(step, out);
        return SP_OK;
    }
    char *const line = malloc(LONGEST_LINE + 1);
    if (!line)
        abort();
    if (pipes)
        pipes->stdin_taken = true;
    const enum sp_exit code = answer_lines(step, &typed, line, out, error);
    if (ferror(stdin))
        sp_fail(error, SP_INPUT, "standard input: %s", strerror(errno));
    free(line);
    return code;
}
