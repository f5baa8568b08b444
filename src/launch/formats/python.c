/* Reads the settings of a training script in Python: the keywords of its calls. No code runs: a
 * value is a literal, a name that stands for one, or a sum of them. */
#include "launch/formats/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "launch/fields/named_files.h"
#include "launch/formats/python_lines.h"
#include "launch/formats/python_text.h"

enum { DEEPEST = 12 };

/* Facts about the branches at an indent: whether one of them is taken. */
enum taken { NOT_YET, TAKEN, UNDECIDED };
struct chain {
    size_t indent;
    enum taken taken;
};

/* A call that passes on the arguments of its function (`def f(**NAME): return C(**NAME)`). */
struct wrapped {
    struct sp_call call;
    char rest[64];
    int known; /* the names when it was met; later calls of its function add none to it */
    bool done;
};

struct reader {
    struct sp_python known;
    char function[64], klass[64];
    int def; /* the function's line */
    int line, branch;
    size_t branch_indent;
    struct chain chain[DEEPEST];
    int chains;
    char rest[64];             /* its "**NAME" */
    struct wrapped wrapped[8]; /* calls that await the one of their function */
    int wraps;
    bool skips;     /* a branch that is not taken */
    size_t skipped; /* its indent */
    sp_visit *visit;
    const char *path; /* of the text; NULL: nothing is known in advance */
    char *text[8];    /* of files beside */
    int files;
    struct sp_settings *named; /* where names of the file's own level go; NULL: nowhere */
    void *to;
};

bool sp_next_argument(const struct sp_call *call, const char **at, struct sp_argument *out)
{
    const char *from = *at, *to = sp_find_outside(from, call->to, ",");
    *at = to < call->to ? to + 1 : call->to;
    sp_trim_python(&from, &to);
    if (from >= to)
        return *at < call->to ? sp_next_argument(call, at, out) : false;
    const char *const name = sp_end_of_name(from, to);
    const char *equals = name + strspn(name, " ");
    out->keyword[0] = '\0';
    if (name > from && equals < to && *equals == '=' && equals[1] != '=') {
        snprintf(out->keyword, sizeof out->keyword, "%.*s", (int)(name - from), from);
        from = equals + 1;
        sp_trim_python(&from, &to);
    } else {
        out->place++;
    }
    out->from = from;
    out->to = to;
    return true;
}

bool sp_take_argument(const struct sp_python *p, const struct sp_call *call,
                      const struct sp_argument *argument, const char *name, struct sp_settings *s)
{
    char value[sizeof s->at->value], name_of[96];
    int branch = call->branch;
    const bool known =
        sp_python_value(p, argument->from, argument->to, &branch, value, sizeof value);
    if (known && sp_is(value, "None") && branch <= 0) { /* as if it were absent */
        for (int i = 0; i < s->n; i++)
            if (sp_is(s->at[i].name, name)) {
                snprintf(s->at[i].name, sizeof s->at[i].name, "_");
                s->at[i].read = true;
            }
        return true;
    }
    if (!known && value[0] == '?') /* of doubt_twice(): the name is what is missing */
        snprintf(value, sizeof value, "%.*s", (int)(argument->to - argument->from), argument->from);
    if (!sp_add_setting(s, name, value))
        return false;
    struct sp_setting *const setting = &s->at[s->n - 1];
    setting->line = setting->gap_line = call->line;
    setting->cut = strlen(value) + 1 == sizeof value;
    if (!known) {
        const char *const shown =
            value + (strncmp(value, "(\n", 2) == 0 ? strspn(value, "( \n") : 0);
        snprintf(setting->gap, sizeof setting->gap, "%.*s",
                 (int)strcspn(shown, "\n") < 95 ? (int)strcspn(shown, "\n") : 95, shown);
        if (sp_find_untold(p, argument->from, argument->to, name_of, sizeof name_of) &&
            !sp_is(name_of, setting->gap) && strlen(name_of) < sizeof setting->by)
            snprintf(setting->by, sizeof setting->by, "%s", name_of);
    } else if (branch > 0)
        snprintf(setting->gap, sizeof setting->gap, "the branch of line %d", branch);
    return true;
}

