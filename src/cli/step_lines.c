#include "step_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../config/json.h"
#include "../report/rows.h"
#include "words.h"

extern const struct sp_command sp_cmd_step;

bool sp_step_streams(int argc, char **argv)
{
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

static bool answer_line(int argc, char **argv, const char *line, size_t length, FILE *out,
                        struct sp_error *error)
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
    bool ok = add_members(&words, json.root, error) &&
              sp_run_command(&sp_cmd_step, words.n, words.word, &args, report, error);
    if (ok && sp_given(&args, "plot"))
        ok = sp_fail(error, SP_USAGE, "--plot draws one plan, not one a line");
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

enum sp_exit sp_step_lines(int argc, char **argv, FILE *out, struct sp_error *error)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    (void)error;
    for (ssize_t n; (n = getline(&line, &room, stdin)) >= 0 && !ferror(out); fflush(out)) {
        struct sp_error wrong = {0};
        char place[32];
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = '\0';
        number++;
        if (answer_line(argc, argv, line, (size_t)n, out, &wrong))
            continue;
        snprintf(place, sizeof place, "%zu", number);
        const struct sp_cell cells[] = {{"line", place, false}, {"error", wrong.text, true}};
        sp_write_json_row(cells, 2, out);
    }
    free(line);
    return SP_OK;
}
