/* Follows the functions of a Python text, and of files beside it, statement by statement. A value
 * is known if literals, names and sums give it. No code runs. */
#include "launch/formats/recipe_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "launch/fields/named_files.h"
#include "launch/formats/python_text.h"
#include "launch/shell/state.h"

/* The file that a name is imported from; NULL: that file is not here. */
static const struct sp_python_file *import(struct sp_recipe_run *run,
                                           const struct sp_python_file *m, const char *name)
{
    char path[128], file[160], found[512];
    size_t length;
    if (!sp_find_import(m, name, path, sizeof path))
        return NULL;
    snprintf(file, sizeof file, "%s.py", path + strspn(path, "."));
    for (char *c = file; c < file + strlen(file) - 3; c++)
        *c = *c == '.' ? '/' : *c;
    for (int j = 0; j < run->n_files; j++)
        if (sp_is(run->files[j].name, file))
            return &run->files[j];
    char *const text = file[0] != '.' && run->n_files < SP_RECIPE_FILES
                           ? sp_read_beside(m->path, file, found, sizeof found, &length)
                           : NULL;
    if (!text)
        return NULL;
    struct sp_python_file *const next = &run->files[run->n_files++];
    *next = (struct sp_python_file){.text = text};
    snprintf(next->path, sizeof next->path, "%s", found);
    snprintf(next->name, sizeof next->name, "%s", file);
    sp_split_python(next);
    return next;
}

static struct sp_python_result evaluate(struct sp_recipe_frame *f, const char *from, const char *to,
                                        int line);
static void follow(struct sp_recipe_frame *f, int i, int end);
static struct sp_python_result read_dict(struct sp_recipe_frame *f, const char *at, const char *end,
                                         int line);

static const struct sp_object *variable(const struct sp_recipe_frame *f, const char *name)
{
    for (int i = f->n - 1; i >= 0; i--)
        if (sp_is(f->at[i].name, name))
            return f->at[i].object.number > 0 ? &f->at[i].object : NULL;
    return NULL;
}

/* The name of a branch: "line 12", and its file if another one is read. */
static void name_branch(const struct sp_recipe_frame *f, int line, char *out, size_t size)
{
    const char *const slash = strrchr(f->module->path, '/');
    const bool own = f->module == f->run->files;
    snprintf(out, size, "line %d%s%.60s", line, own ? "" : " of ",
             own     ? ""
             : slash ? slash + 1
                     : f->module->path);
}

/* A field of an object as a value. */
static struct sp_python_result part_of(const struct sp_recipe_frame *f,
                                       const struct sp_object *object, const char *name)
{
    const struct sp_object_field *const field =
        name[0] ? sp_field_at(&f->run->objects, object, name) : NULL;
    return field ? (struct sp_python_result){.kind = field->gap[0] ? SP_UNTOLD : SP_TOLD,
                                             .text = *field}
                 : (struct sp_python_result){.kind = SP_OBJECT, .object = sp_part_of(object, name)};
}

/* The argument passed for a parameter; false: it is left out. "**NAME" is all keywords. */
static bool find_given(struct sp_recipe_frame *caller, const struct sp_call *call, const char *name,
                       int place, struct sp_python_result *value)
{
    struct sp_argument argument = {0};
    const bool rest = name[0] == '*';
    bool given = false;
    if (rest)
        *value = (struct sp_python_result){.kind = SP_OBJECT,
                                           .object = sp_new_object(&caller->run->objects)};
    for (const char *at = call->from; (rest || !given) && sp_next_argument(call, &at, &argument);) {
        const bool spread = strncmp(argument.from, "**", 2) == 0;
        if (!spread && !caller->positional && argument.from[0] == '*')
            continue; /* "*args" stands for no argument: the caller got none by place */
        if (!spread && !(argument.keyword[0] ? rest || sp_is(argument.keyword, name)
                                             : argument.place == place))
            continue;
        const struct sp_python_result one =
            evaluate(caller, argument.from + (spread ? 2 : 0), argument.to, call->line);
        if (rest && spread && one.kind == SP_OBJECT)
            sp_put_part(&caller->run->objects, &value->object, "", &one.object);
        else if (rest && argument.keyword[0])
            sp_set_recipe_field(caller, &value->object, argument.keyword, &one);
        else if (spread && one.kind == SP_OBJECT) {
            *value = part_of(caller, &one.object, name);
            given = value->kind != SP_OBJECT || sp_is_made(&caller->run->objects, &value->object);
        } else if (!spread && !rest) {
            *value = one;
            given = true;
        }
    }
    return given || rest;
}

