/* The table of frameworks: those that can be written, those that can be read, and how a file's
 * reader is found. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/world.h"
#include "launch/engines/engines.h"
#include "launch/fields/named_files.h"
#include "launch/fields/deciding.h"
#include "launch/fields/models.h"
#include "launch/fields/programs.h"
#include "launch/fields/rows.h"
#include "launch/huggingface/calls.h"
#include "launch/shell/container.h"
#include "launch/shell/trainings.h"
#include "launch/shell/expand.h"
#include "launch/shell/flags.h"
#include "launch/shell/script.h"
#include "launch/formats/syntax.h"
#include "launch/shell/world.h"
#include "launch/torchtitan/registry.h"
#include "launch/versions.h" /* generated */

/* clang-format off */
#define DECLARE(row, name, framework, form) extern const struct sp_target sp_target_##row;
#define POINT(row, name, framework, form) &sp_target_##row
#define COMMA ,
SP_TARGETS(DECLARE, , )
SP_READABLE(DECLARE, , )
SP_ENGINES(DECLARE, , )
#define CHOICES(row, name, framework, form) name SP_VERSIONS_OF_##row(name)
static const struct sp_target *const targets[] = {SP_TARGETS(POINT, COMMA, COMMA),
                                                 SP_ENGINES(POINT, COMMA, COMMA)};
const char *const sp_export_choices[] = {SP_TARGETS(CHOICES, COMMA, COMMA),
                                         SP_ENGINES(CHOICES, COMMA, COMMA), NULL};
static const struct sp_target *const readable[] = {SP_READABLE(POINT, COMMA, COMMA),
                                                   SP_ENGINES(POINT, COMMA, COMMA)};
/* clang-format on */

const struct sp_target *sp_target_of(int choice, int *version)
{
    int named = choice, before = 0;
    while (strchr(sp_export_choices[named], '@'))
        named--;
    for (int i = 0; i < named; i++)
        before += !strchr(sp_export_choices[i], '@');
    *version = choice > named ? choice - named - 1 : 0;
    return targets[before];
}

void sp_close_launch_words(struct sp_launch_words *words[SP_LAUNCH_FILES])
{
    for (int i = 0; i < SP_LAUNCH_FILES; i++)
        free(words[i]);
}

bool sp_open_launch_words(const struct sp_target *target, const struct sp_sources *sources,
                          struct sp_launch_words *words[SP_LAUNCH_FILES], struct sp_error *error)
{
    bool ok = true;
    for (int i = 0; i < SP_LAUNCH_FILES; i++) {
        words[i] = ok && target->words[i] ? sp_words_of(target->words[i], sources, error) : NULL;
        ok = ok && (words[i] || !target->words[i]);
    }
    if (!ok)
        sp_close_launch_words(words);
    return ok;
}

bool sp_is_server(const struct sp_target *target)
{
    return target->program != NULL;
}

/* The target of that name, or the one that the file fits best (with `trains`, not a server); NULL:
 * the file fits none. */
static const struct sp_target *find_reader(const struct sp_launch_file *file, const char *name,
                                           bool trains)
{
    static const char *const names[] = {SP_READABLE(SP_TARGET_NAME, COMMA, COMMA),
                                        SP_ENGINES(SP_TARGET_NAME, COMMA, COMMA)};
    const struct sp_target *best = NULL;
    enum sp_match most = SP_NO_MATCH;
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        const enum sp_match match = name[0]               ? (enum sp_match)sp_is(names[i], name)
                                    : readable[i]->detect ? readable[i]->detect(file)
                                                          : SP_NO_MATCH;
        if (match > most && !(trains && sp_is_server(readable[i]))) {
            best = readable[i];
            most = match;
        }
    }
    return best;
}