static void define_in(struct reader *p, const char *name, const char *from, const char *to,
                      int branch)
{
    struct sp_python_name *const known = sp_define_python(&p->known, name, from, to);
    if (known)
        known->branch = branch;
}

static void define(struct reader *p, const char *name, const char *from, const char *to)
{
    define_in(p, name, from, to, p->branch);
}

/* Options of a parser, `add_argument("--NAME", default=VALUE)`: their defaults. Its attributes have
 * "_" where options have "-". */
static void define_option(struct reader *p, const struct sp_call *call)
{
    static const char off[] = "False", on[] = "True", none[] = "None";
    struct sp_argument argument = {0};
    char name[64] = "";
    const char *from = none, *to = none + sizeof none - 1;
    for (const char *at = call->from; sp_next_argument(call, &at, &argument);) {
        const char *word = argument.from + strspn(argument.from, "\"'");
        if (!argument.keyword[0] && strncmp(word, "--", 2) == 0 && !name[0])
            snprintf(name, sizeof name, ".%.*s", (int)strcspn(word + 2, "\"'"), word + 2);
        else if (sp_is(argument.keyword, "default")) {
            from = argument.from;
            to = argument.to;
        } else if (sp_is(argument.keyword, "required"))
            from = to = NULL;
        else if (sp_is(argument.keyword, "action") && from == none)
            from = strncmp(argument.from + 1, "store_true", 10) == 0    ? off
                   : strncmp(argument.from + 1, "store_false", 11) == 0 ? on
                                                                        : none;
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : *c;
    }
    to = from == off || from == on ? from + strlen(from) : to;
    if (name[0] && from)
        define(p, name, from, to);
}

/* NAME.update(...), and other changes of a dict: its keys are then given values ("NAME["**"]"). */
static void define_update(struct reader *p, const struct sp_call *call)
{
    static const char unknown[] = "*()";
    char name[64];
    const char *const dot = strrchr(call->path, '.');
    if (!dot || !sp_has_word("update pop setdefault clear", dot + 1))
        return;
    const char *const key = call->from, *const end = strchr("\"'", *key)
                                                         ? sp_end_of_quotes(key, call->to)
                                                         : key;
    if (sp_is(dot, ".pop") && end > key) {
        static const char gone[] = "None";
        snprintf(name, sizeof name, "%.*s[\"%.*s\"]", (int)(dot - call->path), call->path,
                 (int)(end - key) - 2, key + 1);
        define(p, name, gone, gone + strlen(gone));
        return;
    }
    snprintf(name, sizeof name, "%.*s[\"**\"]", (int)(dot - call->path), call->path);
    if (sp_is(dot, ".update"))
        define(p, name, call->from, call->to);
    else
        define(p, name, unknown, unknown + strlen(unknown));
}

/* Whether a call passes on the keywords of the function around it, by their name or another made
 * from it. */
static bool hands_on(const struct reader *p, const struct sp_call *call)
{
    struct sp_argument argument = {0};
    for (const char *at = call->from; p->rest[0] && sp_next_argument(call, &at, &argument);) {
        char name[64];
        const char *from, *to;
        if (strncmp(argument.from, "**", 2) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(argument.to - argument.from - 2),
                 argument.from + 2);
        const char *const made =
            sp_python_words(&p->known, name, &from, &to) ? strstr(from, p->rest) : NULL;
        if (sp_is(name, p->rest) || (made && made < to))
            return true;
    }
    return false;
}

/* Visits the calls that await this one of their function: its arguments come before the values that
 * the function itself gives the keys. */