/* Gives a function's parameters the arguments of the call, their defaults, or an object. */
static void bind_parameters(struct sp_recipe_frame *f, const struct sp_python_line *def,
                            struct sp_recipe_frame *caller, const struct sp_call *call)
{
    char name[64];
    struct sp_python_line usual;
    const char *at = strchr(def->from, '(') + 1, *const end = sp_find_outside(at, def->to, "");
    for (int place = 1; sp_next_parameter(&at, end, name, sizeof name, &usual); place++) {
        struct sp_python_result value = {.kind = SP_UNTOLD};
        const char *const typed = sp_typed_value(f->run->names, name, strlen(name));
        const bool given = call && find_given(caller, call, name, place, &value);
        if (!given && usual.from)
            value = evaluate(f, usual.from, usual.to, def->number);
        else if (!given && !typed)
            value = (struct sp_python_result){.kind = SP_OBJECT,
                                              .object = sp_new_object(&f->run->objects)};
        if (!given && !usual.from && f->last.number == 0)
            f->last = value.object; /* => 214 */
        sp_bind_recipe(f, name + strspn(name, "*"), &value);
    }
}

/* Whether a call has arguments without a name. */
static bool takes_places(const struct sp_call *call)
{
    struct sp_argument argument = {0};
    for (const char *at = call ? call->from : ""; call && sp_next_argument(call, &at, &argument);)
        if (!argument.keyword[0] && argument.from[0] != '*')
            return true;
    return false;
}

static struct sp_python_result call_function(struct sp_recipe_run *run,
                                             const struct sp_python_function *function,
                                             struct sp_recipe_frame *caller,
                                             const struct sp_call *call)
{
    const struct sp_python_file *const m = function->module;
    const int def = function->def;
    struct sp_python_result value = {.kind = SP_UNTOLD};
    if (caller && caller->depth == SP_RECIPE_DEEPEST)
        return value;
    struct sp_recipe_frame *const f = sp_new_frame(run, function, caller);
    snprintf(f->branch, sizeof f->branch, "%s", caller ? caller->branch : "");
    snprintf(f->caller_branch, sizeof f->caller_branch, "%s", f->branch);
    if (def >= 0)
        bind_parameters(f, &m->at[def], caller, call);
    f->positional = takes_places(call);
    follow(f, def + 1, def < 0 ? m->n : sp_block_end(m, def));
    value = f->returned;
    if (value.kind == SP_UNTOLD && !value.function && !call && f->last.number > 0)
        value = (struct sp_python_result){.kind = SP_OBJECT, .object = {.number = f->last.number}};
    for (int i = 0; value.kind == SP_OBJECT && f->doubt[0] && i < run->objects.n; i++)
        if (run->objects.at[i].object == value.object.number && !run->objects.at[i].gap[0])
            snprintf(run->objects.at[i].gap, sizeof run->objects.at[i].gap, "the branch of %.80s",
                     f->doubt);
    sp_leave_frame(f);
    return value;
}

/* The function that a decorator makes of another one; NULL: unknown. */
static const struct sp_python_function *decorate(struct sp_recipe_frame *f, int decorator, int def)
{
    const struct sp_python_line *const line = &f->module->at[decorator];
    const char *const name = f->module->at[def].from + 4;
    const struct sp_call call = {
        .from = name, .to = name + strcspn(name, "("), .line = line->number};
    sp_bind_function(f, def, false);
    const struct sp_python_function *const by =
        evaluate(f, line->from + 1, line->to, line->number).function;
    return by ? call_function(f->run, by, f, &call).function : NULL;
}

