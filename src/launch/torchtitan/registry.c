/* torchtitan's registry (models/NAME/config_registry.py): functions that make a configuration by
 * calls of its classes, or from that of another function. Names: torchtitan/config/configs.py. */
#include "launch/torchtitan/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/core.h"

enum { DEEPEST = 5 };

struct reading {
    struct sp_settings *s;
    const char *text, *recipe;
    char first[64], second[64], base[64];
    bool own; /* it calls torchtitan's classes */
};

/* Whether a function of that name stands in the text. */
static bool is_here(const char *text, const char *name)
{
    char line[112];
    snprintf(line, sizeof line, "\ndef %s(", name);
    return strstr(text, line) != NULL;
}

static bool take_all(struct reading *r, const struct sp_python *python, const struct sp_call *call,
                     const char *section)
{
    struct sp_argument argument = {0};
    bool ok = true;
    for (const char *at = call->from; ok && sp_next_argument(call, &at, &argument);) {
        char name[sizeof argument.keyword + 16];
        snprintf(name, sizeof name, "%s%s", section, argument.keyword);
        ok = !argument.keyword[0] || sp_take_argument(python, call, &argument, name, r->s);
    }
    return ok;
}

/* The model by its flavor; converters change what its matmuls run in. */
static bool take_model(struct reading *r, const struct sp_python *python,
                       const struct sp_call *call)
{
    struct sp_argument argument = {0};
    bool ok = true;
    for (const char *at = call->from; ok && sp_next_argument(call, &at, &argument);)
        if (!argument.keyword[0] && argument.place == 1)
            ok = sp_take_argument(python, call, &argument, "model.flavor", r->s);
        else if (sp_is(argument.keyword, "converters") && strncmp(argument.from, "[]", 2) != 0)
            sp_add_unread(r->s->launch, "precision", "converters", "of the model", call->line);
    return ok;
}

/* "config.SECTION.NAME = VALUE". */
static bool take_field(struct reading *r, const struct sp_python *python,
                       const struct sp_call *call)
{
    const struct sp_argument argument = {.from = call->from, .to = call->to};
    const char *const dot = strchr(call->target, '.');
    if (!dot || strncmp(call->target, "config.", 7) != 0 || sp_is(dot, ".model_spec") ||
        sp_is(dot, ".activation_checkpoint"))
        return true;
    return sp_take_argument(python, call, &argument, dot + 1, r->s);
}

static bool visit(void *to, const struct sp_python *python, const struct sp_call *call)
{
    struct reading *const r = to;
    const bool checkpoints =
                   sp_is(call->path, "FullAC.Config") || sp_is(call->path, "SelectiveAC.Config"),
               training = sp_is(call->name, "TrainingConfig"),
               parallel = sp_is(call->name, "ParallelismConfig"),
               model = sp_is(call->name, "model_registry"),
               base =
                   sp_is(call->target, "config") && call->path[0] && is_here(r->text, call->path);
    if (!call->function[0] || (r->recipe && !sp_is(call->function, r->recipe)))
        return true;
    if ((training || model || base) && !sp_is(call->function, r->first)) {
        char *const place = r->first[0] ? r->second : r->first;
        if (!place[0])
            snprintf(place, sizeof r->first, "%s", call->function);
    }
    r->own = r->own || training || model || base;
    if (base)
        snprintf(r->base, sizeof r->base, "%.63s", call->path);
    return training      ? take_all(r, python, call, "training.")
           : parallel    ? take_all(r, python, call, "parallelism.")
           : model       ? take_model(r, python, call)
           : checkpoints ? sp_add_setting(r->s, "config.activation_checkpoint", call->path)
           : sp_is(call->name, "=") ? take_field(r, python, call)
                                    : true;
}

/* Reads a function: what it starts from first, so that its own comes last and wins. */
static bool read_function(struct reading *r, const struct sp_typed_names *names, int depth)
{
    const int before = r->s->n, unread = r->s->launch->n_unread;
    if (!sp_read_calls(r->text, names, visit, r))
        return false;
    if (!r->base[0] || depth == DEEPEST || !r->recipe)
        return true;
    struct reading under = {.s = r->s, .text = r->text, .recipe = r->base};
    r->s->n = before;
    r->s->launch->n_unread = unread;
    if (!read_function(&under, names, depth + 1))
        return false;
    return sp_read_calls(r->text, names, visit, r);
}

bool sp_read_titan_registry(const char *text, const char *path, const struct sp_typed_names *names,
                            struct sp_settings *s)
{
    static const char file[] = "/config_registry.py";
    char folder[64] = "";
    struct reading r = {.s = s, .text = text, .recipe = names->recipe};
    const char *const end = strstr(path, file), *from = end;
    if (!strstr(text, "TrainingConfig") || !strstr(text, "torchtitan"))
        return true;
    if (!sp_read_calls(text, names, visit, &r))
        return false;
    s->n = s->launch->n_unread = 0;
    if (!r.own)
        return true;
    if (!r.recipe && r.second[0])
        return sp_fail_in(s, "it holds several recipes, %s and %s: give --recipe NAME",
                          sp_safe(r.first), sp_safe(r.second));
    struct reading one = {.s = s, .text = text, .recipe = r.first};
    while (from && from > path && from[-1] != '/')
        from--;
    snprintf(folder, sizeof folder, "%.*s", end ? (int)(end - from) : 0, from ? from : "");
    return read_function(&one, names, 0) && (!folder[0] || sp_add_setting(s, "model.name", folder));
}