static bool visit_wrapped(struct reader *p, const struct sp_call *call)
{
    static const char none[] = "{}";
    bool ok = true;
    for (int i = 0; i < p->wraps && ok; i++) {
        struct wrapped *const w = &p->wrapped[i];
        char all[72];
        const int own = w->known < p->known.n ? w->known : p->known.n;
        if (!sp_is(w->call.function, call->name))
            continue;
        snprintf(all, sizeof all, "%s[\"**\"]", w->rest);
        define(p, w->rest, none, none + strlen(none));
        define(p, all, call->from, call->to);
        for (int j = 0; j < own; j++) {
            const struct sp_python_name key = p->known.at[j];
            if (strncmp(key.name, all, strlen(w->rest) + 1) == 0)
                define_in(p, key.name, key.from, key.to, key.branch);
        }
        struct sp_call inner = w->call;
        inner.line = call->line;
        inner.branch = call->branch;
        memcpy(inner.target, call->target, sizeof inner.target);
        w->done = true;
        ok = p->visit(p->to, &p->known, &inner);
    }
    return ok;
}

/* The calls between two places, the outer ones first. */
static bool visit_calls(struct reader *p, const char *from, const char *to, const char *target)
{
    bool ok = true;
    for (const char *at = from; at < to && ok;) {
        if (!sp_is_python_letter(*at) ||
            (at > from && (sp_is_python_letter(at[-1]) || at[-1] == '.'))) {
            at = sp_python_step(at, to);
            continue;
        }
        const char *end = at;
        while (end < to && (sp_is_python_letter(*end) || *end == '.'))
            end++;
        if (end >= to || *end != '(') {
            at = end < to && (*end == '"' || *end == '\'') ? end : end > at ? end : at + 1;
            continue;
        }
        struct sp_call call = {
            .from = end + 1, .branch = p->branch, .line = p->line, .def = p->def};
        call.to = sp_find_outside(end + 1, to, "");
        for (const char *c = from; c < at; c++)
            call.line += *c == '\n';
        snprintf(call.path, sizeof call.path, "%.*s", (int)(end - at), at);
        const char *const dot = strrchr(call.path, '.');
        snprintf(call.name, sizeof call.name, "%.63s", dot ? dot + 1 : call.path);
        snprintf(call.target, sizeof call.target, "%s", target);
        snprintf(call.function, sizeof call.function, "%s", p->function);
        if (sp_is(call.name, "add_argument"))
            define_option(p, &call);
        define_update(p, &call);
        if (hands_on(p, &call) && p->wraps < (int)(sizeof p->wrapped / sizeof *p->wrapped)) {
            p->wrapped[p->wraps].call = call;
            p->wrapped[p->wraps].known = p->known.n;
            memcpy(p->wrapped[p->wraps++].rest, p->rest, sizeof p->rest);
        } else {
            ok = visit_wrapped(p, &call) && p->visit(p->to, &p->known, &call);
        }
        at = end + 1;
    }
    return ok;
}

/* "A, B = VALUE, VALUE" */
static void take_pairs(struct reader *p, const char *from, const char *to)
{
    const char *const equals = sp_find_outside(from, to, "=");
    const char *value = equals + 1;
    while (equals < to && from < equals && value < to) {
        char name[64];
        const char *end = sp_find_outside(from, equals, ","), *const stop =
                                                                  sp_find_outside(value, to, ",");
        const char *const next = end + 1;
        sp_trim_python(&from, &end);
        snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
        define(p, name, value, stop);
        from = next;
        value = stop + 1;
    }
}

/* "NAME["KEY"] = VALUE" */
static void take_key(struct reader *p, const char *from, const char *open, const char *to)
{
    char name[64];
    const char *const key = open + 1;
    const char *const end = strchr("\"'", *key) ? sp_end_of_quotes(key, to) : key;
    const char *const equals = end < to ? end + 1 + strspn(end + 1, " ") : to;
    if (end <= key || *end != ']' || equals >= to || *equals != '=' || equals[1] == '=')
        return;
    snprintf(name, sizeof name, "%.*s[\"%.*s\"]", (int)(open - from), from, (int)(end - key) - 2,
             key + 1);
    define(p, name, equals + 1, to);
}

