/* The command table, and how a command line becomes a report. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/write_file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/assumed.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/picture.h"
#include "cli/plan_fields.h"
#include "cli/together.h"

/* One per line, in the order of --help. */
/* clang-format off */
#define COMMANDS(X) \
    X(fit) \
    X(step) \
    X(search) \
    X(need) \
    X(sensitivity) \
    X(serve) \
    X(rl) \
    X(sweep) \
    X(merge) \
    X(memory) \
    X(flops) \
    X(batch) \
    X(roofline) \
    X(comm) \
    X(shard) \
    X(pipeline) \
    X(train) \
    X(scaling) \
    X(lr) \
    X(import) \
    X(export) \
    X(list) \
    X(show) \
    X(lint) \
    X(check) \
    X(validate) \
    X(calibrate) \
    X(completion)
/* clang-format on */

#define DECLARE(name) extern const struct sp_command sp_cmd_##name;
#define POINT(name) &sp_cmd_##name,
COMMANDS(DECLARE)
const struct sp_command *const sp_commands[] = {COMMANDS(POINT)};
enum { N_COMMANDS = sizeof sp_commands / sizeof sp_commands[0] };
const size_t sp_n_commands = N_COMMANDS;

/* Words that ask for an answer but name no command, and the commands that give it. */
static const struct {
    const char *word, *command;
} others[] = {
    {"compare", "step --against"},
    {"diff", "step --against"},
    {"vs", "step --against"},
    {"estimate", "step"},
    {"predict", "step"},
    {"plan", "search"},
    {"optimize", "search"},
    {"tune", "search"},
    {"infer", "serve"},
    {"inference", "serve"},
    {"cost", "train"},
    {"rlhf", "rl"},
    {"grpo", "rl"},
    {"convert", "export"},
};

const struct sp_command *sp_find_command(const char *name, struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < sp_n_commands; i++) {
        if (strcmp(sp_commands[i]->name, name) == 0)
            return sp_commands[i];
        sp_nearest_offer(&nearest, sp_commands[i]->name);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].word, name) == 0) {
            sp_fail(error, SP_USAGE, "unknown command \"%s\"; try `scaleplan %s`", name,
                    others[i].command);
            return NULL;
        }
    sp_fail(error, SP_USAGE, "unknown command \"%s\"%s (`scaleplan --help` lists them)",
            sp_safe(name), sp_nearest_hint(&nearest));
    return NULL;
}

/* Adds an option, or the options of all fields of a plan; a field has its own default. Two groups
 * of a command may share an option. */
static void add_option(const struct sp_taken *taken, struct sp_option *options, size_t *n)
{
    for (size_t k = 0; k < *n; k++)
        if (options[k].id == taken->id)
            return;
    if (taken->id != SP_EACH_FIELD && taken->id != SP_EACH_MOST)
        options[(*n)++] = sp_option_row(taken->id, taken);
    for (int i = 0; i < SP_PLAN_FIELDS && taken->id == SP_EACH_FIELD; i++)
        options[(*n)++] = sp_option_row(sp_option_of_field(i),
                                        &(struct sp_taken){.fallback = sp_plan_fields[i].fallback});
    for (int i = 0; i < SP_PLAN_FIELDS && taken->id == SP_EACH_MOST; i++)
        if (sp_option_of_most(i) != SP_NO_OPTION)
            options[(*n)++] = sp_option_row(sp_option_of_most(i), NULL);
}

size_t sp_options_of(const struct sp_command *command, struct sp_option options[SP_MAX_OPTIONS])
{
    size_t n = 0;
    for (size_t i = 0; i < command->n_options; i++)
        add_option(&command->options[i], options, &n);
    for (size_t i = 0; i < sp_n_common_options; i++)
        if (!command->without || !sp_is_option_among(sp_common_options[i].id, command->without))
            add_option(&sp_common_options[i], options, &n);
    return n;
}

struct sp_args *sp_new_args(struct sp_world *world)
{
    struct sp_args *const args = sp_must(calloc(1, sizeof *args));
    args->world = world;
    return args;
}