/* Reports that a script that the file runs is missing, or that its name is unknown. */
static bool refuse_missing(const struct sp_launch_file *file)
{
    const struct sp_script *const script = file->script;
    const struct sp_shell_gap *const gap = sp_shell_gap_in(&script->shell->text, script->missing);
    char name[160];
    sp_shell_show(&script->shell->text, script->missing, name, sizeof name);
    if ((gap && sp_is(gap->name, "0")) || sp_is(script->missing, file->origin))
        return sp_fail(file->settings.error, SP_INPUT,
                       "%s:%d: it submits itself: --set-var SLURM_JOB_ID=1 reads the job",
                       sp_safe(file->origin), script->missing_line);
    if (gap)
        return sp_fail(
            file->settings.error, SP_INPUT,
            "%s:%d: it runs %.80s, which was not found: %s is unknown; use --set-var %s=VALUE",
            sp_safe(file->origin), script->missing_line, sp_safe(name), sp_safe(gap->name),
            sp_safe(gap->name));
    return sp_fail(file->settings.error, SP_INPUT, "%s:%d: it runs %.80s, which was not found",
                   sp_safe(file->origin), script->missing_line, sp_safe(name));
}

/* Describes a file that no row of programs and no reader knows. */
static bool refuse_unknown(const struct sp_launch_file *file)
{
    int line = 0;
    const char *const program = file->script ? sp_started_program(file->script, &line) : "";
    if (file->script && file->script->missing)
        return refuse_missing(file);
    if (program[0]) {
        char name[160];
        sp_shell_show(&file->script->shell->text, program, name, sizeof name);
        return sp_fail(file->settings.error, SP_INPUT,
                       "%s: unknown launch format (line %d starts %.80s): give the plan as options",
                       sp_safe(file->origin), line, sp_safe(name));
    }
    const bool keys = file->settings.n > 0 && !sp_starts_with(file->settings.at->name, "recipe.") &&
                      !sp_starts_with(file->settings.at->name, "torchtitan.");
    return sp_fail_in(
        &file->settings,
        "not a launch of a framework known here%s%s: give the plan as options (docs/launches.md)",
        keys ? "; its first key: " : "", keys ? sp_safe(file->settings.at[0].name) : "");
}

/* If weights are in fp32 and no format of matmuls is stated, matmuls are in fp32 too. */
static void say_matmuls(struct sp_launch_file *file, const struct sp_target *target)
{
    const struct sp_launch *const launch = file->settings.launch;
    bool wide = false, said = target->takes_tf32 || sp_setting_on(&file->settings, "tf32");
    for (int i = 0; i < launch->options; i++) {
        said = said || sp_is(launch->option[i].name, "dtype");
        if (sp_is(launch->option[i].name, "precision"))
            wide = sp_is(launch->option[i].value, "fp32");
    }
    if (wide && !said)
        sp_launch_option(&file->settings, "dtype", "fp32");
}

/* Values that decide an answer and come from Python functions that are not followed. */
static void doubt_calls(struct sp_settings *s)
{
    static const char class[] = "._target_";
    const size_t tail = sizeof class - 1;
    for (int i = 0; i < s->n; i++) {
        struct sp_setting *const at = &s->at[i];
        const size_t n = strlen(at->name);
        char name[sizeof at->name], option[24], value[64];
        const char *const dot = strrchr(at->value, '.'), first = dot ? dot[1] : at->value[0];
        if (n <= tail || !sp_is(at->name + n - tail, class) || (first >= 'A' && first <= 'Z'))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(n - tail), at->name);
        sp_core_option(s->core, name, "", option, sizeof option);
        if (!option[0] || sp_is(option, "precision"))
            continue;
        snprintf(value, sizeof value, "%.60s()", at->value);
        sp_add_unread(s->launch, option, name, value, at->line);
        snprintf(at->name, sizeof at->name, "_");
        at->read = true;
    }
}

/* Reads it as that target's form. */
static bool read_as(struct sp_launch_file *file, const struct sp_target *target,
                    const struct sp_program *program)
{
    struct sp_error *const error = file->settings.error;
    const int before = error->lines;
    file->settings.launch->format = target->format;
    if (!sp_open_launch_words(target, file->sources, file->words, error))
        return false;
    file->settings.words = file->words[0];
    file->settings.launch->serves = sp_is_server(target);
    if (file->words[0] && file->words[0]->core[0])
        file->settings.core = file->words[0]->core;
    file->program = program;
    doubt_calls(&file->settings);
    const bool read = target->read(file);
    if (read && !target->program)
        say_matmuls(file, target);
    const bool ok = read && sp_refuse_gaps(&file->settings) && error->lines == before;
    sp_close_launch_words(file->words);
    return ok && (file->settings.launch->options < SP_LAUNCH_OPTIONS ||
                  sp_fail_in(&file->settings, "has %d options of a plan or more, too many to read",
                             SP_LAUNCH_OPTIONS));
}