/* The same as the file's own decorators change it; unknown if they cannot be followed. */
static struct sp_python_result call_decorated(struct sp_recipe_run *run,
                                              const struct sp_python_function *function,
                                              struct sp_recipe_frame *caller,
                                              const struct sp_call *call)
{
    const struct sp_python_result untold = {.kind = SP_UNTOLD};
    const struct sp_python_function file = {function->module, -1, NULL};
    const int decorator =
        function->def >= 0 ? sp_find_wrapper(function->module, function->def) : -1;
    if (decorator < 0)
        return call_function(run, function, caller, call);
    if (sp_find_wrapper(function->module, decorator) >= 0 ||
        (caller && caller->depth >= SP_RECIPE_DEEPEST)) /* or another one around it */
        return untold;
    struct sp_recipe_frame *const f = sp_new_frame(run, &file, caller);
    const struct sp_python_function *const made = decorate(f, decorator, function->def);
    const struct sp_python_result value =
        made ? call_function(run, made, caller ? caller : f, call) : untold;
    sp_leave_frame(f);
    return value;
}

/* Whether a name is a function's rather than a class's. */
static bool is_function(const char *name)
{
    return name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z');
}

/* An object of a class that is not in the file: its name and its keywords. `run.Config(CLASS, ...)`
 * is of the class that it names. A function other than a class may return its argument. */
static struct sp_python_result make(struct sp_recipe_frame *f, const struct sp_call *call,
                                    bool here)
{
    struct sp_argument argument = {0};
    struct sp_python_result made = {.kind = SP_OBJECT, .object = sp_new_object(&f->run->objects)},
                            class = {.kind = SP_TOLD, .text = {.line = call->line}};
    const bool holds = sp_is(call->path, "run.Config") || sp_is(call->path, "run.Partial");
    snprintf(class.text.value, sizeof class.text.value, "%s", call->path);
    for (const char *at = call->from; sp_next_argument(call, &at, &argument);) {
        const bool spread = strncmp(argument.from, "**", 2) == 0,
                   first = !argument.keyword[0] && argument.place == 1;
        if (!argument.keyword[0] && !first && !spread)
            continue;
        const struct sp_python_result value =
            evaluate(f, argument.from + (spread ? 2 : 0), argument.to, call->line);
        if (spread && value.kind == SP_OBJECT)
            sp_put_part(&f->run->objects, &made.object, "", &value.object);
        else if (argument.keyword[0])
            sp_set_recipe_field(f, &made.object, argument.keyword, &value);
        else if (value.kind == SP_OBJECT && is_function(call->name) &&
                 sp_is_made(&f->run->objects, &value.object)) {
            if (!here)
                sp_launch_note(f->run->s, "line %d: %s() was not found: what it sets is not read",
                               call->line, sp_safe(call->path));
            return value;
        } else if (value.kind == SP_TOLD)
            sp_set_recipe_field(f, &made.object, call->name, &value);
        else if (holds) /* the value of a function (run.Partial) has no class */
            snprintf(class.text.value, sizeof class.text.value, "%.*s",
                     (int)(argument.to - argument.from), argument.from);
    }
    const char *const dot = strrchr(class.text.value, '.');
    if (!holds || !is_function(dot ? dot + 1 : class.text.value))
        sp_set_recipe_field(f, &made.object, "_target_", &class);
    return made;
}

/* `deepcopy(OBJECT)` and `dataclasses.replace(OBJECT, FIELD=VALUE)`. */
static struct sp_python_result copy_with(struct sp_recipe_frame *f, const struct sp_call *call)
{
    struct sp_argument argument = {0};
    struct sp_python_result copy = {.kind = SP_OBJECT, .object = sp_new_object(&f->run->objects)};
    for (const char *at = call->from; sp_next_argument(call, &at, &argument);) {
        const struct sp_python_result value = evaluate(f, argument.from, argument.to, call->line);
        if (argument.keyword[0])
            sp_set_recipe_field(f, &copy.object, argument.keyword, &value);
        else if (value.kind == SP_OBJECT)
            sp_put_part(&f->run->objects, &copy.object, "", &value.object);
    }
    return copy;
}