bool sp_parse_command(const struct sp_command *command, int argc, char **argv, struct sp_args *args,
                      struct sp_error *error)
{
    sp_clear_args(args);
    args->n_options = sp_options_of(command, args->options);
    return sp_parse_args(argc, argv, command->operands != NULL, args, error);
}

/* Adds where to read about the usage, if the usage is wrong; returns false. */
static bool add_hint(const struct sp_command *command, struct sp_error *error)
{
    if (error->code == SP_USAGE && error->lines == 1) {
        sp_append(error->text, sizeof error->text, " (see `scaleplan %s --help`)", command->name);
    }
    return false;
}

static bool check_folder(const char *where, const char *folder, struct sp_error *error)
{
    struct stat there;
    if (stat(folder, &there) != 0)
        return sp_fail(error, SP_INPUT, "%s %s: %s", where, sp_safe(folder), strerror(errno));
    if (strlen(folder) > PATH_MAX - 64) /* the folders of the kinds are in it */
        return sp_fail(error, SP_INPUT, "%s: longer than %d characters", where, PATH_MAX - 64);
    return S_ISDIR(there.st_mode) ||
           sp_fail(error, SP_INPUT, "%s %s: expected a folder", where, sp_safe(folder));
}

/* Refuses a missing --config-dir or folder of SCALEPLAN_CONFIG_PATH, which would otherwise be
 * ignored silently. */
static bool check_folders(const struct sp_sources *sources, struct sp_error *error)
{
    static const char variable[] = "SCALEPLAN_CONFIG_PATH";
    char folder[PATH_MAX];
    bool ok = !sources->config_dir || check_folder("--config-dir", sources->config_dir, error);
    for (const char *path = getenv(variable); ok && path && *path; path += *path == ':') {
        const int n = (int)strcspn(path, ":");
        snprintf(folder, sizeof folder, "%.*s", n, path);
        ok = n == 0 || check_folder(variable, folder, error);
        path += n;
    }
    return ok;
}

const struct sp_example sp_no_example = {NULL, NULL};

bool sp_refuse_in_page(struct sp_error *error)
{
    return sp_fail(error, SP_INTERNAL, "not available in the page: use the program in a shell");
}

/* Notes what an answer assumes, and options that are typed twice: the last value counts. */
static bool note_words(const struct sp_args *args, struct sp_report *report)
{
    if (!sp_takes_words(report))
        return true;
    for (size_t i = 0; i < args->n_options; i++) {
        const enum sp_option_id id = args->options[i].id;
        if (args->lost[id] && strcmp(args->lost[id], args->text[id]) != 0)
            sp_note(report, "--%s is given twice: %s is used, %s is ignored", args->options[i].name,
                    args->text[id], args->lost[id]);
    }
    sp_note_assumed(args, report);
    return true;
}

/* Refuses a layout of single keys: a layout is of a whole report. */
static bool check_layout(const struct sp_args *args, struct sp_error *error)
{
    const bool bare = args->given.get || args->given.explain;
    return !bare || args->value.format != SP_FORMAT_LAYOUT ||
           sp_fail(error, SP_USAGE, "--format layout excludes --get and --explain");
}

const char *sp_format_of_file(const char *path)
{
    static const char *const known[][2] = {{".json", "json"},
                                           {".csv", "csv"},
                                           {".tsv", "tsv"},
                                           {".md", "markdown"},
                                           {".html", "html"}};
    const char *const ending = strrchr(sp_base_name(path), '.');
    for (size_t i = 0; ending && i < sizeof known / sizeof *known; i++)
        if (strcmp(ending, known[i][0]) == 0)
            return known[i][1];
    return NULL;
}

/* The answer's format is its file's, unless --format is typed or the file is another than the
 * answer's: an export, a config. */
static void take_format_of_file(const struct sp_command *command, struct sp_args *args)
{
    const char *const format = args->given.write ? sp_format_of_file(args->value.write) : NULL;
    const struct sp_option *const option = sp_option_taken(args, SP_O_format);
    const bool asks = format && option && !args->given.format && !command->writes_other;
    for (int i = 0; asks && option->choices[i]; i++)
        if (strcmp(option->choices[i], format) == 0)
            args->value.format = i;
}