/* Names for Python, including the number of processes of the machine if it is known and was not
 * typed. */
struct counted_names {
    struct sp_typed_names names;
    char world[32];
};
static void count_world(const struct sp_launch_file *file, const struct sp_typed_names *names,
                        struct counted_names *to)
{
    static const char world[] = "WORLD_SIZE";
    struct sp_typed_names *const n = &to->names;
    *n = *names;
    if (!file->hw || n->n == (int)(sizeof n->at / sizeof *n->at) ||
        sp_typed_value(names, world, sizeof world - 1))
        return;
    snprintf(to->world, sizeof to->world, "%s=%lld", world, (long long)sp_chips(file->hw));
    n->at[n->n++] = to->world;
}

enum { SP_STARTED_OPTIONS = 48 };

/* The options after a command's program, as "NAME=VALUE" in the program's parser, and the options
 * of its launcher before it as settings. */
struct options {
    char at[SP_STARTED_OPTIONS][128];
    int n;
};
static bool take_options(const struct sp_launch_file *file, const char *program,
                         struct options *options, struct sp_settings *launcher)
{
    bool ok = true;
    for (int i = 0; i < file->script->n; i++) {
        const struct sp_script_command *const command = &file->script->commands[i];
        int place = 0;
        while (place < command->n && command->words[place] != program)
            place++;
        if (place < command->n)
            launcher->command = i + 1;
        for (int j = 0; place < command->n && j < command->n && ok; j++) {
            const char *const word = command->words[j], *const equals = strchr(word, '='),
                              *const next = j + 1 < command->n ? command->words[j + 1] : "--x";
            char name[64], value[96];
            if (!sp_is_flag(word))
                continue;
            snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - word) - 2 : 63, word + 2);
            for (char *c = name; *c; c++)
                *c = *c == '-' ? '_' : *c;
            sp_shell_show(&file->script->shell->text,
                          equals                               ? equals + 1
                          : sp_is_flag(next) || j + 1 == place ? "True"
                                                               : next,
                          value, sizeof value);
            if (j < place)
                ok = sp_add_setting(launcher, name, value);
            else if (options->n < SP_STARTED_OPTIONS)
                snprintf(options->at[options->n++], sizeof *options->at, "%.30s=%.90s", name,
                         value);
        }
    }
    return ok;
}

/* Whether a Python text assigns few enough names for all of them to be followed. */
static bool is_short(const char *text, const struct sp_settings *s)
{
    enum { MOST_NAMES = 16384 };
    int names = 0;
    for (const char *c = text; *c; c++)
        names += *c == '=';
    return names <= MOST_NAMES ||
           sp_fail_in(s, "gives names more than %d values, too many to follow", MOST_NAMES);
}

/* Reads the Python file that a command starts, if it lies beside the script and calls the Trainer's
 * classes: the command's options are those of its parser. `is`: whether it does. */
