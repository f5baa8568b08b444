/* Reads a plan a line and answers it with a line. */
#include "commands/step_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/read_file.h"
#include "report/rows.h"
#include "cli/help.h"
#include "cli/words.h"

/* A plan takes a few hundred bytes; what has no line breaks is no list of plans. */
enum { LONGEST_LINE = 1 << 20 };

extern const struct sp_command sp_cmd_step;

bool sp_step_streams(int argc, char **argv, struct sp_pipes *pipes)
{
    (void)pipes;
    return argc > 1 && strcmp(argv[1], "-") == 0;
}

bool sp_add_member(struct sp_words *words, const cJSON *member, struct sp_error *error)
{
    char number[40];
    if (cJSON_IsNumber(member)) {
        sp_format_double(member->valuedouble, number, sizeof number);
        sp_add_option(words, member->string, number);
    } else if (cJSON_IsString(member)) {
        sp_add_option(words, member->string, member->valuestring);
    } else if (cJSON_IsBool(member)) {
        sp_add_option(words, member->string, cJSON_IsTrue(member) ? "on" : "off");
    } else {
        return sp_fail(error, SP_INPUT, "--%s: expected a number, text, true or false",
                       sp_safe(member->string));
    }
    return true;
}

/* {"tp": 8, "model": "llama3-8b", "sp": "off"} as options; those of the line come last and win. */
static bool add_members(struct sp_words *words, const cJSON *object, struct sp_error *error)
{
    const cJSON *member;
    if (!cJSON_IsObject(object))
        return sp_fail(error, SP_INPUT, "expected an object such as {\"tp\": 8}");
    cJSON_ArrayForEach(member, object)
    {
        if (member->string[0] != '$' && !sp_add_member(words, member, error))
            return false;
    }
    return true;
}

static bool answer_line(int argc, char **argv, struct sp_pipes *pipes, const char *line,
                        size_t length, FILE *out, struct sp_error *error)
{
    static struct sp_args args;
    struct sp_json json;
    struct sp_words words = {0};
    char unknown[160];
    if (!sp_json_parse(line, length, "line", &json, error))
        return false;
    sp_add_word(&words, "%s", "step");
    for (int i = 2; i < argc; i++)
        sp_add_word(&words, "%s", argv[i]);
    struct sp_report *const report = sp_report_new("step");
    args.pipes = pipes;
    bool ok = add_members(&words, json.root, error) &&
              sp_compute(&sp_cmd_step, words.n, words.word, &args, report, error);
    const struct sp_render how = {
        .format = SP_FORMAT_JSON, .get = ok ? sp_text_of(&args, "get") : NULL, .one_line = true};
    if (ok && !sp_render_check(report, &how, unknown, sizeof unknown))
        ok = sp_fail(error, SP_INPUT, "unknown key \"%s\"", sp_safe(unknown));
    if (ok)
        sp_render(report, &how, out);
    sp_report_free(report);
    sp_free_words(&words);
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

static void answer_lines(int argc, char **argv, struct sp_pipes *pipes, char *line, FILE *out)
{
    size_t length, number = 0;
    for (; !ferror(out) && read_line(stdin, line, &length); fflush(out)) {
        struct sp_error wrong = {0};
        char place[32];
        number++;
        if (length > LONGEST_LINE)
            sp_fail(&wrong, SP_INPUT, "the line is longer than 1 MiB, the most that is read");
        else if (answer_line(argc, argv, pipes, line, length, out, &wrong))
            continue;
        snprintf(place, sizeof place, "%zu", number);
        const struct sp_cell cells[] = {{"line", place, false}, {"error", wrong.text, true}};
        sp_write_json_row(cells, 2, out);
    }
}

/* The options of the line alone: what is wrong there is wrong for every plan. */
static bool check_line(int argc, char **argv, bool *help, struct sp_error *error)
{
    static struct sp_args args;
    struct sp_words words = {0};
    sp_add_word(&words, "%s", "step");
    for (int i = 2; i < argc; i++)
        sp_add_word(&words, "%s", argv[i]);
    bool ok = sp_parse_options(&sp_cmd_step, words.n, words.word, &args, error);
    *help = ok && sp_given(&args, "help");
    for (size_t i = 0; ok && i < args.n_options; i++)
        ok = !args.given[i] || sp_only_computes(args.options[i].name, error);
    sp_free_words(&words);
    return ok;
}

enum sp_exit sp_step_lines(int argc, char **argv, struct sp_pipes *pipes, FILE *out,
                           struct sp_error *error)
{
    bool help = false;
    if (!check_line(argc, argv, &help, error))
        return SP_OK;
    if (help) {
        sp_print_command_help(&sp_cmd_step, out);
        return SP_OK;
    }
    char *const line = malloc(LONGEST_LINE + 1);
    if (!line)
        abort();
    if (pipes)
        pipes->stdin_taken = true;
    answer_lines(argc, argv, pipes, line, out);
    if (ferror(stdin))
        sp_fail(error, SP_INPUT, "standard input: %s", strerror(errno));
    free(line);
    return SP_OK;
}
