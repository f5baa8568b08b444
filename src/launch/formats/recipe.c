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

/* Whether a result is an object with fields of such sections; a user's own class is not. */
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

/* Whether a function can be a recipe: nothing in the file uses it, or it is complete by itself. */
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

/* Reads "from torchtitan.models.FILE import NAME", whose registries name a model, as the setting
 * FILE with that value. */
static bool take_imports(const struct sp_python_file *m, struct sp_settings *s)
{
    static const char import[] = " import ", torchtitan[] = "from torchtitan.models.";
    bool ok = true;
    for (int i = 0; i < m->n && ok; i++) {
        char name[96], value[128];
        const char *const from = m->at[i].from;
        const char *const by = sp_starts_with(from, torchtitan) ? strstr(from, import) : NULL;
        if (!by || by > m->at[i].to)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(by - from - 5), from + 5);
        snprintf(value, sizeof value, "%.*s", (int)strcspn(by + sizeof import - 1, " \r\n#"),
                 by + sizeof import - 1);
        ok = sp_add_setting(s, name, value);
    }
    return ok;
}

const char sp_recipe_base[] = "recipe.base";

/* The fields of a configuration, and the function from which it starts if that is not in the
 * file. */
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
            sp_launch_note(run->s, "line %d: %s() was not found: what it sets is not read",
                           field->line, sp_safe(field->value));
    }
    return ok;
}

/* Whether a statement of the file assigns the result of a call to a name, "NAME = WORD(...)". */
static bool assigned_name(const struct sp_python_line *line, char *name, size_t size)
{
    const char *value = sp_assigned_value(line, name, size);
    if (!value)
        return false;
    value = sp_end_of_name(value + strspn(value, " "), line->to);
    return value < line->to && *value == '(';
}

/* The recipe of a line, its name: a function, or the function that a statement makes of others
 * (`tries`: how many are examined); an unknown value: none. */
static struct sp_python_result recipe_at(struct sp_recipe_run *run, int i, int *tries, char *name,
                                         size_t size)
{
    const struct sp_python_file *const m = run->files;
    const struct sp_python_line *const line = &m->at[i];
    struct sp_python_result value = {.kind = SP_UNTOLD};
    if (line->indent == 0 && sp_line_starts(line, "def") && may_be_recipe(m, i)) {
        snprintf(name, size, "%.*s", (int)strcspn(line->from + 4, "("), line->from + 4);
        value = sp_follow_recipe(run, i, true);
        if (!is_configuration(run, &value)) /* its decorator may not be followed */
            value = sp_follow_recipe(run, i, false);
    } else if (*tries > 0 && assigned_name(line, name, size)) {
        --*tries;
        value = sp_follow_assigned(run, i);
    }
    return value;
}

/* Finds the line of the recipe to read: the only one that makes a configuration; -1: the file's own
 * statements, or none. */
static bool choose(struct sp_recipe_run *run, const struct sp_python_file *m, int *line)
{
    char first[64] = "", name[64];
    int tries = 64;
    *line = -1;
    for (int i = 0; i < m->n; i++) {
        const int before = run->s->launch->notes;
        run->objects.n = run->steps = 0;
        const struct sp_python_result value = recipe_at(run, i, &tries, name, sizeof name);
        run->s->launch->notes = before;
        if (!is_configuration(run, &value))
            continue;
        if (first[0])
            return sp_fail_in(run->s, "it holds several recipes, %s and %s: give --recipe NAME",
                              sp_safe(first), sp_safe(name));
        snprintf(first, sizeof first, "%s", name);
        *line = i;
    }
    return true;
}

/* The line of the requested recipe; -1: there is none. */
static int find_recipe(const struct sp_python_file *m, const char *recipe)
{
    char name[64];
    int line = sp_find_def(m, recipe);
    for (int i = 0; i < m->n && line < 0; i++)
        if (assigned_name(&m->at[i], name, sizeof name) && sp_is(name, recipe))
            line = i;
    return line;
}

/* What is followed stays within bounds: beyond them nothing is known. */
static bool is_whole(const struct sp_recipe_run *run)
{
    if (run->objects.full)
        return sp_fail_in(run->s, "its configuration has more than %d fields", SP_OBJECT_FIELDS);
    return run->steps < SP_RECIPE_STEPS ||
           sp_fail_in(run->s, "its recipe runs more than %d statements", SP_RECIPE_STEPS);
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
    int line = names->recipe ? find_recipe(m, names->recipe) : -1;
    bool ok = names->recipe ? line >= 0 || sp_fail_in(s, "--recipe: it has no function \"%s\"",
                                                      sp_safe(names->recipe))
                            : choose(run, m, &line);
    run->objects.n = run->steps = 0;
    run->objects.full = false;
    if (ok) {
        const bool def = line < 0 || sp_line_starts(&m->at[line], "def");
        const int wrapper = line >= 0 && def ? sp_find_wrapper(m, line) : -1;
        const struct sp_python_result value =
            def ? sp_follow_recipe(run, line, true) : sp_follow_assigned(run, line);
        if (wrapper >= 0 && !is_configuration(run, &value))
            ok = sp_fail_in(s, "changes by its recipe's decorator in line %d are not read",
                            m->at[wrapper].number);
        ok = ok && is_whole(run) && take_imports(m, s) && take_fields(run, &value);
    }
    sp_free_recipe_run(run);
    return ok;
}
