/* The trainings that a script starts: several stages, or one after another with other sizes. */
#include "launch/shell/trainings.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/text.h"
#include "launch/fields/deciding.h"
#include "launch/huggingface/arguments_file.h"
#include "launch/shell/flags.h"
#include "launch/shell/starter.h"

enum { MOST_TRAININGS = 32, SIGNATURE = 4096 };

/* A command that trains: its place, what decides its answer, and how many such words it has. */
struct training {
    int at, words;
    char decides[SIGNATURE];
};

/* Whether a word's name decides the answer: a core setting, the model, or the file with them. */
static bool decides(const char *core, const char *word, char *option, size_t size)
{
    static const char models[] = "*model_name_or_path *model.path --model model --pretrain";
    char name[SP_ROW_NAME];
    word += strspn(word, "+");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    option[0] = '\0';
    if (!sp_is_flag(word) && !strchr(word, '='))
        return sp_names_yaml(word);
    sp_core_option(core, name, "", option, size);
    return option[0] || sp_fits(models, models + sizeof models - 1, name);
}

static void describe(const struct sp_script_command *command, const char *core,
                     struct training *training)
{
    char option[24];
    bool sized = false, file = false;
    training->words = 0;
    training->decides[0] = '\0';
    for (int i = 1; i < command->n; i++) {
        const char *const word = command->words[i];
        if (!decides(core, word, option, sizeof option) ||
            sp_is(command->words[i - 1], "--config_file"))
            continue;
        training->words += option[0] != '\0';
        sized = sized || sp_is_listed("batch,micro-batch", option, '\0');
        file = file || !(sp_is_flag(word) || strchr(word, '='));
        sp_append(training->decides, sizeof training->decides, "%s ", word);
        if (sp_is_flag(word) && !strchr(word, '=') && i + 1 < command->n &&
            !sp_is_flag(command->words[i + 1]))
            sp_append(training->decides, sizeof training->decides, "%s ", command->words[i + 1]);
    }
    if (!sized && !file)
        training->words = -1;
}

/* The most core settings that one command has. */
static int richest(const struct sp_script *script, const char *core, struct training *t)
{
    int most = 0;
    for (int i = 0; i < script->n; i++) {
        describe(&script->commands[i], core, t);
        most = t->words > most ? t->words : most;
    }
    return most;
}

/* Whether a command's program and what it is asked to do are those of another one. */
static bool is_like(const struct sp_script_command *command, const struct sp_script_command *other)
{
    for (int i = 0; i < command->n && i < other->n; i++) {
        if (sp_names_yaml(command->words[i]) || sp_is_flag(command->words[i]))
            return i > 0;
        if (!sp_is(command->words[i], other->words[i]))
            return false;
    }
    return true;
}

/* Trainings that differ, in the order of the script. */
static int find(const struct sp_script *script, const char *core, struct training *found)
{
    int n = 0;
    const int most = richest(script, core, &found[0]);
    for (int i = 0; i < script->n && n < MOST_TRAININGS; i++) {
        const struct sp_script_command *const command = &script->commands[i];
        struct training *const t = &found[n];
        describe(command, core, t);
        t->at = i;
        const bool open = command->open || sp_is_idle(command) || sp_is_no_training(command);
        bool known = open || t->words < 0 || 2 * t->words < most ||
                     (most == 0 && n > 0 && !is_like(command, &script->commands[found[0].at]));
        for (int j = 0; j < n && !known; j++)
            known = sp_is(found[j].decides, t->decides);
        n += !known;
    }
    return n;
}

/* "3, 9, 14" */
static void list_lines(const struct sp_script *script, const struct training *found, int n,
                       char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < n && i < 8; i++)
        sp_append(out, size, "%s%d", i > 0 ? ", " : "", script->commands[found[i].at].lines[0]);
    if (n > 8)
        sp_append(out, size, ", ...");
}

bool sp_choose_training(struct sp_launch_file *file, const char *core)
{
    struct sp_script *const script = file->script;
    char lines[96], *end = NULL;
    struct training *const found = sp_must(calloc(MOST_TRAININGS, sizeof *found));
    const int n = find(script, core, found);
    const long asked = file->recipe ? strtol(file->recipe, &end, 10) : 0;
    const bool counts = file->recipe && *end == '\0' && asked >= 1 && asked <= n;
    for (int i = 0; i < n && counts; i++)
        if (i != asked - 1)
            script->commands[found[i].at].n = 0;
    list_lines(script, found, n, lines, sizeof lines);
    free(found);
    if (counts)
        file->recipe = NULL;
    return counts || n < 2 ||
           sp_fail_in(&file->settings,
                      "it starts %d trainings that differ (lines %s): --recipe 1 to %d says which",
                      n, lines, n);
}
