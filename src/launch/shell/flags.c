/* Arguments of a command in a shell's script, as settings. */
#include "launch/shell/flags.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/deciding.h"
#include "launch/fields/rows.h"
#include "launch/shell/expand.h"
#include "launch/shell/starter.h"

bool sp_is_flag(const char *word)
{
    return word[0] == '-' && word[1] == '-' && isalpha((unsigned char)word[2]);
}

/* Words of one command, or of several that are read as one. */
struct list {
    const struct sp_script *script;
    struct sp_shell_fields words;
    int *lines;
    int command; /* 1 + its place in the script; 0: of none */
};

static void add(struct list *list, const char *word, int line)
{
    list->lines = sp_room_for_one(list->lines, list->words.n, sizeof *list->lines);
    list->lines[list->words.n] = line;
    sp_shell_add(&list->words, word);
}

/* Adds a word; "--fp8-format hybrid" that was quoted as one is two, and so is any text (`all`) that
 * holds arguments. */
static void add_split(struct list *list, const char *word, int line, bool all)
{
    static const char blanks[] = {' ', '\t', '\n', '\r', SP_ITEM, '\0'};
    struct sp_shell_text *const text = &list->script->shell->text;
    const bool apart = all || (sp_is_flag(word + strspn(word, blanks)) && !strchr(word, '='));
    while (apart && strpbrk(word, blanks)) {
        word += strspn(word, blanks);
        const size_t n = strcspn(word, blanks);
        const char quoted = n > 1 && strchr("'\"", word[0]) ? word[0] : '\0';
        const bool both = quoted && word[n - 1] == quoted;
        if (n > 0)
            add(list, sp_shell_copy(text, word + both, n - 2 * (size_t)both), line);
        word += n;
    }
    if (word[0])
        add(list, word, line);
}

bool sp_is_no_training(const struct sp_script_command *command)
{
    static const char *const others[] = {"decode", "inference",  "convert",
                                         "logit",  "evaluation", "generation"};
    for (int i = 0; i < command->n; i++) {
        const char *const word = command->words[i], *const end = strrchr(word, '.');
        const bool module = i > 0 && sp_is(command->words[i - 1], "-m");
        for (size_t j = 0; j < sizeof others / sizeof *others; j++)
            if ((module || (sp_is(end, ".py"))) && strstr(word, others[j]))
                return true;
    }
    return false;
}

static int count_telling(const struct sp_script_command *command, sp_tells *tells)
{
    int n = 0;
    if (sp_is_no_training(command) || sp_is_idle(command))
        return 0;
    for (int i = 0; i < command->n; i++)
        n += tells(command->words[i]);
    return n;
}

/* Whether a command is nothing but arguments. */
static bool is_bare(const struct sp_script_command *command)
{
    return command->n > 0 && sp_is_flag(command->words[0]);
}

/* The command with the most words, or NULL; among equals the first, preferring one that certainly
 * runs. */
static const struct sp_script_command *fullest(const struct sp_script *script, sp_tells *tells)
{
    const struct sp_script_command *best = NULL;
    int most = 0;
    for (int i = 0; i < script->n; i++) {
        const struct sp_script_command *const command = &script->commands[i];
        const int n = 2 * count_telling(command, tells) - (command->open ? 1 : 0);
        if (!is_bare(command) && n > most) {
            best = command;
            most = n;
        }
    }
    return best;
}

/* Arguments without a command: on separate lines, or else in the values of names. */
static void add_loose(struct list *list)
{
    const struct sp_script *const script = list->script;
    const struct sp_shell_scope *const scope = &script->shell->scope;
    bool some = false;
    for (int i = 0; i < script->n; i++)
        for (int j = 0; is_bare(&script->commands[i]) && j < script->commands[i].n; j++) {
            add_split(list, script->commands[i].words[j], script->commands[i].lines[j], false);
            some = true;
        }
    for (int i = 0; i < scope->n && !some; i++) {
        const char *value = scope->at[i].value ? scope->at[i].value : "";
        if (!strstr(value, "--"))
            continue;
        for (size_t n; *value; value += n + (value[n] != '\0')) {
            n = strcspn(value, (char[]){SP_ITEM, '\0'});
            const char *const item = sp_shell_copy(&script->shell->text, value, n);
            add_split(list, item, 0, true);
        }
    }
}

/* Names that are given values, as "name=value" words. */
static void add_names(struct list *list)
{
    const struct sp_shell_scope *const scope = &list->script->shell->scope;
    for (int i = 0; i < scope->n; i++) {
        struct sp_shell_piece piece = {0};
        sp_shell_puts(&piece, scope->at[i].name);
        sp_shell_put(&piece, '=');
        sp_shell_puts(&piece, scope->at[i].value ? scope->at[i].value : "");
        add(list, sp_shell_take(&piece, &list->script->shell->text), 0);
    }
}

