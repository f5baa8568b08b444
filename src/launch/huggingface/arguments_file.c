/* The file with a training's arguments that a command names. */
#include "launch/huggingface/arguments_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/named_files.h"
#include "launch/fields/programs.h"
#include "launch/formats/syntax.h"
#include "launch/shell/expand.h"

bool sp_names_yaml(const char *word)
{
    const char *const end = word[0] != '-' && !strchr(word, '=') ? strrchr(word, '.') : NULL;
    return sp_is(end, ".yaml") || sp_is(end, ".yml");
}

const char *sp_read_named_yaml(const struct sp_launch_file *file, struct sp_settings *to,
                               bool *here)
{
    const struct sp_typed_names none = {0};
    const char *name = NULL;
    *here = false;
    for (int i = 0; file->script && i < file->script->n; i++)
        for (int j = 1; j < file->script->commands[i].n && !*here; j++) {
            const struct sp_script_command *const command = &file->script->commands[i];
            size_t length;
            if (!sp_names_yaml(command->words[j]) || sp_is(command->words[j - 1], "--config_file"))
                continue;
            name = command->words[j];
            char *const text = sp_read_named(file, name, &length);
            *here = text && sp_read_yaml(text, &none, to, NULL);
            free(text);
        }
    return name;
}

bool sp_refuse_empty(const struct sp_launch_file *file, const char *named)
{
    const struct sp_script *const script = file->script;
    const struct sp_settings *const s = &file->settings;
    for (int i = 0; i < script->n; i++) {
        const struct sp_script_command *const command = &script->commands[i];
        bool runs = false;
        for (int j = 0; j < command->n; j++) {
            const struct sp_shell_gap *const gap =
                runs ? sp_shell_gap_in(&script->shell->text, command->words[j]) : NULL;
            runs = runs || sp_is(command->words[j], file->program->told);
            if (gap && strpbrk(gap->name, "$`(@*#"))
                return sp_fail(s->error, SP_INPUT,
                               "%s:%d: its settings are in a file whose name needs %s, which is "
                               "unknown here",
                               sp_safe(s->origin), command->lines[j], sp_safe(gap->name));
            if (gap)
                return sp_fail(s->error, SP_INPUT,
                               "%s:%d: its settings are in a file whose name needs %s, which is "
                               "not set here; --set-var %s=VALUE",
                               sp_safe(s->origin), command->lines[j], sp_safe(gap->name),
                               sp_safe(gap->name));
        }
    }
    return named ? sp_fail_in(s, "%.80s, which has its settings, was not found", sp_safe(named))
                 : sp_fail_in(s, "it has no setting: give the plan as options");
}
