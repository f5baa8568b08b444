/* Who runs a launch: rows of configs/launch/programs.json. */
#include "launch/fields/programs.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/deciding.h"
#include "launch/shell/flags.h"
#include "launch/shell/state.h"

/* Takes the next word of a list separated by blanks; false after the last. */
static bool next_word(const char **list, const char *end, char *out, size_t size)
{
    const char *const from = *list + strspn(*list, " ");
    const size_t n = strcspn(from, " \n");
    if (from >= end || n == 0)
        return false;
    snprintf(out, size, "%.*s", (int)n, from);
    *list = from + n;
    return true;
}

/* Whether a word of a command may name a program: its first word, a module, a script, or the one
 * after a launcher; not a flag or a flag's value. */
static bool names_program(const struct sp_script_command *command, int i)
{
    const char *const word = command->words[i], *const end = strrchr(word, '.');
    const char *const before = i > 0 ? command->words[i - 1] : "";
    if (word[0] == '-' || strchr(word, '='))
        return false;
    return i == 0 || before[0] != '-' || sp_is(before, "-m") || sp_is(before, "--module") ||
           sp_is(end, ".py");
}

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The first matching word of a script's commands; NULL: none does. */
static const char *find_word(const struct sp_script *script, const char *list, const char *end)
{
    for (int i = 0; script && i < script->n; i++)
        for (int j = 0; j < script->commands[i].n; j++) {
            const char *const word = script->commands[i].words[j];
            if (names_program(&script->commands[i], j) &&
                (sp_fits(list, end, word) || sp_fits(list, end, base_name(word))))
                return word;
        }
    return NULL;
}

bool sp_starts_program(const struct sp_script *script, const char *pattern)
{
    return find_word(script, pattern, pattern + strlen(pattern)) != NULL;
}

/* A key "NAME", or the name of a word "NAME=VALUE" or "--NAME", that matches the pattern; "" if
 * none does. */
static void find_key(const struct sp_launch_file *file, const char *pattern, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < file->settings.n && !out[0]; i++)
        if (fnmatch(pattern, file->settings.at[i].name, 0) == 0)
            snprintf(out, size, "%s", file->settings.at[i].name);
    for (int i = 0; file->script && i < file->script->n; i++)
        for (int j = 0; j < file->script->commands[i].n && !out[0]; j++) {
            const char *const word = file->script->commands[i].words[j];
            char name[72];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word + strspn(word, "+"));
            if ((strchr(word, '=') || sp_is_flag(word)) && fnmatch(pattern, name, 0) == 0)
                snprintf(out, size, "%s", name);
        }
}

/* Whether a file has a key of a list; for two keys joined by "+", both. */
static bool has_keys(const struct sp_launch_file *file, const char *list, const char *end,
                     char *told, size_t size)
{
    char key[96];
    while (next_word(&list, end, key, sizeof key)) {
        bool all = true;
        char *rest = key;
        for (char *one = strsep(&rest, "+"); one && all; one = strsep(&rest, "+")) {
            find_key(file, one, told, size);
            all = told[0] != '\0';
        }
        if (all)
            return true;
    }
    return false;
}

/* Applies a row, "FRAMEWORK[ > TARGET][ < NEEDS]: WORDS[ | KEYS][ = VALUES]", if the file belongs
 * to it. */
static bool take_row(const char *row, const struct sp_launch_file *file, struct sp_program *p)
{
    const char *const end = row + strcspn(row, "\n"), *const colon = strstr(row, ": ");
    if (!colon || colon > end)
        return false;
    const char *const bar = strstr(row, " | "), *const equals = strstr(row, " = ");
    const char *const values = equals && equals < end ? equals : end, *const keys = bar && bar < end
                                                                                        ? bar
                                                                                        : values;
    const char *const word = find_word(file->script, colon + 2, keys);
    char told[sizeof p->told] = "";
    if (word)
        snprintf(told, sizeof told, "%s", strchr(word, SP_MARK_END) ? base_name(word) : word);
    else if (keys == values || !has_keys(file, keys + 3, values, told, sizeof told))
        return false;
    const char *const arrow = strstr(row, " > "), *const part = strstr(row, " < ");
    const char *const named = arrow && arrow < colon ? arrow : part && part < colon ? part : colon;
    *p = (struct sp_program){0};
    snprintf(p->framework, sizeof p->framework, "%.*s", (int)(named - row), row);
    if (named == part)
        snprintf(p->needs, sizeof p->needs, "%.*s", (int)(colon - part - 3), part + 3);
    else if (named != colon)
        snprintf(p->target, sizeof p->target, "%.*s", (int)(colon - named - 3), named + 3);
    if (values != end)
        snprintf(p->values, sizeof p->values, "%.*s", (int)(end - values - 3), values + 3);
    snprintf(p->told, sizeof p->told, "%s", told);
    return true;
}

bool sp_find_program(const char *lines, const struct sp_launch_file *file, struct sp_program *p)
{
    for (const char *row = lines; *row; row += strcspn(row, "\n"), row += *row == '\n')
        if (take_row(row, file, p))
            return true;
    return false;
}

bool sp_take_program_values(const struct sp_program *program, struct sp_settings *settings)
{
    char pair[128];
    const char *list = program->values;
    bool ok = true;
    while (ok && next_word(&list, program->values + strlen(program->values), pair, sizeof pair)) {
        char *const value = strchr(pair, '=');
        if (!value)
            continue;
        *value = '\0';
        if (sp_has_setting(settings, pair))
            continue;
        ok = sp_add_setting(settings, pair, value + 1);
        settings->at[settings->n - 1].usual = true;
    }
    return ok;
}

/* Whether a word is the module of "-m", which may stand before a launcher's options and their
 * values. */
static bool is_module(const struct sp_script_command *command, int i)
{
    bool asked = false;
    for (int j = 0; j < i; j++)
        asked = asked || sp_has_word("-m --module", command->words[j]);
    const char *const before = i > 0 ? command->words[i - 1] : "";
    return asked && command->words[i][0] != '-' &&
           (before[0] != '-' || strchr(before, '=') || sp_has_word("-m --module", before));
}

/* The command and the word of the program that a script starts; false if there is none. */
static bool find_started(const struct sp_script *script, int *at, int *word)
{
    static const char no_launcher[] = "python python3 torchrun accelerate deepspeed srun mpirun";
    for (int pass = 0; pass < 2; pass++)
        for (*at = script->n - 1; *at >= 0; --*at)
            for (*word = 0; *word < script->commands[*at].n; ++*word) {
                const struct sp_script_command *const command = &script->commands[*at];
                const char *const said = command->words[*word];
                const bool script_or_module =
                    sp_is(strrchr(said, '.'), ".py") || is_module(command, *word);
                if (pass == 0 ? script_or_module
                              : *word == 0 && !sp_is_flag(said) && !sp_has_word(no_launcher, said))
                    return true;
            }
    return false;
}

const char *sp_started_program(const struct sp_script *script, int *line)
{
    int at, word;
    if (!find_started(script, &at, &word)) {
        *line = script->n > 0 && script->commands[0].n > 0 ? script->commands[0].lines[0] : 0;
        return "";
    }
    *line = script->commands[at].lines[word];
    return script->commands[at].words[word];
}

const char *sp_started_task(const struct sp_script *script)
{
    int at, word;
    if (!find_started(script, &at, &word) || word + 1 >= script->commands[at].n)
        return "";
    const char *const next = script->commands[at].words[word + 1];
    return sp_is_flag(next) || strpbrk(next, "=./") ? "" : next;
}