/* "NAME [: TYPE] = VALUE": the name is given it; a field's default, `field(default=VALUE)`, too. */
static bool take_statement(struct reader *p, const char *from, const char *to)
{
    char name[64] = "", field[64];
    const char *end = from;
    while (end < to && (sp_is_python_letter(*end) || *end == '.'))
        end++;
    const char *equals = sp_find_outside(end, to, "=");
    const bool assigns =
        end > from && equals < to && equals[1] != '=' && !strchr("!<>+-*/%|&", equals[-1]) &&
        (strspn(end, " ") == (size_t)(equals - end) || end[strspn(end, " ")] == ':');
    if (end > from && end[strspn(end, " ")] == ',' && equals < to && equals[1] != '=')
        take_pairs(p, from, to);
    if (end > from && end < to && *end == '[')
        take_key(p, from, end, to);
    if (end > from && equals < to && strchr("+-*/", equals[-1])) { /* "NAME //= VALUE" */
        snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
        define(p, name, from, to);
        name[0] = '\0';
    }
    if (assigns) {
        snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
        const char *value = equals + 1, *stop = to;
        sp_trim_python(&value, &stop);
        if (strncmp(value, "field(", 6) == 0) {
            const struct sp_call call = {.from = value + 6,
                                         .to = sp_find_outside(value + 6, stop, "")};
            struct sp_argument argument = {0};
            for (const char *at = call.from; sp_next_argument(&call, &at, &argument);)
                if (sp_is(argument.keyword, "default")) {
                    value = argument.from;
                    stop = argument.to;
                    break;
                }
        }
        snprintf(field, sizeof field, ".%.62s", name);
        define(p, p->klass[0] && !p->function[0] ? field : name, value, stop);
        if (!p->klass[0] && strchr(name, '.'))
            define(p, strrchr(name, '.'), value, stop);
        if (p->visit && strchr(name, '.')) {
            struct sp_call put = {
                .name = "=", .from = value, .to = stop, .line = p->line, .branch = p->branch};
            snprintf(put.target, sizeof put.target, "%s", name);
            snprintf(put.function, sizeof put.function, "%s", p->function);
            if (!p->visit(p->to, &p->known, &put))
                return false;
        }
        if (p->named && !p->klass[0] && !p->function[0]) {
            const struct sp_call here = {.line = p->line, .branch = p->branch};
            const struct sp_argument argument = {.from = value, .to = stop};
            return sp_take_argument(&p->known, &here, &argument, name, p->named);
        }
    }
    return !p->visit || visit_calls(p, from, to, name);
}

/* Parameters of a function: their defaults. */
static void define_parameters(struct reader *p, const char *from, const char *to)
{
    const struct sp_call call = {.from = from, .to = sp_find_outside(from, to, "")};
    for (const char *at = call.from; at < call.to;) {
        char name[64];
        const char *start = at, *end = sp_find_outside(at, call.to, ",");
        at = end < call.to ? end + 1 : call.to;
        sp_trim_python(&start, &end);
        if (strncmp(start, "**", 2) == 0)
            snprintf(p->rest, sizeof p->rest, "%.*s",
                     (int)(sp_find_outside(start, end, ":") - start) - 2, start + 2);
        const char *const stop = sp_end_of_name(start, end);
        const char *const equals = sp_find_outside(stop, end, "=");
        snprintf(name, sizeof name, "%.*s", (int)(stop - start), start);
        if (equals < end && name[0]) {
            struct sp_python_name *const known = sp_define_python(&p->known, name, equals + 1, end);
            if (known)
                known->parameter = true;
        }
    }
}

