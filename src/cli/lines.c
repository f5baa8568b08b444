/* Reads options as JSON, one object a line or on several, and answers each with a line. */
#include "cli/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "config/world.h"
#include "answer/rows.h"
#include "cli/help.h"
#include "cli/plan_json.h"
#include "cli/plan_options.h"

/* A plan takes a few hundred bytes; a text without line breaks is not a list of plans. */
enum { LONGEST_LINE = 1 << 20, READ_AT_ONCE = 1 << 16 };

/* Whether the word after this one is its value: "--from -" is no stream of lines. */
static bool takes_next(const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return strcmp(word, "-o") == 0;
    const enum sp_option_id id = sp_option_of_name(word + 2);
    const enum sp_option_kind kind = id == SP_NO_OPTION ? SP_FLAG : sp_option_row(id, NULL).kind;
    return kind != SP_FLAG && kind != SP_MAYBE;
}

/* The place of the word that stands for standard input; 0: none. */
static int place_of_input(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-") == 0 && !takes_next(argv[i - 1]))
            return i;
    return 0;
}

bool sp_reads_lines(int argc, char **argv, struct sp_world *world)
{
    (void)world;
    return place_of_input(argc, argv) > 0;
}

/* The members of a line on top of the typed options: they come last and win. */
static bool take_members(struct sp_args *args, const cJSON *plan, struct sp_error *error)
{
    const cJSON *member;
    bool ok = true;
    for (member = plan->child; member && ok; member = member->next)
        ok = strcmp(member->string, "id") == 0 || sp_take_member(args, plan, member, error);
    return ok;
}

/* Shared by the answers of many lines. */
struct lines {
    const struct sp_command *command;
    const struct sp_args *typed;
    struct sp_args *args; /* of a line */
    struct sp_asker asker;
    char *id; /* the "id" of a line, as JSON; NULL: none */
    FILE *in, *out;
    char *room; /* bytes of `in` that were read and not yet taken: `at` to `end` */
    size_t at, end;
    bool failed; /* to read `in` */
};

/* The answer as an object, which begins with the line's id where that has one. */
static void print_with_id(const struct lines *s, const struct sp_report *report,
                          const struct sp_render *how)
{
    char *text = NULL;
    size_t length;
    if (!s->id) {
        sp_render(report, how, s->out);
        return;
    }
    FILE *const answer = sp_must(open_memstream(&text, &length));
    sp_render(report, how, answer);
    fclose(answer);
    fprintf(s->out, "{\"id\":%s%s%s", s->id, text[1] == '}' ? "" : ",", text + 1);
    free(text);
}

static bool print_line(struct lines *s, struct sp_report *report, struct sp_error *error)
{
    const char *const typed = s->args->value.get;
    char *const keys = typed && sp_takes_words(report) ? sp_full_keys(report, typed, error) : NULL;
    if (error->lines > 0)
        return false;
    const struct sp_render how = {
        .format = SP_FORMAT_JSON, .get = keys ? keys : typed, .one_line = true};
    print_with_id(s, report, &how);
    free(keys);
    return true;
}

/* "line:1:9: what" is at a column of the line, "line:2:9: what" of the second of several. */
static bool place_in_line(struct sp_error *error)
{
    char what[512], *end = error->text + strlen("line:");
    const long line = strtol(end, &end, 10), column = strtol(end + 1, &end, 10);
    if (line == 1)
        snprintf(what, sizeof what, "column %ld%.400s", column, end);
    else
        snprintf(what, sizeof what, "line %ld of it, column %ld%.400s", line, column, end);
    memcpy(error->text, what, sizeof what);
    return false;
}