static struct sp_python_result call(struct sp_recipe_frame *f, const char *from, const char *open,
                                    const char *to, int line)
{
    struct sp_call call = {.from = open + 1, .to = to - 1, .line = line};
    char head[64];
    snprintf(call.path, sizeof call.path, "%.*s", (int)(open - from), from);
    const char *const dot = strrchr(call.path, '.');
    snprintf(call.name, sizeof call.name, "%.63s", dot ? dot + 1 : call.path);
    snprintf(head, sizeof head, "%.*s", (int)strcspn(call.path, "."), call.path);
    if (dot && variable(f, head))
        return (struct sp_python_result){.kind = SP_UNTOLD}; /* a method */
    if (sp_has_word("list tuple dict set str int float bool len min max sum round range map zip "
                    "getattr join getcwd",
                    call.name))
        return (struct sp_python_result){.kind = SP_UNTOLD};
    if (sp_has_word("deepcopy replace", call.name))
        return copy_with(f, &call);
    const struct sp_python_function *const bound = dot ? NULL : sp_function_named(f, call.name);
    struct sp_python_function own = {f->module,
                                     dot || bound ? -1 : sp_find_def(f->module, call.name), NULL};
    if (own.def < 0 && !dot && !bound && (own.module = import(f->run, f->module, call.name)))
        own.def = sp_find_def(own.module, call.name);
    const struct sp_python_result value = bound ? call_function(f->run, bound, f, &call)
                                          : own.def >= 0
                                              ? call_decorated(f->run, &own, f, &call)
                                              : (struct sp_python_result){.kind = SP_UNTOLD};
    return value.kind != SP_UNTOLD || value.function ? value
                                                     : make(f, &call, bound || own.def >= 0);
}

/* A dotted name, or the result of its call; false for any other expression. */
static bool named(struct sp_recipe_frame *f, const char *from, const char *to, int line,
                  struct sp_python_result *value)
{
    char path[96], head[64];
    const char *end = from;
    while (end < to && (sp_is_python_letter(*end) || *end == '.'))
        end++;
    if (end == from || (*from >= '0' && *from <= '9') || end - from >= (long)sizeof path)
        return false;
    const char *const close = end < to && *end == '(' ? sp_find_outside(end + 1, to, "") : NULL;
    if (close && close < to && (close + 1 == to || close[1] == '.')) {
        *value = call(f, from, end, close + 1, line); /* a method of it gives the same */
        return true;
    }
    snprintf(path, sizeof path, "%.*s", (int)(end - from), from);
    snprintf(head, sizeof head, "%.*s", (int)strcspn(path, "."), path);
    const struct sp_object *const object = end == to ? variable(f, head) : NULL;
    const char *words, *stop;
    if (!object && end == to && sp_python_words(f->names, path, &words, &stop) && *words == '{') {
        *value = read_dict(f, words + 1, stop - 1, line);
        return true;
    }
    if (!object)
        return false;
    const char *const rest = path + strlen(head) + (path[strlen(head)] == '.');
    *value = part_of(f, object, rest);
    return true;
}

/* A dict that a loop builds equals the one that it runs over ("for f in fields(X)", "for k, v in
 * X.items()"), or its contents are unknown. */
static void put_loop(struct sp_recipe_frame *f, struct sp_object *dict, const char *from,
                     const char *to, int line)
{
    static const char fields[] = "fields(";
    const char *in = sp_after_python(from, to, " in "), *end = sp_find_python(in, to, " if ");
    if (in < end && strncmp(in, fields, sizeof fields - 1) == 0) {
        in += sizeof fields - 1;
        end = sp_find_outside(in, end, "");
    } else {
        const char *const items = sp_find_python(in, end, ".items()");
        end = items < end ? items : in;
    }
    const struct sp_python_result over =
        in < end ? evaluate(f, in, end, line) : (struct sp_python_result){.kind = SP_UNTOLD};
    if (over.kind == SP_OBJECT)
        sp_put_part(&f->run->objects, dict, "", &over.object);
    else
        sp_set_recipe_field(
            f, dict, "_target_",
            &(struct sp_python_result){.kind = SP_TOLD, .text = {.value = "dict", .line = line}});
}

/* "{KEY: VALUE, **OTHERS}" as an object. */
static struct sp_python_result read_dict(struct sp_recipe_frame *f, const char *at, const char *end,
                                         int line)
{
    struct sp_python_result dict = {.kind = SP_OBJECT, .object = sp_new_object(&f->run->objects)};
    while (at < end) {
        char key[96];
        const char *from = at, *to = sp_find_outside(at, end, ",");
        at = to + 1;
        sp_trim_python(&from, &to);
        const char *const sign = sp_find_outside(from, to, ":"), *const loop = sp_find_python(
                                                                     from, to, " for ");
        if (loop < to) {
            put_loop(f, &dict.object, loop, end, line);
            return dict;
        }
        if (strncmp(from, "**", 2) == 0) {
            const struct sp_python_result others = evaluate(f, from + 2, to, line);
            if (others.kind == SP_OBJECT)
                sp_put_part(&f->run->objects, &dict.object, "", &others.object);
        } else if (sign < to && strchr("\"'", *from)) {
            const struct sp_python_result value = evaluate(f, sign + 1, to, line);
            snprintf(key, sizeof key, "%.*s", (int)strcspn(from + 1, "\"'"), from + 1);
            sp_set_recipe_field(f, &dict.object, key, &value);
        }
    }
    return dict;
}