/* Follows a branch of an `if`: it is skipped, taken, or makes the values that it sets unknown. */
static void branch_off(struct reader *p, const char *line, const char *to, size_t indent)
{
    char name[32];
    snprintf(name, sizeof name, "line %d", p->line);
    const int yes = sp_python_branch(&p->known, name, line, to);
    while (p->chains > 0 && p->chain[p->chains - 1].indent > indent)
        p->chains--;
    const bool more = p->chains > 0 && p->chain[p->chains - 1].indent == indent;
    if (!more && p->chains < DEEPEST)
        p->chain[p->chains++] = (struct chain){.indent = indent};
    enum taken *const taken = &p->chain[p->chains - 1].taken;
    if (sp_starts_python(line, "if"))
        *taken = NOT_YET;
    const bool open = yes < 0 || (*taken == UNDECIDED && yes < 2);
    p->skips = *taken == TAKEN || yes == 0;
    p->skipped = indent;
    if (p->skips)
        return;
    if (open && p->branch == 0) {
        p->branch = p->line;
        p->branch_indent = indent;
    }
    *taken = open ? UNDECIDED : TAKEN;
}

/* The block that a line opens: a function, a class, a branch. */
static void follow(struct reader *p, const char *line, const char *to, size_t indent)
{
    static const char *const branches[] = {"for", "while", "except"};
    if (p->branch > 0 && indent <= p->branch_indent)
        p->branch = 0;
    if (indent == 0) {
        p->function[0] = p->klass[0] = p->rest[0] = '\0';
        p->def = 0;
    }
    const bool async = sp_starts_python(line, "async"),
               is_def = sp_starts_python(line, "def") || async;
    const char *const name = line + (async ? 10 : is_def ? 4 : 6);
    if (is_def && name < to) {
        snprintf(p->function, sizeof p->function, "%.*s", (int)strcspn(name, "( :\n"), name);
        p->rest[0] = '\0';
        p->def = p->line;
        const char *const open = sp_find_outside(line, to, "(");
        if (open < to)
            define_parameters(p, open + 1, to);
    } else if (sp_starts_python(line, "class") && name < to) {
        snprintf(p->klass, sizeof p->klass, "%.*s", (int)strcspn(name, "( :\n"), name);
    }
    for (size_t i = 0; i < sizeof branches / sizeof *branches && p->branch == 0; i++)
        if (sp_starts_python(line, branches[i])) {
            p->branch = p->line;
            p->branch_indent = indent;
        }
    if ((sp_starts_python(line, "if") && strncmp(line, "if __name__", 11) != 0) ||
        sp_starts_python(line, "elif") || sp_starts_python(line, "else"))
        branch_off(p, line, to, indent);
}

/* A name with two values has none before the text reaches one of them. */
static void doubt_twice(struct sp_python *known)
{
    static const char unknown[] = "?()";
    for (int i = 0; i < known->n; i++)
        for (int j = 0; j < i; j++) {
            struct sp_python_name *const a = &known->at[i], *const b = &known->at[j];
            if (!sp_is(a->name, b->name) ||
                (a->to - a->from == b->to - b->from &&
                 strncmp(a->from, b->from, (size_t)(a->to - a->from)) == 0))
                continue;
            a->from = b->from = unknown;
            a->to = b->to = unknown + sizeof unknown - 1;
        }
}

/* The text of the file from which a line imports names ("from FILE import A, B"), which stays with
 * the reader; NULL: there is none here. */
