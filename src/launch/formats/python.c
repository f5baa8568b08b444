/* Python that trains, as settings: the keywords of its calls. No code runs: a value is a literal, a
 * name that stands for one, or a sum of them. */
#include "launch/formats/python.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "launch/formats/python_text.h"

enum { MOST_NAMES = 512, DEEPEST = 12 };

/* A name with its value as it stands there; `branch`: the line of one that it stands in. Those of
 * attributes ("args.NAME") begin with a dot. */
struct known {
    char name[64], value[160];
    int branch;
};

struct sp_python {
    const struct sp_typed_names *names;
    struct known at[MOST_NAMES];
    int n;
    char function[64], klass[64];
    size_t body; /* indent of its own lines */
    int line, branch;
    size_t branch_indent;
    sp_visit *visit;
    struct sp_settings *named; /* where names of the file's own level go; NULL: nowhere */
    void *to;
};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool sp_next_argument(const struct sp_call *call, const char **at, struct sp_argument *out)
{
    const char *from = *at, *to = sp_find_outside(from, call->to, ",");
    *at = to < call->to ? to + 1 : call->to;
    sp_trim_python(&from, &to);
    if (from >= to)
        return *at < call->to ? sp_next_argument(call, at, out) : false;
    const char *name = from;
    while (name < to && is_letter(*name))
        name++;
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

static const struct known *find_known(const struct sp_python *p, const char *name)
{
    for (int i = p->n - 1; i >= 0; i--)
        if (sp_is(p->at[i].name, name))
            return &p->at[i];
    return NULL;
}

/* The value of a name: typed, set before, or the default of an option or field "X.NAME". */
static const char *value_of(const struct sp_python *p, const char *name, int *branch)
{
    const char *const dot = strrchr(name, '.');
    const struct known *known = find_known(p, name);
    const char *typed = sp_typed_value(p->names, name, strlen(name));
    if (dot && !typed)
        typed = sp_typed_value(p->names, dot + 1, strlen(dot + 1));
    if (dot && !known)
        known = find_known(p, dot);
    if (known && known->branch > 0 && !typed)
        *branch = known->branch;
    return typed ? typed : known ? known->value : NULL;
}

/* A sum of numbers and names; false where it is another thing. */
struct sum {
    const struct sp_python *p;
    const char *at, *end;
    int *branch, depth;
};
static bool add_up(struct sum *s, double *value);

static void skip(struct sum *s)
{
    while (s->at < s->end && isspace((unsigned char)*s->at))
        s->at++;
}

static bool term(struct sum *s, double *value)
{
    char word[64];
    size_t n = 0;
    skip(s);
    if (s->at < s->end && *s->at == '(') {
        s->at++;
        const bool ok = add_up(s, value);
        skip(s);
        return ok && s->at < s->end && *s->at++ == ')';
    }
    const bool number = s->at < s->end && isdigit((unsigned char)*s->at);
    while (
        s->at < s->end && n + 1 < sizeof word &&
        (is_letter(*s->at) || *s->at == '.' ||
         (number && strchr("+-", *s->at) && n > 0 && tolower((unsigned char)word[n - 1]) == 'e'))) {
        if (!number || *s->at != '_')
            word[n++] = *s->at;
        s->at++;
    }
    word[n] = '\0';
    char *stop;
    if (number) {
        *value = strtod(word, &stop);
        return *stop == '\0';
    }
    const char *const said = n > 0 && s->depth < DEEPEST ? value_of(s->p, word, s->branch) : NULL;
    if (!said)
        return false;
    struct sum inner = {s->p, said, said + strlen(said), s->branch, s->depth + 1};
    return add_up(&inner, value) && inner.at == inner.end;
}

static bool multiply(struct sum *s, double *value)
{
    double other;
    if (!term(s, value))
        return false;
    for (skip(s); s->at < s->end && strchr("*/", *s->at); skip(s)) {
        const char sign = *s->at;
        const bool twice = s->at + 1 < s->end && s->at[1] == sign;
        s->at += 1 + twice;
        if (!term(s, &other) || (sign == '/' && other == 0))
            return false;
        *value = sign == '*' ? (twice ? pow(*value, other) : *value * other)
                 : twice     ? floor(*value / other)
                             : *value / other;
    }
    return true;
}

static bool add_up(struct sum *s, double *value)
{
    double other;
    if (!multiply(s, value))
        return false;
    for (skip(s); s->at < s->end && strchr("+-", *s->at); skip(s)) {
        const char sign = *s->at++;
        if (!multiply(s, &other))
            return false;
        *value += sign == '+' ? other : -other;
    }
    return true;
}

static bool is_text_of(const char *from, const char *to, const char *end)
{
    const size_t n = strlen(end);
    return (size_t)(to - from) >= n && strncmp(to - n, end, n) == 0;
}

/* Whether an expression asks the machine for bf16 or for itself, which every chip here has: 1 yes,
 * 0 no (`not`), -1: it is another one. */
static int asks_for_bf16(const char *from, const char *to)
{
    const bool no = strncmp(from, "not ", 4) == 0;
    return is_text_of(from, to, "is_bf16_supported()") ||
                   is_text_of(from, to, "is_bfloat16_supported()") ||
                   is_text_of(from, to, "cuda.is_available()")
               ? !no
               : -1;
}

/* The first place of a text outside of quotes, or the end. */
static const char *find_word(const char *at, const char *end, const char *word)
{
    const size_t n = strlen(word);
    while (at < end && ((size_t)(end - at) < n || strncmp(at, word, n) != 0))
        at = sp_python_step(at, end);
    return at;
}

static bool evaluate(const struct sp_python *p, const char *from, const char *to, int depth,
                     int *branch, char *out, size_t size);

/* "A or B", "A == B": what it stands for where both sides are known. */
static bool takes_word(const struct sp_python *p, const char *from, const char *to, int depth,
                       int *branch, char *out, size_t size)
{
    char other[160];
    const char *const either = find_word(from, to, " or "),
                      *const same = find_word(from, to, " == "),
                      *const word = either < to ? either : same;
    if (word == to || depth >= DEEPEST || find_word(from, to, " if ") < to ||
        !evaluate(p, from, word, depth + 1, branch, out, size) ||
        !evaluate(p, word + 4, to, depth + 1, branch, other, sizeof other))
        return false;
    if (word == same)
        snprintf(out, size, "%s", sp_is(out, other) ? "true" : "false");
    else if (sp_has_word("None False 0 false", out) || !out[0])
        snprintf(out, size, "%s", other);
    return true;
}

/* Puts what an expression stands for; false if it is not known. */
static bool evaluate(const struct sp_python *p, const char *from, const char *to, int depth,
                     int *branch, char *out, size_t size)
{
    char name[96];
    double number;
    const char *const when = find_word(from, to, " if "), *const otherwise =
                                                              find_word(when, to, " else ");
    const int asked = when < otherwise ? asks_for_bf16(when + 4, otherwise) : -1,
              bf16 = asks_for_bf16(from, to);
    struct sum sum = {p, from, to, branch, 0};
    if (*from == '(' && depth < DEEPEST && sp_find_outside(from + 1, to, "") == to - 1) {
        const char *inner = from + 1, *end = to - 1;
        sp_trim_python(&inner, &end);
        return evaluate(p, inner, end, depth + 1, branch, out, size);
    }
    if (takes_word(p, from, to, depth, branch, out, size))
        return true;
    if (asked >= 0 && otherwise < to && depth < DEEPEST)
        return asked ? evaluate(p, from, when, depth + 1, branch, out, size)
                     : evaluate(p, otherwise + 6, to, depth + 1, branch, out, size);
    if (bf16 >= 0 && when == to) {
        snprintf(out, size, "%s", bf16 ? "true" : "false");
        return true;
    }
    snprintf(out, size, "%.*s", (int)(to - from), from);
    const char *const typed = sp_typed_value(p->names, out, strlen(out));
    if (typed) {
        snprintf(out, size, "%s", typed);
        return true;
    }
    if ((*from == '"' || *from == '\'') && sp_end_of_quotes(from, to) == to) {
        const int quotes = to - from >= 6 && from[1] == *from && from[2] == *from ? 3 : 1;
        snprintf(out, size, "%.*s", (int)(to - from) - 2 * quotes, from + quotes);
        return true;
    }
    if (*from == '[' || (*from == '-' && isdigit((unsigned char)from[1])) ||
        sp_has_word("True False None", out))
        return true;
    if (strncmp(from, "find_all_linear", 15) == 0) { /* QLoRA's search of the modules to adapt */
        snprintf(out, size, "all-linear");
        return true;
    }
    if (strncmp(from, "torch.", 6) == 0 && !strpbrk(out, "( ")) {
        memmove(out, out + 6, strlen(out + 6) + 1);
        return true;
    }
    if (add_up(&sum, &number) && sum.at == to) {
        snprintf(out, size, "%.17g", number);
        return true;
    }
    snprintf(name, sizeof name, "%s", out);
    char *const lower = strstr(name, ".lower()");
    if (lower && !lower[8])
        *lower = '\0';
    const char *const said =
        !strpbrk(name, " ()[]{}\"'") && depth < DEEPEST ? value_of(p, name, branch) : NULL;
    const bool known = said && !sp_is(said, name) &&
                       evaluate(p, said, said + strlen(said), depth + 1, branch, out, size);
    for (char *c = out; known && lower && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return known;
}

/* The names that an expression depends on. */
enum rest { KNOWN, UNKNOWN, CALL };

/* The name in an expression that nothing tells, which can be typed then: it has no value here, or
 * that of a call. */
static enum rest find_unknown(const struct sp_python *p, const char *from, const char *to,
                              int depth, char *out, size_t size)
{
    enum rest rest = KNOWN;
    for (const char *at = from, *end; at < to && rest == KNOWN; at = end) {
        char name[96];
        int branch;
        for (end = at; end < to && (is_letter(*end) || *end == '.');)
            end++;
        snprintf(name, sizeof name, "%.*s", (int)(end - at), at);
        if (end == at || isdigit((unsigned char)*at)) {
            end = end > at ? end : sp_python_step(at, to);
            rest = strchr("[(", *at) && at > from && is_letter(at[-1]) ? CALL : KNOWN;
            continue;
        }
        const char *const said = value_of(p, name, &branch);
        if (sp_has_word("None True False and or not if else in is", name))
            continue;
        if (end < to && strchr("[(", *end))
            return CALL;
        if (said && depth < DEEPEST)
            rest = find_unknown(p, said, said + strlen(said), depth + 1, out, size);
        if (!said || rest == CALL) {
            snprintf(out, size, "%s", name);
            rest = UNKNOWN;
        }
    }
    return rest;
}

bool sp_take_argument(const struct sp_python *p, const struct sp_call *call,
                      const struct sp_argument *argument, const char *name, struct sp_settings *s)
{
    char value[sizeof s->at->value], name_of[96];
    int branch = call->branch;
    const bool known = evaluate(p, argument->from, argument->to, 0, &branch, value, sizeof value);
    if (known && sp_is(value, "None") && branch == 0)
        return true; /* as if it were not there */
    if (!sp_add_setting(s, name, value))
        return false;
    struct sp_setting *const setting = &s->at[s->n - 1];
    setting->line = setting->gap_line = call->line;
    setting->cut = strlen(value) + 1 == sizeof value;
    if (!known) {
        snprintf(setting->gap, sizeof setting->gap, "%.*s",
                 (int)strcspn(value, "\n") < 47 ? (int)strcspn(value, "\n") : 47, value);
        if (find_unknown(p, argument->from, argument->to, 0, name_of, sizeof name_of) == UNKNOWN &&
            !sp_is(name_of, setting->gap) && strlen(name_of) < sizeof setting->by)
            snprintf(setting->by, sizeof setting->by, "%.31s", name_of);
    } else if (branch > 0)
        snprintf(setting->gap, sizeof setting->gap, "the branch of line %d", branch);
    return true;
}

static void define(struct sp_python *p, const char *name, const char *from, const char *to)
{
    sp_trim_python(&from, &to);
    if (p->n == MOST_NAMES || from >= to)
        return;
    struct known *const known = &p->at[p->n++];
    snprintf(known->name, sizeof known->name, "%s", name);
    snprintf(known->value, sizeof known->value, "%.*s", (int)(to - from), from);
    known->branch = p->branch;
}

/* Options of a parser, `add_argument("--NAME", default=VALUE)`: their defaults. Its attributes have
 * "_" where options have "-". */
static void define_option(struct sp_python *p, const struct sp_call *call)
{
    static const char off[] = "False";
    struct sp_argument argument = {0};
    char name[64] = "";
    for (const char *at = call->from; sp_next_argument(call, &at, &argument);) {
        const char *word = argument.from + strspn(argument.from, "\"'");
        if (!argument.keyword[0] && strncmp(word, "--", 2) == 0 && !name[0])
            snprintf(name, sizeof name, ".%.*s", (int)strcspn(word + 2, "\"'"), word + 2);
        else if (sp_is(argument.keyword, "default") && name[0])
            define(p, name, argument.from, argument.to);
        else if (is_text_of(argument.from, argument.to, "store_true\"") && name[0])
            define(p, name, off, off + strlen(off));
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : *c;
    }
}

/* The calls between two places, the outer ones first. */
static bool visit_calls(struct sp_python *p, const char *from, const char *to, const char *target)
{
    bool ok = true;
    for (const char *at = from; at < to && ok;) {
        if (!is_letter(*at) || (at > from && (is_letter(at[-1]) || at[-1] == '.'))) {
            at = sp_python_step(at, to);
            continue;
        }
        const char *end = at;
        while (end < to && (is_letter(*end) || *end == '.'))
            end++;
        if (end >= to || *end != '(') {
            at = end < to && (*end == '"' || *end == '\'') ? end : end > at ? end : at + 1;
            continue;
        }
        struct sp_call call = {.from = end + 1, .branch = p->branch, .line = p->line};
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
        ok = p->visit(p->to, p, &call);
        at = end + 1;
    }
    return ok;
}

/* "A, B = VALUE, VALUE" */
static void take_pairs(struct sp_python *p, const char *from, const char *to)
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

/* "NAME [: TYPE] = VALUE": the name is given it; a field's default, `field(default=VALUE)`, too. */
static bool take_statement(struct sp_python *p, const char *from, const char *to)
{
    char name[64] = "", field[64];
    const char *end = from;
    while (end < to && (is_letter(*end) || *end == '.'))
        end++;
    const char *equals = sp_find_outside(end, to, "=");
    const bool assigns =
        end > from && equals < to && equals[1] != '=' && !strchr("!<>+-*/%|&", equals[-1]) &&
        (strspn(end, " ") == (size_t)(equals - end) || end[strspn(end, " ")] == ':');
    if (end > from && end[strspn(end, " ")] == ',' && equals < to && equals[1] != '=')
        take_pairs(p, from, to);
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
            if (!p->visit(p->to, p, &put))
                return false;
        }
        if (p->named && !p->klass[0] && !p->function[0]) {
            const struct sp_call here = {.line = p->line, .branch = p->branch};
            const struct sp_argument argument = {.from = value, .to = stop};
            return sp_take_argument(p, &here, &argument, name, p->named);
        }
    }
    return !p->visit || visit_calls(p, from, to, name);
}