static struct sp_python_result evaluate(struct sp_recipe_frame *f, const char *from, const char *to,
                                        int line)
{
    struct sp_python_result value = {.kind = SP_UNTOLD, .text = {.line = line}};
    int branch = 0;
    sp_trim_python(&from, &to);
    if (from >= to || ++f->run->steps > SP_RECIPE_STEPS)
        return value;
    const char *const when = sp_find_python(from, to, " if "), *const otherwise = sp_find_python(
                                                                   when, to, " else ");
    const int yes = otherwise < to ? sp_python_truth(f->names, when + 4, otherwise) : -1;
    if (yes >= 0)
        return yes ? evaluate(f, from, when, line) : evaluate(f, otherwise + 6, to, line);
    if (*from == '{')
        return read_dict(f, from + 1, to - 1, line);
    if (named(f, from, to, line, &value))
        return value;
    if (sp_python_value(f->names, from, to, &branch, value.text.value, sizeof value.text.value))
        value.kind = SP_TOLD;
    else {
        snprintf(value.text.gap, sizeof value.text.gap, "%.*s", (int)(to - from), from);
        value.text.gap[strcspn(value.text.gap, "\n")] = '\0';
        snprintf(value.text.value, sizeof value.text.value, "%s", value.text.gap);
        value.function = sp_function_of(f, from, to);
        if (!sp_find_untold(f->names, from, to, value.text.by, sizeof value.text.by) ||
            sp_is(value.text.by, value.text.gap))
            value.text.by[0] = '\0';
    }
    if (branch > 0)
        snprintf(value.text.gap, sizeof value.text.gap, "a branch");
    return value;
}

/* Gives a value to whatever is on the left of "=". */
static void assign(struct sp_recipe_frame *f, const char *from, const char *to,
                   const struct sp_python_result *value)
{
    char path[96], head[64];
    const char *colon = sp_find_outside(from, to, ":");
    sp_trim_python(&from, &colon);
    snprintf(path, sizeof path, "%.*s", (int)(colon - from), from);
    if (!sp_spell_keys(path) || strpbrk(path, "[]() "))
        return;
    const size_t n = strcspn(path, ".");
    snprintf(head, sizeof head, "%.*s", (int)n, path);
    if (!path[n]) {
        sp_bind_recipe(f, path, value);
        return;
    }
    if (!variable(f, head)) { /* one that is made elsewhere */
        if (f->last.number == 0)
            f->last = sp_new_object(&f->run->objects);
        const struct sp_object whole = {.number = f->last.number};
        sp_bind_recipe(
            f, head,
            &(struct sp_python_result){.kind = SP_OBJECT, .object = sp_part_of(&whole, head)});
    }
    const struct sp_object *const object = variable(f, head);
    if (!object)
        return;
    f->last = *object;
    sp_set_recipe_field(f, object, path + n + 1, value);
}

/* "A, B = X, Y"; each of a call's several results is a separate value. */
static void assign_all(struct sp_recipe_frame *f, const char *from, const char *equals,
                       const char *to, int line)
{
    const char *value = equals + 1;
    const bool several = sp_find_outside(value, to, ",") < to;
    while (from < equals) {
        const char *const end = sp_find_outside(from, equals, ","), *const stop =
                                                                        several
                                                                            ? sp_find_outside(
                                                                                  value, to, ",")
                                                                            : to;
        const struct sp_python_result given = evaluate(f, value, stop, line);
        assign(f, from, end, &given);
        from = end + 1;
        value = several && stop < to ? stop + 1 : value;
    }
}