static bool read_started(struct sp_launch_file *file, bool *is)
{
    static const struct sp_program none;
    int line = 0;
    char path[1024];
    size_t length;
    struct options options = {.n = 0};
    struct sp_typed_names names = {.recipe = file->recipe};
    struct sp_settings *const s = &file->settings, *const launcher = sp_new_settings(s);
    const struct sp_error before = *s->error;
    const char *const program = file->script ? sp_started_program(file->script, &line) : "",
                      *const origin = s->origin;
    char *const text = file->script && sp_is(strrchr(program, '.'), ".py")
                           ? sp_read_beside(file->origin, program, path, sizeof path, &length)
                           : NULL;
    bool ok = !text || (is_short(text, s) && take_options(file, program, &options, launcher));
    for (int i = 0; i < options.n; i++)
        names.at[names.n++] = options.at[i];
    for (int i = 0; i < file->names->n && names.n < (int)(sizeof names.at / sizeof *names.at); i++)
        names.at[names.n++] = file->names->at[i]; /* typed settings come last and win */
    s->origin = text ? path : origin;
    struct counted_names counted;
    count_world(file, &names, &counted);
    ok = ok && (!text || sp_read_trainer_calls(text, &counted.names, s));
    *is = text && (s->n > 0 || (!ok && !strstr(s->error->text, "its arguments are on")));
    if (!*is)
        *s->error = before;
    if (*is && ok) {
        sp_launch_note(s, "line %d: it starts %.120s, which is read", line, sp_safe(path));
        ok = sp_copy_lacking(s, launcher);
        s->command = launcher->command;
        sp_doubt_launcher(file->script, s->command, s->launch);
        file->script = NULL;
        file->started = true;
        ok = ok && read_as(file, &sp_target_trainer, &none);
    }
    s->origin = origin;
    free(launcher);
    free(text);
    return ok || !*is;
}

/* Reads the file as the program that runs it would, else in the format that it fits best. */
static bool read_as_best(struct sp_launch_file *file)
{
    struct sp_program program = {0};
    struct sp_launch_words *const words =
        sp_words_of("programs", file->sources, file->settings.error);
    if (words && file->script)
        sp_enter_containers(words->images, file->script);
    bool ok = words && (!file->script || sp_choose_training(file, words->core));
    const bool known = ok && sp_find_program(words->programs, file, &program);
    const struct sp_target *target = ok && (!known || program.target[0] || program.needs[0])
                                         ? find_reader(file, program.target, false)
                                         : NULL;
    const struct sp_target *const training =
        target && sp_is_server(target) && file->names->trains ? find_reader(file, "", true) : NULL;
    target = training ? training : target;
    if (ok && known && program.needs[0] && !target)
        ok = sp_fail_in(&file->settings,
                        "it is one file of a launch of %s (%s): give the one with %s",
                        program.framework, sp_safe(program.told), program.needs);
    else if (ok && known && !target)
        ok = sp_fail_in(&file->settings,
                        "launches of %s (%s) are not supported: give the plan as options",
                        program.framework, sp_safe(program.told));
    file->settings.core = ok ? words->core : NULL;
    bool started = false;
    if (ok &&
        (!target || (target == &sp_target_trainer && !known))) /* a user's own training script */
        ok = read_started(file, &started) && (started || target || refuse_unknown(file));
    ok = ok && (started || (target && read_as(file, target, &program)));
    file->settings.core = NULL;
    free(words);
    return ok;
}

/* Reads a shell's script. */
static bool read_script(const char *text, const struct sp_typed_names *names,
                        struct sp_launch_file *file)
{
    struct sp_script script;
    bool ok = sp_read_script(text, names->at, names->n, file->origin, &script,
                             file->settings.launch, file->settings.error);
    file->script = &script;
    struct sp_launch *const launch = file->settings.launch;
    if (ok)
        sp_count_devices(&script, launch);
    const int64_t counted = launch->devices;
    ok = ok && read_as_best(file);
    if (file->settings.command > 0 && launch->devices == counted) /* its settings give none */
        sp_count_training(&script, file->settings.command - 1, launch);
    sp_free_script(&script);
    file->script = NULL;
    return ok;
}

/* Whether assignments of a file are a whole training (nanoGPT's; a file with functions of its own
 * is another program, whose defaults are not known here). */
static bool read_names(const char *text, const struct sp_typed_names *names, struct sp_settings *s)
{
    const struct sp_error before = *s->error;
    const bool other =
        !strstr(text, "configurator.py") &&
        (strstr(text, "\ndef ") || strstr(text, "\nclass ") || strstr(text, "import torch"));
    const bool ok =
                   !other && sp_add_setting(s, "python.names", "") && sp_read_names(text, names, s),
               own = ok && (sp_has_setting(s, "block_size") || sp_has_setting(s, "n_embd") ||
                            sp_has_setting(s, "init_from") || sp_has_setting(s, "batch_size"));
    if (!own)
        s->n = 0;
    *s->error = before;
    return own;
}