static const char *read_import(struct reader *p, const struct sp_python_line *line)
{
    char path[128], file[160], found[1024];
    size_t length;
    const char *const by = strstr(line->from, " import ");
    if (!p->path || !sp_line_starts(line, "from") || !by || by > line->to ||
        p->files == (int)(sizeof p->text / sizeof *p->text))
        return NULL;
    snprintf(path, sizeof path, "%.*s", (int)(by - line->from) - 5, line->from + 5);
    for (char *c = path; *c; c++)
        *c = *c == '.' ? '/' : *c;
    snprintf(file, sizeof file, "%s.py", path + strspn(path, "/"));
    char *const text = sp_read_beside(p->path, file, found, sizeof found, &length);
    if (text)
        p->text[p->files++] = text;
    return text;
}

/* Facts known before a text is read: names at its top level and in its "__main__", options of its
 * parsers, and names that it imports from files beside it. `wanted`: the line that imports this
 * text's names; NULL: all count. */
static void define_ahead(struct reader *p, const char *text, const struct sp_python_line *wanted)
{
    static const char option[] = "add_argument(";
    struct sp_python_file m = {.text = (char *)text};
    sp_split_python(&m);
    int main_end = 0;
    for (int i = 0; i < m.n; i++) {
        const struct sp_python_line *const line = &m.at[i];
        const char *const import = wanted ? NULL : read_import(p, line);
        const char *const call = wanted ? NULL : strstr(line->from, option);
        if (import)
            define_ahead(p, import, line);
        if (line->indent == 0 && strncmp(line->from, "if __name__", 11) == 0)
            main_end = sp_block_end(&m, i);
        if (call && call < line->to) {
            struct sp_call given = {.from = call + sizeof option - 1};
            given.to = sp_find_outside(given.from, line->to, "");
            define_option(p, &given);
        } else if (line->indent == 0 || i < main_end) {
            const int before = p->known.n;
            take_statement(p, line->from, line->to);
            for (int j = before; wanted && j < p->known.n; j++)
                if (!sp_mentions(wanted->from, wanted->to, p->known.at[j].name))
                    p->known.at[j].name[0] = '\0';
        }
    }
    free(m.at);
}

/* Reads a text statement by statement. */
static bool read_text(const char *text, const char *path, const struct sp_typed_names *names,
                      sp_visit *visit, void *to, struct sp_settings *named)
{
    const char *const end = text + strlen(text);
    struct reader *const p = sp_must(calloc(1, sizeof *p));
    p->known.names = names;
    p->known.at = sp_must(calloc(SP_PYTHON_NAMES, sizeof *p->known.at));
    p->path = path;
    if (path) {
        define_ahead(p, text, NULL);
        doubt_twice(&p->known);
    }
    p->visit = visit;
    p->named = named;
    p->to = to;
    p->line = 1;
    bool ok = true;
    for (const char *at = text; at < end && ok;) {
        const size_t indent = strspn(at, " \t");
        const char *const line = at + indent, *stop = sp_find_outside(line, end, "\n;");
        if (stop < end && strchr(")]}", *stop))
            stop++; /* one that nothing opened */
        if (stop > line && *line != '#' && p->skips && indent <= p->skipped)
            p->skips = false;
        if (stop > line && *line != '#' && !p->skips) {
            follow(p, line, stop, indent);
            ok = take_statement(p, line, stop);
        }
        for (const char *c = at; c < stop; c++)
            p->line += *c == '\n';
        p->line += stop < end && *stop == '\n';
        at = stop < end ? stop + 1 : end;
    }
    for (int i = 0; visit && i < p->wraps && ok; i++) /* in functions that nothing here calls */
        ok = p->wrapped[i].done || visit(p->to, &p->known, &p->wrapped[i].call);
    for (int i = 0; i < p->files; i++)
        free(p->text[i]);
    free(p->known.at);
    free(p);
    return ok;
}

bool sp_read_calls(const char *text, const char *path, const struct sp_typed_names *names,
                   sp_visit *visit, void *to)
{
    return read_text(text, path, names, visit, to, NULL);
}

bool sp_read_names(const char *text, const struct sp_typed_names *names,
                   struct sp_settings *settings)
{
    return read_text(text, NULL, names, NULL, NULL, settings);
}