/* The words to be read. */
static void choose(const struct sp_script *script, sp_tells *tells, bool pairs, struct list *list)
{
    const struct sp_script_command *const best = fullest(script, tells);
    *list =
        (struct list){.script = script, .command = best ? 1 + (int)(best - script->commands) : 0};
    if (!best && pairs)
        add_names(list);
    else if (!best)
        add_loose(list);
    for (int i = 0; best && i < best->n; i++)
        add_split(list, best->words[i], best->lines[i], false);
}

static void free_list(struct list *list)
{
    free(list->words.at);
    free(list->lines);
}

int sp_count_telling(const struct sp_script *script, sp_tells *tells, bool pairs)
{
    struct list list;
    int n = 0;
    choose(script, tells, pairs, &list);
    for (int i = 0; i < list.words.n; i++)
        n += tells(list.words.at[i]);
    free_list(&list);
    return n;
}

/* Appends a word to the value of the last setting. */
static void append(const struct list *list, int i, struct sp_settings *settings)
{
    struct sp_setting *const last = &settings->at[settings->n - 1];
    const struct sp_shell_text *const text = &list->script->shell->text;
    const struct sp_shell_gap *const gap = sp_shell_gap_in(text, list->words.at[i]);
    const size_t used = strlen(last->value);
    if (used > 0 && used + 1 < sizeof last->value)
        sp_append(last->value, sizeof last->value, " ");
    const size_t n = strlen(last->value);
    const char *const mark = strrchr(list->words.at[i], SP_MARK_END);
    if (n + 1 >= sizeof last->value ||
        !sp_shell_show(text, list->words.at[i], last->value + n, sizeof last->value - n))
        last->cut = true;
    else if (mark && mark[1] == '/' && n == 0)
        last->tail = (int)(strlen(last->value) - strlen(mark + 2));
    if (used == 0)
        last->first = (int)strlen(last->value);
    if (gap && !last->gap[0]) {
        snprintf(last->gap, sizeof last->gap, "%s", gap->name);
        snprintf(last->by, sizeof last->by, "%s", gap->by);
        last->gap_line = gap->line;
    }
}

/* Whether a word consists of one unknown part and nothing else. */
static bool is_one_mark(const char *word)
{
    const char *const end =
        *word == SP_UNSET || *word == SP_OPEN ? strchr(word, SP_MARK_END) : NULL;
    return end && end[1] == '\0';
}

/* Reports that a word is unknown and may hold arguments; each name once. */
static void note_word(const struct list *list, int i, struct sp_launch *launch)
{
    const struct sp_shell_text *const text = &list->script->shell->text;
    const struct sp_shell_gap *const gap = sp_shell_gap_in(text, list->words.at[i]);
    char said[80];
    snprintf(said, sizeof said, " %s ", sp_safe(gap->name));
    for (int j = 0; j < launch->notes; j++)
        if (launch->notes == SP_LAUNCH_NOTES || strstr(launch->note[j], said))
            return;
    if (strpbrk(gap->name, "$`(@*#"))
        sp_add_note(launch, "line %d: the value of %s is unknown: arguments in it are not read",
                    gap->line, sp_safe(gap->name));
    else
        sp_add_note(launch,
                    "line %d: %s is unknown: arguments in it are not read (--set-var %s='...')",
                    gap->line, sp_safe(gap->name), sp_safe(gap->name));
}

/* The first word behind a Python program that is unknown and may hold arguments; NULL: none. */
static const struct sp_shell_gap *unknown_word(const struct sp_script *script,
                                               const struct sp_script_command *command)
{
    bool python = false;
    for (int j = 0; j < command->n && !sp_is_idle(command); j++) {
        const char *const word = command->words[j], *const end = strrchr(word, '.');
        if (python && is_one_mark(word) && !sp_is_flag(command->words[j - 1]))
            return sp_shell_gap_in(&script->shell->text, word);
        python = python || sp_is(end, ".py");
    }
    return NULL;
}

bool sp_refuse_unknown_words(const struct sp_script *script, struct sp_settings *settings)
{
    const struct sp_shell_gap *gap = NULL;
    char way[96];
    for (int i = 0; i < script->n && !gap; i++)
        gap = unknown_word(script, &script->commands[i]);
    if (!gap)
        return false;
    snprintf(way, sizeof way,
             strpbrk(gap->name, "$`(@*#") ? "give the plan as options" : "--set-var %.60s='...'",
             sp_safe(gap->name));
    sp_fail(settings->error, SP_INPUT, "%s:%d: its arguments are in %s, which is unknown; %s",
            sp_safe(settings->origin), gap->line, sp_safe(gap->name), way);
    return true;
}

