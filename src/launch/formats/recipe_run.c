/* The functions of a Python text, followed statement by statement, those of files beside it too;
 * what has a value that no literal, name or sum gives is not known. No code runs. */
#include "launch/formats/recipe_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "launch/fields/beside.h"
#include "launch/formats/python_text.h"
#include "launch/shell/state.h"

enum { DEEPEST = 8, MOST_STEPS = 20000, MOST_VARIABLES = 48 };

/* A function that is followed. */
struct frame {
    struct sp_recipe_run *run;
    const struct sp_python_file *module;
    struct sp_python *names;
    struct {
        char name[64];
        struct sp_object object;
    } at[MOST_VARIABLES];
    int n, depth;
    /* the branch that it is in, the one that it was called in, one that may have returned */
    char branch[80], caller_branch[80], doubt[80];
    bool done;
    struct sp_python_result returned;
    struct sp_object last; /* whose fields were set */
};

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

static struct sp_python_result evaluate(struct frame *f, const char *from, const char *to,
                                        int line);
static void follow(struct frame *f, int i, int end);
static struct sp_python_result read_dict(struct frame *f, const char *at, const char *end,
                                         int line);

static const struct sp_object *variable(const struct frame *f, const char *name)
{
    for (int i = f->n - 1; i >= 0; i--)
        if (sp_is(f->at[i].name, name))
            return f->at[i].object.number > 0 ? &f->at[i].object : NULL;
    return NULL;
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

/* Gives a name of a function a value: an object, or a text that expressions have. */
static void bind(struct frame *f, const char *name, const struct sp_python_result *value)
{
    int i = 0;
    while (i < f->n && !sp_is(f->at[i].name, name))
        i++;
    if (i < MOST_VARIABLES && (i < f->n || value->kind == SP_OBJECT)) {
        f->n += i == f->n;
        snprintf(f->at[i].name, sizeof f->at[i].name, "%s", name);
        f->at[i].object = value->kind == SP_OBJECT ? value->object : (struct sp_object){0};
    }
    const char *const text = keep(f->run, value);
    struct sp_python_name *const told = sp_define_python(f->names, name, text, text + strlen(text));
    if (told)
        told->branch = value->kind == SP_TOLD && f->branch[0] ? 1 : 0;
}

/* The name of a branch: "line 12", and its file if another one is read. */
static void name_branch(const struct frame *f, int line, char *out, size_t size)
{
    const char *const slash = strrchr(f->module->path, '/');
    const bool own = f->module == f->run->files;
    snprintf(out, size, "line %d%s%.60s", line, own ? "" : " of ",
             own     ? ""
             : slash ? slash + 1
                     : f->module->path);
}

/* Sets a field of an object to a value. */
static void set(struct frame *f, const struct sp_object *object, const char *name,
                const struct sp_python_result *value)
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

/* The values of a file's own names, as they stand there. */
static struct sp_python *names_of(const struct sp_recipe_run *run, const struct sp_python_file *m)
{
    struct sp_python *const names = sp_must(calloc(1, sizeof *names));
    names->names = run->names;
    names->at = sp_must(calloc(SP_PYTHON_NAMES, sizeof *names->at));
    names->called = true;
    for (int i = 0; i < m->n; i++) {
        char name[64];
        const char *end = m->at[i].from;
        while (end < m->at[i].to && sp_is_python_letter(*end))
            end++;
        const char *const sign = end + strspn(end, " ");
        if (m->at[i].indent > 0 || end == m->at[i].from || *sign != '=' || sign[1] == '=')
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(end - m->at[i].from), m->at[i].from);
        sp_define_python(names, name, sign + 1, m->at[i].to);
    }
    return names;
}

/* A field of an object as a value. */
static struct sp_python_result part_of(const struct frame *f, const struct sp_object *object,
                                       const char *name)
{
    const struct sp_object_field *const field =
        name[0] ? sp_field_at(&f->run->objects, object, name) : NULL;
    return field ? (struct sp_python_result){.kind = field->gap[0] ? SP_UNTOLD : SP_TOLD,
                                             .text = *field}
                 : (struct sp_python_result){.kind = SP_OBJECT, .object = sp_part_of(object, name)};
}

