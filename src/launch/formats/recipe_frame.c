/* Functions of a recipe while they are followed, what their names stand for, and functions as
 * values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "launch/formats/python_text.h"
#include "launch/formats/recipe_frame.h"
#include "launch/shell/state.h"

enum { MOST_FRAMES = 64 }; /* that stay */

/* The values of a file's own names, as written. */
static struct sp_python *names_of(const struct sp_recipe_run *run, const struct sp_python_file *m)
{
    struct sp_python *const names = sp_must(calloc(1, sizeof *names));
    names->names = run->names;
    names->at = sp_must(calloc(SP_PYTHON_NAMES, sizeof *names->at));
    names->called = true;
    for (int i = 0; i < m->n; i++) {
        char name[64];
        const char *const value = sp_assigned_value(&m->at[i], name, sizeof name);
        if (value)
            sp_define_python(names, name, value, m->at[i].to);
    }
    return names;
}

/* The same with what a function around has defined. */
static struct sp_python *copy_names(const struct sp_python *from)
{
    struct sp_python *const names = sp_must(calloc(1, sizeof *names));
    int room = SP_PYTHON_NAMES;
    while (room < from->n)
        room *= 2;
    *names = *from;
    names->at = sp_must(calloc((size_t)room, sizeof *names->at));
    memcpy(names->at, from->at, (size_t)from->n * sizeof *names->at);
    return names;
}

struct sp_recipe_frame *sp_new_frame(struct sp_recipe_run *run,
                                     const struct sp_python_function *function,
                                     const struct sp_recipe_frame *caller)
{
    const struct sp_recipe_frame *const outer = function->outer;
    struct sp_recipe_frame *const f = sp_must(calloc(1, sizeof *f));
    f->run = run;
    f->module = function->module;
    f->names = outer ? copy_names(outer->names) : names_of(run, function->module);
    f->depth = caller ? caller->depth + 1 : 0;
    if (outer) {
        memcpy(f->at, outer->at, sizeof f->at);
        f->n = outer->n;
    }
    return f;
}

static void free_frame(struct sp_recipe_frame *f)
{
    free(f->names->at);
    free(f->names);
    free(f);
}

void sp_leave_frame(struct sp_recipe_frame *f)
{
    struct sp_recipe_run *const run = f->run;
    if (!f->outer) {
        free_frame(f);
        return;
    }
    f->next = run->frames;
    run->frames = f;
    run->n_frames++;
}

struct sp_kept_function {
    struct sp_python_function function;
    struct sp_kept_function *next;
};

/* A function as a value, which stays. */
static const struct sp_python_function *keep_function(struct sp_recipe_run *run,
                                                      const struct sp_python_function *function)
{
    struct sp_kept_function *const kept = sp_must(malloc(sizeof *kept));
    kept->function = *function;
    kept->next = run->functions;
    run->functions = kept;
    return &kept->function;
}

const struct sp_python_function *sp_function_named(const struct sp_recipe_frame *f,
                                                   const char *name)
{
    for (int i = f->n - 1; i >= 0; i--)
        if (sp_is(f->at[i].name, name))
            return f->at[i].function;
    return NULL;
}

const struct sp_python_function *sp_function_of(struct sp_recipe_frame *f, const char *from,
                                                const char *to)
{
    char name[64];
    const char *const end = sp_end_of_name(from, to);
    if (end == from || end != to || end - from >= (long)sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
    const struct sp_python_function *const bound = sp_function_named(f, name);
    const struct sp_python_function own = {f->module, sp_find_def(f->module, name), NULL};
    if (bound || own.def < 0 || sp_find_wrapper(own.module, own.def) >= 0)
        return bound;
    return keep_function(f->run, &own);
}

/* A value's text as Python has it, which stays: "abc" in quotes. */
static const char *keep(struct sp_recipe_run *run, const struct sp_python_result *value)
{
    char text[300], *end;
    const char *const said = value->text.value;
    const bool number = strtod(said, &end) != 0 || end != said,
               bare = (number && *end == '\0') || said[0] == '[' ||
                      sp_has_word("True False None true false", said);
    snprintf(text, sizeof text, value->kind != SP_TOLD ? "?" : bare ? "%s" : "\"%s\"", said);
    run->kept = sp_room_for_one(run->kept, run->n_kept, sizeof *run->kept);
    run->kept[run->n_kept] = sp_must(strdup(text));
    return run->kept[run->n_kept++];
}

void sp_bind_recipe(struct sp_recipe_frame *f, const char *name,
                    const struct sp_python_result *value)
{
    int i = 0;
    while (i < f->n && !sp_is(f->at[i].name, name))
        i++;
    if (i < SP_RECIPE_VARIABLES && (i < f->n || value->kind == SP_OBJECT || value->function)) {
        f->n += i == f->n;
        f->at[i].function = value->function;
        snprintf(f->at[i].name, sizeof f->at[i].name, "%s", name);
        f->at[i].object = value->kind == SP_OBJECT ? value->object : (struct sp_object){0};
    }
    const char *const text = keep(f->run, value);
    struct sp_python_name *const told = sp_define_python(f->names, name, text, text + strlen(text));
    if (told)
        told->branch = value->kind == SP_TOLD && f->branch[0] ? 1 : 0;
}

void sp_bind_function(struct sp_recipe_frame *f, int line, bool inner)
{
    const char *const said = f->module->at[line].from + 4;
    const struct sp_python_function function = {f->module, line, inner ? f : NULL};
    char name[64];
    if (inner && f->run->n_frames >= MOST_FRAMES)
        return;
    f->outer = f->outer || inner;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(said, "( :\n"), said);
    const struct sp_python_result value = {.kind = SP_UNTOLD,
                                           .function = keep_function(f->run, &function)};
    sp_bind_recipe(f, name, &value);
}

void sp_set_recipe_field(struct sp_recipe_frame *f, const struct sp_object *object,
                         const char *name, const struct sp_python_result *value)
{
    if (value->kind == SP_OBJECT) {
        sp_put_part(&f->run->objects, object, name, &value->object);
        return;
    }
    struct sp_object_field field = value->text;
    if (f->branch[0] && !field.gap[0])
        snprintf(field.gap, sizeof field.gap, "the branch of %.80s", f->branch);
    if (f->module != f->run->files)
        field.line = 0;
    sp_put_field(&f->run->objects, object, name, &field);
}

static void free_functions(struct sp_recipe_run *run)
{
    while (run->frames) {
        struct sp_recipe_frame *const next = run->frames->next;
        free_frame(run->frames);
        run->frames = next;
    }
    while (run->functions) {
        struct sp_kept_function *const next = run->functions->next;
        free(run->functions);
        run->functions = next;
    }
}

void sp_free_recipe_run(struct sp_recipe_run *run)
{
    free_functions(run);
    for (int i = 0; i < run->n_kept; i++)
        free(run->kept[i]);
    for (int i = 0; i < run->n_files; i++) {
        free(run->files[i].text);
        free(run->files[i].at);
    }
    free(run->kept);
    free(run);
}