static void statement(struct sp_recipe_frame *f, const struct sp_python_line *line)
{
    static const char *const words[] = {"import", "from",   "raise", "assert", "pass",
                                        "del",    "global", "break", "yield",  "continue",
                                        "async",  "await",  "def",   "class"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sp_line_starts(line, words[i]))
            return;
    if (strchr("@\"'", *line->from))
        return;
    if (sp_line_starts(line, "return")) {
        const struct sp_python_result value = evaluate(f, line->from + 6, line->to, line->number);
        f->done = sp_is(f->branch, f->caller_branch);
        if (!f->done)
            snprintf(f->doubt, sizeof f->doubt, "%s", f->branch);
        if (f->done || f->returned.kind == SP_UNTOLD)
            f->returned = value;
        return;
    }
    const char *const equals = sp_find_outside(line->from, line->to, "=");
    if (equals > line->from && equals < line->to && *equals == '=' && equals[1] != '=' &&
        !strchr("!<>+-*/%|&^", equals[-1]))
        assign_all(f, line->from, equals, line->to, line->number);
    else if (equals == line->to)
        evaluate(f, line->from, line->to, line->number);
}

/* The same as sp_python_branch, with the file being read as the one that runs. */
static int decide(const struct sp_recipe_frame *f, const struct sp_python_line *line)
{
    char name[80];
    name_branch(f, line->number, name, sizeof name);
    const int yes = sp_python_branch(f->names, name, line->from, line->to);
    return yes < 0 && strncmp(line->from, "if __name__", 11) == 0 ? 1 : yes;
}

/* Follows a chain of branches to the place after the last one. */
static int follow_branches(struct sp_recipe_frame *f, int i, int end)
{
    const struct sp_python_line *const at = f->module->at;
    const size_t indent = at[i].indent;
    bool taken = false, open = false;
    do {
        const int stop = sp_block_end(f->module, i), yes = decide(f, &at[i]);
        if (!taken && yes != 0) {
            char before[sizeof f->branch];
            const bool doubt = yes < 0 || (open && yes < 2);
            memcpy(before, f->branch, sizeof before);
            if (doubt && !before[0])
                name_branch(f, at[i].number, f->branch, sizeof f->branch);
            open = open || doubt;
            taken = !doubt;
            follow(f, i + 1, stop);
            memcpy(f->branch, before, sizeof before);
        }
        i = stop;
    } while (i < end && at[i].indent == indent &&
             (sp_line_starts(&at[i], "elif") || sp_line_starts(&at[i], "else")));
    return i;
}

static void follow(struct sp_recipe_frame *f, int i, int end)
{
    const struct sp_python_line *const at = f->module->at;
    while (i < end && !f->done && ++f->run->steps < SP_RECIPE_STEPS) {
        const int stop = sp_block_end(f->module, i);
        const bool loop = sp_line_starts(&at[i], "for") || sp_line_starts(&at[i], "while"),
                   opens = loop && !f->branch[0];
        if (sp_line_starts(&at[i], "if")) {
            i = follow_branches(f, i, end);
            continue;
        }
        if (opens)
            name_branch(f, at[i].number, f->branch, sizeof f->branch);
        if (at[i].indent > 0 && sp_line_starts(&at[i], "def"))
            sp_bind_function(f, i, true);
        if (loop || sp_line_starts(&at[i], "with") || sp_line_starts(&at[i], "try") ||
            sp_line_starts(&at[i], "finally"))
            follow(f, i + 1, stop);
        else if (stop == i + 1)
            statement(f, &at[i]);
        if (opens)
            f->branch[0] = '\0';
        i = stop;
    }
}

struct sp_python_result sp_follow_recipe(struct sp_recipe_run *run, int def, bool decorated)
{
    const struct sp_python_function own = {run->files, def, NULL};
    return decorated ? call_decorated(run, &own, NULL, NULL) : call_function(run, &own, NULL, NULL);
}

struct sp_python_result sp_follow_assigned(struct sp_recipe_run *run, int line)
{
    const struct sp_python_line *const at = &run->files->at[line];
    const struct sp_python_function file = {run->files, -1, NULL};
    struct sp_recipe_frame *const f = sp_new_frame(run, &file, NULL);
    const char *const equals = sp_find_outside(at->from, at->to, "=");
    const struct sp_python_function *const made =
        equals < at->to ? evaluate(f, equals + 1, at->to, at->number).function : NULL;
    const struct sp_python_result value =
        made ? call_function(run, made, f, NULL) : (struct sp_python_result){.kind = SP_UNTOLD};
    sp_leave_frame(f);
    return value;
}