/* Parameters of a function: their defaults. */
static void define_parameters(struct sp_python *p, const char *from, const char *to)
{
    const struct sp_call call = {.from = from, .to = sp_find_outside(from, to, "")};
    for (const char *at = call.from; at < call.to;) {
        char name[64];
        const char *start = at, *end = sp_find_outside(at, call.to, ",");
        at = end < call.to ? end + 1 : call.to;
        sp_trim_python(&start, &end);
        const char *stop = start;
        while (stop < end && is_letter(*stop))
            stop++;
        const char *const equals = sp_find_outside(stop, end, "=");
        snprintf(name, sizeof name, "%.*s", (int)(stop - start), start);
        if (equals < end && name[0])
            define(p, name, equals + 1, end);
    }
}

static bool starts(const char *line, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(line, word, n) == 0 && !is_letter(line[n]);
}

/* The block that a line opens: a function, a class, a branch. */
static void follow(struct sp_python *p, const char *line, const char *to, size_t indent)
{
    static const char *const branches[] = {"if", "elif", "else", "for", "while", "except"};
    if (p->branch > 0 && indent <= p->branch_indent)
        p->branch = 0;
    if (indent == 0)
        p->function[0] = p->klass[0] = '\0';
    const bool async = starts(line, "async"), is_def = starts(line, "def") || async;
    const char *const name = line + (async ? 10 : is_def ? 4 : 6);
    if (is_def && name < to) {
        snprintf(p->function, sizeof p->function, "%.*s", (int)strcspn(name, "( :\n"), name);
        const char *const open = sp_find_outside(line, to, "(");
        if (open < to)
            define_parameters(p, open + 1, to);
    } else if (starts(line, "class") && name < to) {
        snprintf(p->klass, sizeof p->klass, "%.*s", (int)strcspn(name, "( :\n"), name);
    }
    for (size_t i = 0; i < sizeof branches / sizeof *branches && p->branch == 0; i++)
        if (starts(line, branches[i]) && strncmp(line, "if __name__", 11) != 0) {
            p->branch = p->line;
            p->branch_indent = indent;
        }
}

/* Reads a text statement by statement. */
static bool read_text(const char *text, const struct sp_typed_names *names, sp_visit *visit,
                      void *to, struct sp_settings *named)
{
    const char *const end = text + strlen(text);
    struct sp_python *const p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->names = names;
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
        if (stop > line && *line != '#') {
            follow(p, line, stop, indent);
            ok = take_statement(p, line, stop);
        }
        for (const char *c = at; c < stop; c++)
            p->line += *c == '\n';
        p->line += stop < end && *stop == '\n';
        at = stop < end ? stop + 1 : end;
    }
    free(p);
    return ok;
}

bool sp_read_calls(const char *text, const struct sp_typed_names *names, sp_visit *visit, void *to)
{
    return read_text(text, names, visit, to, NULL);
}

bool sp_read_names(const char *text, const struct sp_typed_names *names,
                   struct sp_settings *settings)
{
    return read_text(text, names, NULL, NULL, settings);
}
