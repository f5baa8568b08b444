/* A Python recipe as settings: the fields of the configuration that its function makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/memory.h"
#include "launch/formats/python_text.h"
#include "launch/formats/recipe_run.h"
#include "launch/formats/syntax.h"

/* Whether a name is of a section that a configuration has. */
static bool is_of_section(const char *name)
{
    static const char sections[] = "model train trainer training parallelism ddp dataset data "
                                   "optimizer optim activation_checkpoint mixed_precision peft "
                                   "checkpoint dist rerun_state_machine model_spec";
    char section[32];
    snprintf(section, sizeof section, "%.*s", (int)strcspn(name, "."), name);
    return sp_has_word(sections, section);
}

/* Whether a result is an object with fields of such sections: a class of its own is none. */
static bool is_configuration(const struct sp_recipe_run *run, const struct sp_python_result *value)
{
    bool is = false;
    for (int i = 0; value->kind == SP_OBJECT && i < run->objects.n && !is; i++) {
        const char *const name = run->objects.at[i].name, *const dot = strchr(name, '.');
        is = run->objects.at[i].object == value->object.number && !value->object.path[0] && dot &&
             !sp_is(dot, "._target_") && is_of_section(name);
    }
    return is;
}

/* Whether another function of the file calls one. */
static bool is_called(const struct sp_python_file *m, int def)
{
    char name[64];
    const int end = sp_block_end(m, def);
    const char *const from = m->at[def].from + 4;
    snprintf(name, sizeof name, "%.*s(", (int)strcspn(from, "("), from);
    int i = 0;
    for (const char *at = strstr(m->text, name); at; at = strstr(at + 1, name)) {
        while (i + 1 < m->n && m->at[i + 1].from <= at)
            i++;
        if ((i < def || i >= end) && m->at[i].indent > 0 && at < m->at[i].to &&
            !sp_is_python_letter(at[-1]))
            return true;
    }
    return false;
}

/* Whether a function can be a recipe: nothing of the file makes use of it, or it is whole by
 * itself. */
static bool may_be_recipe(const struct sp_python_file *m, int def)
{
    char name[64];
    struct sp_python_line usual;
    const char *const from = m->at[def].from, *const to = m->at[def].to;
    const char *at = strchr(from, '(');
    if (!at || at >= to)
        return false;
    const char *const end = sp_find_outside(at + 1, to, "");
    bool whole = from[4] != '_';
    for (at++; whole && sp_next_parameter(&at, end, name, sizeof name, &usual);)
        whole = usual.from != NULL;
    return whole || !is_called(m, def);
}

/* Takes "from torchtitan.models.FILE import NAME", whose registries say a model, as the setting
 * FILE with that value. */
static bool take_imports(const struct sp_python_file *m, struct sp_settings *s)
{
    static const char import[] = " import ", torchtitan[] = "from torchtitan.models.";
    bool ok = true;
    for (int i = 0; i < m->n && ok; i++) {
        char name[96], value[128];
        const char *const from = m->at[i].from, *const by = strstr(from, import);
        if (!sp_starts_with(from, torchtitan) || !by || by > m->at[i].to)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(by - from - 5), from + 5);
        snprintf(value, sizeof value, "%.*s", (int)strcspn(by + sizeof import - 1, " \r\n#"),
                 by + sizeof import - 1);
        ok = sp_add_setting(s, name, value);
    }
    return ok;
}

const char sp_recipe_base[] = "recipe.base";

/* The fields of a configuration, and the function that it starts from where that is not here. */
static bool take_fields(const struct sp_recipe_run *run, const struct sp_python_result *value)
{
    bool ok = true;
    for (int i = 0; value->kind == SP_OBJECT && ok && i < run->objects.n; i++) {
        const struct sp_object_field *const field = &run->objects.at[i];
        const char *const dot = strrchr(field->value, '.'), last = dot ? dot[1] : field->value[0];
        const bool base = sp_is(field->name, "_target_") && last >= 'a' && last <= 'z';
        if (field->object != value->object.number || !(base || is_of_section(field->name)))
            continue;
        ok = sp_add_setting(run->s, base ? sp_recipe_base : field->name, field->value);
        struct sp_setting *const setting = &run->s->at[run->s->n - 1];
        setting->line = setting->gap_line = field->line;
        setting->cut = strlen(field->value) + 1 == sizeof field->value;
        memcpy(setting->gap, field->gap, sizeof setting->gap);
        memcpy(setting->by, field->by, sizeof setting->by);
        if (base)
            sp_launch_note(run->s, "line %d: what %s() sets is not read: it is not here",
                           field->line, sp_safe(field->value));
    }
    return ok;
}

/* Finds the function to read: asked for, or the only one that makes a configuration; -1: the file's
 * own statements, or none. */
static bool choose(struct sp_recipe_run *run, const struct sp_python_file *m, int *def)
{
    char first[64] = "", name[64];
    *def = -1;
    for (int i = 0; i < m->n; i++) {
        if (m->at[i].indent > 0 || !sp_line_starts(&m->at[i], "def") || !may_be_recipe(m, i))
            continue;
        const int before = run->s->launch->notes;
        run->objects.n = 0;
        const struct sp_python_result value = sp_follow_recipe(run, i);
        run->s->launch->notes = before;
        if (!is_configuration(run, &value))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(m->at[i].from + 4, "("),
                 m->at[i].from + 4);
        if (first[0])
            return sp_fail_in(run->s, "it holds several recipes, %s and %s: give --recipe NAME",
                              sp_safe(first), sp_safe(name));
        snprintf(first, sizeof first, "%s", name);
        *def = i;
    }
    return true;
}

bool sp_read_recipe(const char *text, const struct sp_typed_names *names, struct sp_settings *s)
{
    struct sp_recipe_run *const run = sp_must(calloc(1, sizeof *run));
    run->files->text = sp_must(strdup(text));
    run->names = names;
    run->s = s;
    run->n_files = 1;
    struct sp_python_file *const m = run->files;
    snprintf(m->path, sizeof m->path, "%s", s->origin);
    sp_split_python(m);
    int def = names->recipe ? sp_find_def(m, names->recipe) : -1;
    bool ok = names->recipe ? def >= 0 || sp_fail_in(s, "--recipe: it has no function \"%s\"",
                                                     sp_safe(names->recipe))
                            : choose(run, m, &def);
    run->objects.n = 0;
    if (ok) {
        const struct sp_python_result value = sp_follow_recipe(run, def);
        ok = take_imports(m, s) && take_fields(run, &value);
    }
    sp_free_recipe_run(run);
    return ok;
}