static bool answer_line(struct lines *s, const char *line, size_t length, struct sp_error *error)
{
    struct sp_json json;
    /* after a byte order mark, which is harmless */
    if (line[strspn(line, "\xef\xbb\xbf \t")] != '{')
        return sp_fail(error, SP_INPUT, "each line must be a JSON object, such as {\"tp\": 8}");
    if (!sp_json_parse(line, length, "line", &json, error))
        return place_in_line(error);
    const cJSON *const id = cJSON_GetObjectItemCaseSensitive(json.root, "id");
    s->id = id ? cJSON_PrintUnformatted(id) : NULL;
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

/* Reads the available bytes, and waits if there are none: whoever writes the lines may wait for the
 * answers so far, so these are flushed first, but only then. stdio fills its buffer without notice,
 * hence read(). */
static bool read_more(struct lines *s)
{
    const int file = fileno(s->in); /* none for a text in memory */
    ssize_t n;
    fflush(s->out);
    do
        n = file < 0 ? (ssize_t)fread(s->room, 1, READ_AT_ONCE, s->in)
                     : read(file, s->room, READ_AT_ONCE);
    while (n < 0 && errno == EINTR);
    s->failed = n < 0;
    s->at = 0;
    s->end = n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Appends a line to `line`, which keeps LONGEST_LINE bytes, and leaves its end out; false at the
 * end of the input. `length` becomes that of all. */
static bool read_line(struct lines *s, char *line, size_t *length)
{
    const char *end = NULL;
    bool any = false;
    for (; !end && (s->at < s->end || read_more(s)); any = true) {
        const char *const from = s->room + s->at;
        const size_t there = s->end - s->at;
        end = memchr(from, '\n', there);
        const size_t n = end ? (size_t)(end - from) : there;
        if (*length < LONGEST_LINE)
            memcpy(line + *length, from, n < LONGEST_LINE - *length ? n : LONGEST_LINE - *length);
        *length += n;
        s->at += n + (end != NULL);
    }
    if (*length > 0 && *length <= LONGEST_LINE && line[*length - 1] == '\r')
        --*length;
    line[*length < LONGEST_LINE ? *length : LONGEST_LINE] = '\0';
    return any;
}

/* How deep in an object a text ends, and whether in quotes. */
struct depth {
    int braces;
    bool quoted;
};

static void follow(struct depth *d, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '"')
            d->quoted = !d->quoted;
        else if (d->quoted)
            i += text[i] == '\\';
        else
            d->braces += (text[i] == '{') - (text[i] == '}');
}

/* Whether the next line begins as no object does. */
static bool is_continued(struct lines *s)
{
    return (s->at < s->end || read_more(s)) &&
           (s->room[s->at] == ' ' || s->room[s->at] == '\t' || s->room[s->at] == '}');
}

/* Reads a line, and with one that leaves an object open, as printed reports do, all of its indented
 * lines; `lines` counts them. */
static bool read_plan(struct lines *s, char *line, size_t *length, size_t *lines)
{
    struct depth depth = {0};
    size_t from = 0;
    *length = 0;
    *lines = 1;
    if (!read_line(s, line, length))
        return false;
    for (; *length < LONGEST_LINE; ++*lines) {
        follow(&depth, line + from, *length - from);
        if (depth.braces <= 0 || depth.quoted || !is_continued(s))
            break;
        line[(*length)++] = '\n';
        from = *length;
        read_line(s, line, length);
    }
    return true;
}

/* Blank lines are not plans. The exit code: 0; 1 where some lines have no answer; 3, with an error,
 * if none has, or no plan is there. */
static enum sp_exit answer_lines(struct lines *s, char *line, struct sp_error *error)
{
    size_t length, lines, next = 1, plans = 0, answered = 0;
    struct sp_error wrong = {0};
    while (!ferror(s->out) && read_plan(s, line, &length, &lines)) {
        char place[32];
        const size_t number = next;
        next += lines;
        cJSON_free(s->id);
        s->id = NULL;
        if (strspn(line, " \t") == length)
            continue;
        plans++;
        if (length > LONGEST_LINE) {
            sp_fail(&wrong, SP_INPUT, "the line is longer than the limit of 1 MiB");
        } else if (answer_line(s, line, length, &wrong)) {
            answered++;
            continue;
        }
        snprintf(place, sizeof place, "%zu", number);
        const struct sp_cell cells[] = {{.name = "id", .value = s->id},
                                        {.name = "line", .value = place},
                                        {.name = "error", .value = wrong.text, .words = true}};
        sp_write_json_row(s->id ? cells : cells + 1, s->id ? 3 : 2, s->out);
        wrong = (struct sp_error){0};
    }
    cJSON_free(s->id);
    if (answered == 0 && !s->failed)
        sp_fail(error, SP_INPUT, plans > 0 ? "no line has an answer" : "no line has a plan");
    return answered < plans ? SP_NO : SP_OK;
}

/* Names that were typed for all lines, and keys that no answer has: an error in them is one of
 * every line. */
static bool check_names(const struct sp_args *typed, struct sp_error *error)
{
    union {
        struct sp_model model;
        struct sp_hardware hw;
        struct sp_framework_file framework;
        struct sp_precision precision;
    } *const of = sp_must(malloc(sizeof *of));
    const struct sp_sources sources = sp_sources_of(typed);
    const char *const framework = typed->value.framework, *const precision = typed->value.precision,
                      *keys = typed->value.get;
    const char *const hw = typed->value.hw;
    bool ok =
        (!hw || strchr(hw, ',') || strstr(hw, "..") ||
         sp_load_hardware(hw, &sources, &of->hw, error)) &&
        (!typed->given.model || sp_load_model(typed->value.model, &sources, &of->model, error)) &&
        (!framework || sp_load_framework(framework, &sources, &of->framework, error)) &&
        (!precision || sp_load_precision(precision, &sources, &of->precision, error));
    for (char key[160]; ok && sp_next_item(&keys, key, sizeof key);) {
        struct sp_asked *const asked = sp_asked_of(key);
        if (!memchr(asked->may_be, true, sizeof asked->may_be))
            ok = sp_fail(error, SP_INPUT, "unknown key \"%s\" (--format json shows all keys)",
                         sp_safe(key));
        sp_free_asked(asked);
    }
    free(of);
    return ok;
}

/* The typed options alone: an error in them is an error of every plan. */
static bool take_typed(const struct sp_command *command, int argc, char **argv,
                       struct sp_args *typed, struct sp_error *error)
{
    char **const words = sp_must(malloc((size_t)argc * sizeof *words));
    const int at = place_of_input(argc, argv);
    memcpy(words, argv, (size_t)at * sizeof *words);
    memcpy(words + at, argv + at + 1, (size_t)(argc - at - 1) * sizeof *words);
    bool ok = sp_parse_command(command, argc - 1, words, typed, error);
    free(words);
    for (size_t i = 0; ok && i < typed->n_options; i++)
        ok = !typed->given_at[typed->options[i].id] || sp_only_computes(&typed->options[i], error);
    if (ok && typed->given.check)
        return sp_fail(
            error, SP_USAGE,
            "--check judges one answer; of lines, --get memory.fits prints each verdict");
    if (ok && typed->given.format && typed->value.format != SP_FORMAT_JSON)
        return sp_fail(
            error, SP_INPUT,
            "--format: lines of plans are answered by lines of JSON; `sweep` writes CSV");
    return ok && (typed->given.help || check_names(typed, error));
}

/* The lines of standard input. */
static enum sp_exit answer_input(const struct sp_command *command, const struct sp_args *typed,
                                 struct sp_world *world, FILE *out, struct sp_error *error)
{
    char *const line = sp_must(malloc(LONGEST_LINE + 1));
    struct lines s = {.command = command,
                      .typed = typed,
                      .args = sp_new_args(world),
                      .in = sp_input_of(sp_pipes_of(world)),
                      .out = out,
                      .room = sp_must(malloc(READ_AT_ONCE))};
    if (world)
        world->pipes.stdin_taken = true;
    sp_copy_args(s.args, typed);
    const enum sp_exit code = answer_lines(&s, line, error);
    if (s.failed)
        sp_fail(error, SP_INPUT, "standard input: %s", strerror(errno));
    sp_free_asker(&s.asker);
    free(s.args);
    free(s.room);
    free(line);
    return code;
}

/* The same, with everything that the lines share. */
static enum sp_exit answer_known(const struct sp_command *command, struct sp_args *typed,
                                 struct sp_world *world, FILE *out, struct sp_error *error)
{
    struct sp_known_problem *const known = sp_know(typed);
    typed->known = known;
    const enum sp_exit code = answer_input(command, typed, world, out, error);
    free(known);
    return code;
}

enum sp_exit sp_answer_lines(int argc, char **argv, struct sp_world *world,
                             const struct sp_output *to, struct sp_error *error)
{
    enum sp_exit code = SP_OK;
    const struct sp_command *const command = sp_find_command(argv[0], error);
    struct sp_args *const typed = sp_new_args(world);
    if (command && take_typed(command, argc, argv, typed, error)) {
        if (typed->given.help)
            sp_print_command_help(command, typed->whole_help, to->out);
        else
            code = answer_known(command, typed, world, to->out, error);
    }
    free(typed);
    return code;
}