/* What a parameter is called with; false: it is left out. "**NAME" is all keywords. */
static bool find_given(struct frame *caller, const struct sp_call *call, const char *name,
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
        if (!spread && !(argument.keyword[0] ? rest || sp_is(argument.keyword, name)
                                             : argument.place == place))
            continue;
        const struct sp_python_result one =
            evaluate(caller, argument.from + (spread ? 2 : 0), argument.to, call->line);
        if (rest && spread && one.kind == SP_OBJECT)
            sp_put_part(&caller->run->objects, &value->object, "", &one.object);
        else if (rest && argument.keyword[0])
            set(caller, &value->object, argument.keyword, &one);
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

/* Gives a function's parameters what it is called with, its defaults, or an object. */
static void bind_parameters(struct frame *f, const struct sp_python_line *def, struct frame *caller,
                            const struct sp_call *call)
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
            f->last = value.object; /* what it changes */
        bind(f, name + strspn(name, "*"), &value);
    }
}

/* Follows a function: what it returns, else the object whose fields it set. */
static struct sp_python_result call_function(struct sp_recipe_run *run,
                                             const struct sp_python_file *m, int def,
                                             struct frame *caller, const struct sp_call *call)
{
    struct sp_python_result value = {.kind = SP_UNTOLD};
    if (caller && caller->depth == DEEPEST)
        return value;
    struct frame *const f = sp_must(calloc(1, sizeof *f));
    *f = (struct frame){.run = run,
                        .module = m,
                        .names = names_of(run, m),
                        .depth = caller ? caller->depth + 1 : 0};
    snprintf(f->branch, sizeof f->branch, "%s", caller ? caller->branch : "");
    snprintf(f->caller_branch, sizeof f->caller_branch, "%s", f->branch);
    if (def >= 0)
        bind_parameters(f, &m->at[def], caller, call);
    follow(f, def + 1, def < 0 ? m->n : sp_block_end(m, def));
    value = f->returned;
    if (value.kind == SP_UNTOLD && !call && f->last.number > 0)
        value = (struct sp_python_result){.kind = SP_OBJECT, .object = {.number = f->last.number}};
    for (int i = 0; value.kind == SP_OBJECT && f->doubt[0] && i < run->objects.n; i++)
        if (run->objects.at[i].object == value.object.number && !run->objects.at[i].gap[0])
            snprintf(run->objects.at[i].gap, sizeof run->objects.at[i].gap, "the branch of %.80s",
                     f->doubt);
    free(f->names->at);
    free(f->names);
    free(f);
    return value;
}

/* Whether a name is a function's rather than a class's. */
static bool is_function(const char *name)
{
    return name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z');
}

/* An object of a class that is not here: its name and its keywords. `run.Config(CLASS, ...)` is of
 * the class that it names. What another function than a class returns may be what it was given. */
static struct sp_python_result make(struct frame *f, const struct sp_call *call, bool here)
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
            set(f, &made.object, argument.keyword, &value);
        else if (value.kind == SP_OBJECT && is_function(call->name) &&
                 sp_is_made(&f->run->objects, &value.object)) {
            if (!here)
                sp_launch_note(f->run->s, "line %d: %s() is not here: what it sets is not read",
                               call->line, sp_safe(call->path));
            return value;
        } else if (value.kind == SP_TOLD)
            set(f, &made.object, call->name, &value);
        else if (holds) /* of a function (run.Partial) it is none's */
            snprintf(class.text.value, sizeof class.text.value, "%.*s",
                     (int)(argument.to - argument.from), argument.from);
    }
    const char *const dot = strrchr(class.text.value, '.');
    if (!holds || !is_function(dot ? dot + 1 : class.text.value))
        set(f, &made.object, "_target_", &class);
    return made;
}

/* `deepcopy(OBJECT)` and `dataclasses.replace(OBJECT, FIELD=VALUE)`. */
static struct sp_python_result copy_with(struct frame *f, const struct sp_call *call)
{
    struct sp_argument argument = {0};
    struct sp_python_result copy = {.kind = SP_OBJECT, .object = sp_new_object(&f->run->objects)};
    for (const char *at = call->from; sp_next_argument(call, &at, &argument);) {
        const struct sp_python_result value = evaluate(f, argument.from, argument.to, call->line);
        if (argument.keyword[0])
            set(f, &copy.object, argument.keyword, &value);
        else if (value.kind == SP_OBJECT)
            sp_put_part(&f->run->objects, &copy.object, "", &value.object);
    }
    return copy;
}