void sp_doubt_launcher(const struct sp_script *script, int place, struct sp_launch *launch)
{
    const struct sp_script_command *const command = place > 0 ? &script->commands[place - 1] : NULL;
    bool launches = false;
    for (int j = 0; command && j < command->n; j++) {
        const char *const word = command->words[j];
        launches = launches || sp_is(sp_base_name(word), "accelerate");
        if (sp_is(strrchr(word, '.'), ".py") || sp_is(word, "-m") || sp_is(word, "--module"))
            return;
        if (launches && is_one_mark(word) && !sp_is_flag(command->words[j - 1]))
            sp_add_unread(launch, "zero", "accelerate launch",
                          sp_shell_gap_in(&script->shell->text, word)->name, command->lines[j]);
    }
}

static bool take_flag(const struct list *list, int i, struct sp_settings *settings)
{
    char name[sizeof settings->at->name + 1];
    const char *const word = list->words.at[i], *const value = strchr(word, '=');
    const size_t n = value ? (size_t)(value - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), word);
    if (!sp_add_setting(settings, name, NULL))
        return false;
    settings->at[settings->n - 1].line = list->lines[i];
    if (value) {
        list->words.at[i] = value + 1;
        append(list, i, settings);
        list->words.at[i] = word;
    }
    return true;
}

/* Whether a word is a YAML file that is not MaxText's base.yml. */
static bool is_config(const char *word)
{
    const char *const end = strrchr(word, '.');
    return end && (sp_is(end, ".yml") || sp_is(end, ".yaml")) && !strchr(word, '=') &&
           !sp_is(sp_base_name(word), "base.yml");
}

/* Takes a word that is not a flag: a value of the flag before it if that is `open`, or an unknown
 * word that may hold arguments. */
static void take_word(const struct list *list, int i, bool open, struct sp_settings *settings)
{
    const bool unknown = is_one_mark(list->words.at[i]);
    const struct sp_setting *const last = settings->n > 0 ? &settings->at[settings->n - 1] : NULL;
    const bool takes = open && last && (!unknown || !last->value[0]);
    if (unknown && (!takes || !sp_is_quiet(settings->words->quiet, last->name + 2)))
        note_word(list, i, settings->launch);
    if (takes)
        append(list, i, settings);
}

/* Whether a word is a flag, or a short one that the framework has a row for. */
static bool is_flag_of(const struct sp_settings *settings, const char *word)
{
    char name[SP_ROW_NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    return sp_is_flag(word) || (word[0] == '-' && sp_row_of(settings->words, name));
}

bool sp_read_flags(const struct sp_script *script, sp_tells *tells, struct sp_settings *settings)
{
    struct list list;
    bool ok = true, open = false; /* the last flag may still get values */
    choose(script, tells, false, &list);
    settings->command = list.command;
    for (int i = 0; i < list.words.n && ok; i++) {
        const char *const word = list.words.at[i];
        if (is_flag_of(settings, word)) {
            ok = take_flag(&list, i, settings);
            open = ok && !strchr(word, '=') &&
                   !sp_is_quiet(settings->words->switches,
                                settings->at[settings->n - 1].name +
                                    strspn(settings->at[settings->n - 1].name, "-"));
        } else {
            take_word(&list, i, open, settings);
        }
    }
    free_list(&list);
    return ok;
}

/* Takes the name of a file of settings that a command names. */
static bool take_config(const struct list *list, int i, struct sp_settings *settings)
{
    char name[sizeof settings->at->value];
    const char *const word = list->words.at[i], *const mark = strrchr(word, SP_MARK_END);
    sp_shell_show(&list->script->shell->text, mark && mark[1] == '/' ? mark + 2 : word, name,
                  sizeof name);
    return sp_add_setting(settings, "config_file", name);
}

bool sp_read_pairs(const struct sp_script *script, sp_tells *tells, struct sp_settings *settings)
{
    struct list list;
    bool ok = true;
    choose(script, tells, true, &list);
    settings->command = list.command;
    for (int i = 0; i < list.words.n && ok; i++) {
        list.words.at[i] += strspn(list.words.at[i], "+"); /* Hydra's mark of a new key */
        const char *const word = list.words.at[i];
        if (is_one_mark(word) && i > 0 && sp_is(list.words.at[i - 1], "--config")) {
            ok = sp_add_setting(settings, "config_file", NULL); /* its settings are unknown */
            append(&list, i, settings);
        } else if (is_one_mark(word))
            note_word(&list, i, settings->launch);
        else if (strchr(word, '=') && isalpha((unsigned char)*word))
            ok = take_flag(&list, i, settings);
        else if (is_config(word))
            ok = take_config(&list, i, settings);
    }
    free_list(&list);
    return ok;
}