/* Refuses a file that cannot be written before anything is computed. */
static bool check_write(const struct sp_args *args, struct sp_error *error)
{
    const char *const path = args->value.write;
    if (!SP_IN_PAGE && args->given.write && path[0] == '\0')
        return sp_fail(error, SP_INPUT, "-o needs a file name");
    return !args->given.write || sp_is_stdout(path) || sp_may_write(path, error);
}

static bool run_parsed(const struct sp_command *command, struct sp_args *args,
                       struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    take_format_of_file(command, args);
    return sp_check_together(args, error) && check_layout(args, error) &&
           check_write(args, error) && check_folders(&sources, error) &&
           sp_check_picture(args, error) && sp_check_sets(&sources, error) &&
           (command->run ? command->run(args, report, error) : sp_refuse_in_page(error)) &&
           note_words(args, report);
}

/* Refuses options that write files, for rows, lines of `step -` and cases: a file of cases from
 * another person must not be able to write. */
static const enum sp_option_id writing[] = {SP_O_write, SP_O_plot, SP_O_report};
enum { WRITING = sizeof writing / sizeof *writing };

bool sp_only_computes(const struct sp_option *option, struct sp_error *error)
{
    for (size_t i = 0; i < WRITING; i++)
        if (option->id == writing[i])
            return sp_fail(error, SP_USAGE,
                           "%s%s is not available in %sJSON lines and cases, which only compute%s",
                           option->id == SP_O_write ? "-o" : "--",
                           option->id == SP_O_write ? "" : option->name,
                           option->id == SP_O_write ? "" : "sweeps, ",
                           option->id == SP_O_write ? "; redirect their output: > FILE" : "");
    return true;
}

bool sp_answer(const struct sp_command *command, struct sp_args *args, struct sp_report *report,
               struct sp_error *error)
{
    for (size_t i = 0; i < WRITING; i++)
        if (args->given_at[writing[i]] &&
            !sp_only_computes(sp_option_taken(args, writing[i]), error))
            return false;
    return run_parsed(command, args, report, error) || add_hint(command, error);
}

void sp_free_asker(struct sp_asker *asker)
{
    sp_free_asked(asker->asked);
}

/* The keys of the answer to put; NULL: all. */
static const struct sp_asked *asked_of(struct sp_asker *asker, const struct sp_command *command,
                                       bool writes_page, const char *keys)
{
    if (asker->gave_up || command->reads_report || writes_page || !keys)
        return NULL;
    if (!asker->asked || strcmp(asker->asked->keys, keys) != 0) {
        sp_free_asked(asker->asked);
        asker->asked = sp_asked_of(keys);
    }
    return asker->asked;
}

struct sp_report *sp_answer_asked(struct sp_asker *asker, const struct sp_command *command,
                                  struct sp_args *args, const char *keys, struct sp_error *error)
{
    const struct sp_asked *const asked = asked_of(asker, command, args->given.report, keys);
    struct sp_report *const report = sp_report_new(command->name);
    if (asked)
        sp_ask_only(report, asked);
    const bool ok = sp_answer(command, args, report, error);
    if (ok && (!asked || sp_are_paths(report, keys)))
        return report;
    sp_report_free(report);
    asker->gave_up = asker->gave_up || ok;
    return ok ? sp_answer_asked(asker, command, args, keys, error) : NULL;
}

struct sp_report *sp_compute_asked(struct sp_asker *asker, const struct sp_command *command,
                                   int argc, char **argv, struct sp_args *args, const char *keys,
                                   struct sp_error *error)
{
    if (sp_parse_command(command, argc, argv, args, error))
        return sp_answer_asked(asker, command, args, keys, error);
    add_hint(command, error);
    return NULL;
}

bool sp_compute(const struct sp_command *command, int argc, char **argv, struct sp_args *args,
                struct sp_report *report, struct sp_error *error)
{
    if (!sp_parse_command(command, argc, argv, args, error))
        return add_hint(command, error);
    return args->given.help || sp_answer(command, args, report, error);
}

bool sp_run_command(const struct sp_command *command, int argc, char **argv, struct sp_args *args,
                    struct sp_report *report, struct sp_error *error)
{
    if (!sp_parse_command(command, argc, argv, args, error))
        return add_hint(command, error);
    return args->given.help || run_parsed(command, args, report, error) || add_hint(command, error);
}