/* Calls of the Trainer's classes, a recipe, or only assignments. */
static bool read_python(const char *text, const struct sp_typed_names *typed,
                        struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    struct counted_names counted;
    count_world(file, typed, &counted);
    const struct sp_typed_names *const names = &counted.names;
    return is_short(text, s) && sp_read_trainer_calls(text, names, s) &&
           (s->n > 0 || read_names(text, names, s) ||
            (sp_read_recipe(text, names, s) &&
             (!strstr(text, "torchtitan") || sp_spell_titan(file->origin, s)))) &&
           read_as_best(file);
}

static bool read_json(const char *text, size_t length, const struct sp_typed_names *names,
                      struct sp_launch_file *file)
{
    struct sp_json json;
    if (!sp_json_parse(text, length, file->origin, &json, file->settings.error))
        return false;
    char *const code = sp_notebook_code(json.root);
    bool ok = true;
    if (code) {
        ok = read_python(code, names, file);
    } else {
        file->json = json.root;
        sp_read_json(text, names, &file->settings);
        ok = read_as_best(file);
    }
    free(code);
    sp_json_free(&json);
    return ok;
}

/* A Kubernetes manifest contains scripts, which are then read. */
static bool read_yaml(const char *text, const struct sp_typed_names *names,
                      struct sp_launch_file *file)
{
    char *scripts = NULL;
    bool ok = sp_read_yaml(text, names, &file->settings, &scripts);
    if (ok && sp_setting(&file->settings, "apiVersion") && sp_setting(&file->settings, "kind")) {
        file->settings.n = 0;
        ok = read_script(scripts, names, file);
    } else {
        ok = ok && read_as_best(file);
    }
    free(scripts);
    return ok;
}

static const char byte_order_mark[] = "\xef\xbb\xbf";

static bool read_text(const char *text, size_t length, const struct sp_typed_names *names,
                      struct sp_launch_file *file)
{
    if ((unsigned char)text[0] + (unsigned char)text[1] == 0xff + 0xfe)
        return sp_fail_in(&file->settings, "is UTF-16; expected UTF-8");
    if (strncmp(text, byte_order_mark, sizeof byte_order_mark - 1) == 0) {
        text += sizeof byte_order_mark - 1;
        length -= sizeof byte_order_mark - 1;
    }
    file->text = text;
    if (strlen(text) != length)
        return sp_fail_in(&file->settings, "holds a zero byte; expected text");
    if (text[strspn(text, " \t\r\n")] == '\0')
        return sp_fail_in(&file->settings, "the file is empty, expected a launch");
    switch (sp_syntax_of(text, file->origin)) {
    case SP_JSON:
        return read_json(text, length, names, file);
    case SP_YAML:
        return read_yaml(text, names, file);
    case SP_TOML:
        return sp_read_toml(text, &file->settings) && read_as_best(file);
    case SP_PYTHON:
        return read_python(text, names, file);
    case SP_SHELL:
        break;
    }
    return read_script(text, names, file);
}

/* A launch becomes options of `step`, which are parsed before the typed ones: one parser, one set
 * of defaults, and typed options win. */
bool sp_read_launch(const char *path, const struct sp_hardware *hw,
                    const struct sp_sources *sources, const struct sp_typed_names *names,
                    struct sp_launch *launch, struct sp_error *error)
{
    size_t length;
    *launch = (struct sp_launch){0};
    char *const text =
        sp_read_file(sp_pipes_of(sources->world), path, SP_JSON_MAX_BYTES, &length, error);
    if (!text)
        return false;
    struct sp_launch_file *const file =
        sp_must(calloc(1, sizeof *file)); /* too large for the stack */
    file->origin = sp_origin_of(path);
    file->settings.origin = file->assumed.origin = file->origin;
    file->settings.launch = file->assumed.launch = launch;
    file->settings.error = file->assumed.error = error;
    file->hw = hw;
    file->sources = sources;
    file->recipe = names->recipe;
    file->names = names;
    const bool ok = read_text(text, length, names, file);
    free(file);
    free(text);
    return ok;
}