static struct sp_python_result call(struct frame *f, const char *from, const char *open,
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
    int def = dot ? -1 : sp_find_def(f->module, call.name);
    const struct sp_python_file *m = f->module;
    if (def < 0 && !dot && (m = import(f->run, f->module, call.name)))
        def = sp_find_def(m, call.name);
    const struct sp_python_result value = def >= 0 ? call_function(f->run, m, def, f, &call)
                                                   : (struct sp_python_result){.kind = SP_UNTOLD};
    return value.kind != SP_UNTOLD ? value : make(f, &call, def >= 0);
}

/* A dotted name, or the result of its call; false for any other expression. */
static bool named(struct frame *f, const char *from, const char *to, int line,
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

/* A dict that a loop makes is what it goes over ("for f in fields(X)", "for k, v in X.items()"), or
 * has what nothing here reads. */
static void put_loop(struct frame *f, struct sp_object *dict, const char *from, const char *to,
                     int line)
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
        set(f, dict, "_target_",
            &(struct sp_python_result){.kind = SP_TOLD, .text = {.value = "dict", .line = line}});
}

/* "{KEY: VALUE, **OTHERS}" as an object. */
static struct sp_python_result read_dict(struct frame *f, const char *at, const char *end, int line)
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
            set(f, &dict.object, key, &value);
        }
    }
    return dict;
}

static struct sp_python_result evaluate(struct frame *f, const char *from, const char *to, int line)
{
    struct sp_python_result value = {.kind = SP_UNTOLD, .text = {.line = line}};
    int branch = 0;
    sp_trim_python(&from, &to);
    if (from >= to || ++f->run->steps > MOST_STEPS)
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
        if (!sp_find_untold(f->names, from, to, value.text.by, sizeof value.text.by) ||
            sp_is(value.text.by, value.text.gap))
            value.text.by[0] = '\0';
    }
    if (branch > 0)
        snprintf(value.text.gap, sizeof value.text.gap, "a branch");
    return value;
}

/* Gives what stands on the left of "=" a value. */
static void assign(struct frame *f, const char *from, const char *to,
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
        bind(f, path, value);
        return;
    }
    if (!variable(f, head)) { /* one that is made elsewhere */
        if (f->last.number == 0)
            f->last = sp_new_object(&f->run->objects);
        const struct sp_object whole = {.number = f->last.number};
        bind(f, head,
             &(struct sp_python_result){.kind = SP_OBJECT, .object = sp_part_of(&whole, head)});
    }
    const struct sp_object *const object = variable(f, head);
    if (!object)
        return;
    f->last = *object;
    set(f, object, path + n + 1, value);
}

/* "A, B = X, Y"; of one call's several results each is one of its own. */
static void assign_all(struct frame *f, const char *from, const char *equals, const char *to,
                       int line)
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

static void statement(struct frame *f, const struct sp_python_line *line)
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

/* As sp_python_branch; the file that is read is the one that runs. */
static int decide(const struct frame *f, const struct sp_python_line *line)
{
    char name[80];
    name_branch(f, line->number, name, sizeof name);
    const int yes = sp_python_branch(f->names, name, line->from, line->to);
    return yes < 0 && strncmp(line->from, "if __name__", 11) == 0 ? 1 : yes;
}

/* Follows a chain of branches: behind the last one. */
static int follow_branches(struct frame *f, int i, int end)
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

static void follow(struct frame *f, int i, int end)
{
    const struct sp_python_line *const at = f->module->at;
    while (i < end && !f->done && ++f->run->steps < MOST_STEPS) {
        const int stop = sp_block_end(f->module, i);
        const bool loop = sp_line_starts(&at[i], "for") || sp_line_starts(&at[i], "while"),
                   opens = loop && !f->branch[0];
        if (sp_line_starts(&at[i], "if")) {
            i = follow_branches(f, i, end);
            continue;
        }
        if (opens)
            name_branch(f, at[i].number, f->branch, sizeof f->branch);
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

struct sp_python_result sp_follow_recipe(struct sp_recipe_run *run, int def)
{
    return call_function(run, run->files, def, NULL, NULL);
}

void sp_free_recipe_run(struct sp_recipe_run *run)
{
    for (int i = 0; i < run->n_kept; i++)
        free(run->kept[i]);
    for (int i = 0; i < run->n_files; i++) {
        free(run->files[i].text);
        free(run->files[i].at);
    }
    free(run->kept);
    free(run);
}
