/* Values as written in a Python text. */
#include "launch/formats/python_values.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/truth.h"
#include "launch/formats/python_text.h"
#include "launch/formats/syntax.h"

enum { DEEPEST = 12 };

struct sp_python_name *sp_define_python(struct sp_python *p, const char *name, const char *from,
                                        const char *to)
{
    sp_trim_python(&from, &to);
    if (from >= to)
        return NULL;
    if (p->n >= SP_PYTHON_NAMES && (p->n & (p->n - 1)) == 0) /* full: it doubles */
        p->at = sp_must(realloc(p->at, 2 * (size_t)p->n * sizeof *p->at));
    struct sp_python_name *const known = &p->at[p->n++];
    *known = (struct sp_python_name){.from = from, .to = to};
    snprintf(known->name, sizeof known->name, "%s", name);
    return known;
}

static const struct sp_python_name *find_known(const struct sp_python *p, const char *name)
{
    for (int i = p->n - 1; i >= 0; i--)
        if (sp_is(p->at[i].name, name))
            return &p->at[i];
    return NULL;
}

/* A part of a text; none where `from` is NULL. `before`: for a name that its own value mentions,
 * the number of names before it; else 0. */
struct part {
    const char *from, *to;
    int before;
};

bool sp_mentions(const char *from, const char *to, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = from; at + n <= to; at++)
        if (strncmp(at, name, n) == 0 && (at == from || !sp_is_python_letter(at[-1])) &&
            (at + n == to || !sp_is_python_letter(at[n])))
            return true;
    return false;
}

/* Facts known where a part was written. */
static struct sp_python known_at(const struct sp_python *p, const struct part *part)
{
    struct sp_python then = *p;
    then.n = part->before > 0 ? part->before - 1 : p->n;
    return then;
}

/* The value of a name: typed, set before, or the default of an option or field "X.NAME". */
static struct part value_of(const struct sp_python *p, const char *name, int *branch)
{
    const char *const dot = strrchr(name, '.');
    const struct sp_python_name *known = find_known(p, name);
    const char *typed = sp_typed_value(p->names, name, strlen(name));
    if (dot && !typed)
        typed = sp_typed_value(p->names, dot + 1, strlen(dot + 1));
    if (typed)
        return (struct part){typed, typed + strlen(typed), 0};
    if (dot && !known)
        known = find_known(p, dot);
    if (known && known->branch > 0)
        *branch = known->branch;
    else if (known && known->parameter && !p->called && *branch == 0)
        *branch = -1;
    if (!known)
        return (struct part){0};
    const bool own = sp_mentions(known->from, known->to, known->name);
    return (struct part){known->from, known->to, own ? (int)(known - p->at) + 1 : 0};
}

bool sp_python_words(const struct sp_python *p, const char *name, const char **from,
                     const char **to)
{
    int branch = 0;
    const struct part part = value_of(p, name, &branch);
    *from = part.from;
    *to = part.to;
    return part.from != NULL;
}

/* The value of a key of "{KEY: VALUE}" or "dict(KEY=VALUE)". */
static struct part item_of(struct part dict, const char *key, size_t n)
{
    const bool call = strncmp(dict.from, "dict(", 5) == 0;
    struct part found = {0};
    if (!call && *dict.from != '{')
        return found;
    const char *at = dict.from + (call ? 5 : 1), *const last = dict.to - 1;
    while (at < last) {
        const char *from = at, *to = sp_find_outside(at, last, ",");
        at = to + 1;
        sp_trim_python(&from, &to);
        const char *const sign = sp_find_outside(from, to, call ? "=" : ":");
        const bool quoted = from < to && strchr("\"'", *from);
        if (sign < to && strncmp(from + quoted, key, n) == 0 &&
            (quoted ? from[n + 1] == *from : !sp_is_python_letter(from[n]))) {
            found = (struct part){sign + 1, to, 0};
            sp_trim_python(&found.from, &found.to);
        }
    }
    return found;
}

static bool evaluate(const struct sp_python *p, const char *from, const char *to, int depth,
                     int *branch, char *out, size_t size);
static int truth(const struct sp_python *p, const char *from, const char *to, int depth);

/* "NAME["KEY"]["KEY"]", "{KEY: VALUE}[NAME]": the value of a literal's key. */
static struct part subscript(const struct sp_python *p, const char *from, const char *to,
                             int *branch)
{
    char name[64];
    const char *at = sp_find_outside(from, to, "[");
    struct part value = {0};
    snprintf(name, sizeof name, "%.*s", (int)(at - from), from);
    if (at < to && at > from && !strpbrk(name, " ()"))
        value = value_of(p, name, branch);
    if (*from == '{') {
        at = sp_find_outside(from + 1, to, "");
        at += at < to;
        value = (struct part){from, at, 0};
    }
    if (value.from && sp_find_outside(at + 1, to, "") == to - 1 && strchr("\"'", at[1])) {
        char whole[96]; /* the value that the key was given later */
        snprintf(whole, sizeof whole, "%s[\"%.*s\"]", name, (int)(to - at) - 4, at + 2);
        const struct sp_python_name *const later = find_known(p, whole);
        if (later && later > find_known(p, name))
            return value_of(p, whole, branch);
    }
    while (value.from && at < to) {
        const char *const end = sp_find_outside(at + 1, to, ""), *const key = at + 1;
        const bool literal = strchr("\"'", *key) && sp_end_of_quotes(key, end) == end;
        char word[64] = "";
        if (literal)
            snprintf(word, sizeof word, "%.*s", (int)(end - key) - 2, key + 1);
        if (*at != '[' || (!literal && !evaluate(p, key, end, 1, branch, word, sizeof word)))
            return (struct part){0};
        value = item_of(value, word, strlen(word));
        at = end + 1;
    }
    return value;
}

/* A sum of numbers and names; false for any other expression. */
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
        s->depth++;
        const bool ok = s->depth < DEEPEST && add_up(s, value);
        s->depth--;
        skip(s);
        return ok && s->at < s->end && *s->at++ == ')';
    }
    const bool number = s->at < s->end && isdigit((unsigned char)*s->at);
    const char *const from = s->at;
    while (
        s->at < s->end && n + 1 < sizeof word &&
        (sp_is_python_letter(*s->at) || *s->at == '.' ||
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
    if (n > 0 && s->depth < DEEPEST && s->at < s->end && strchr("[(", *s->at)) {
        while (s->at < s->end && strchr("[(", *s->at)) /* NAME["KEY"], int(X) */
            s->at = sp_find_outside(s->at + 1, s->end, "") + 1;
        const bool told = s->at <= s->end &&
                          evaluate(s->p, from, s->at, s->depth + 1, s->branch, word, sizeof word);
        *value = strtod(word, &stop);
        return told && stop > word && *stop == '\0';
    }
    const struct part said =
        n > 0 && s->depth < DEEPEST ? value_of(s->p, word, s->branch) : (struct part){0};
    if (!said.from)
        return false;
    const struct sp_python then = known_at(s->p, &said);
    struct sum inner = {&then, said.from, said.to, s->branch, s->depth + 1};
    if (add_up(&inner, value) && inner.at == inner.end)
        return true;
    const bool known =
        evaluate(&then, said.from, said.to, s->depth + 1, s->branch, word, sizeof word);
    *value = strtod(word, &stop);
    return known && stop > word && *stop == '\0';
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
        s->at += s->at < s->end && *s->at == '='; /* "A //= B" */
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
        s->at += s->at < s->end && *s->at == '=';
        if (!multiply(s, &other))
            return false;
        *value += sign == '+' ? other : -other;
    }
    return true;
}

/* Whether an expression asks if the machine has bf16, or exists at all; every chip here does: 1
 * yes, 0 no (`not`), -1: another expression. */
static int asks_for_bf16(const char *from, const char *to)
{
    sp_trim_python(&from, &to);
    const bool no = strncmp(from, "not ", 4) == 0;
    to -= no && from[4] == '(' && to[-1] == ')';
    return sp_ends_python(from, to, "is_bf16_supported()") ||
                   sp_ends_python(from, to, "is_bfloat16_supported()") ||
                   sp_ends_python(from, to, "cuda.is_available()")
               ? !no
               : -1;
}

static const char world[] = "WORLD_SIZE";

/* Whether an expression is the number of processes, as launchers set it:
 * `int(os.environ.get("WORLD_SIZE", 1))`, `os.environ["WORLD_SIZE"]`. */
static bool asks_for_world(const char *from, const char *to)
{
    if (strncmp(from, "int(", 4) == 0 && to[-1] == ')')
        from += 4;
    from += strncmp(from, "os.", 3) == 0 ? 3 : 0;
    const size_t n = strncmp(from, "environ.get(", 12) == 0 ? 12
                     : strncmp(from, "environ[", 8) == 0    ? 8
                     : strncmp(from, "getenv(", 7) == 0     ? 7
                                                            : 0;
    return n > 0 && (size_t)(to - from) > n + sizeof world &&
           strncmp(from + n + 1, world, sizeof world - 1) == 0 &&
           strchr("\"'", from[n + sizeof world]);
}

/* The first place of a text outside of quotes, or the end. */
static const char *find_word(const char *at, const char *end, const char *word)
{
    const size_t n = strlen(word);
    while (at < end && ((size_t)(end - at) < n || strncmp(at, word, n) != 0))
        at = sp_python_step(at, end);
    return at;
}

/* "A or B", "A == B", "A != B": its value if both sides are known. */
static bool takes_word(const struct sp_python *p, const char *from, const char *to, int depth,
                       int *branch, char *out, size_t size)
{
    char other[160];
    const char *const either = find_word(from, to, " or "),
                      *const same = find_word(from, to, " == "),
                      *const other_than = find_word(from, to, " != "),
                      *const word = either < to ? either
                                    : same < to ? same
                                                : other_than;
    if (word == to || depth >= DEEPEST || find_word(from, to, " if ") < to ||
        !evaluate(p, from, word, depth + 1, branch, out, size))
        return false;
    if (word == either && out[0] && !sp_has_word("None False 0 false", out))
        return true;
    if (!evaluate(p, word + 4, to, depth + 1, branch, other, sizeof other))
        return false;
    if (word == same || word == other_than)
        snprintf(out, size, "%s", sp_is(out, other) == (word == same) ? "true" : "false");
    else
        snprintf(out, size, "%s", other);
    return true;
}

/* The value of an option, a question about the machine or a literal, else the text itself in `out`;
 * false for any other expression. */
static bool takes_literal(const struct sp_python *p, const char *from, const char *to, char *out,
                          size_t size)
{
    const char *const processes =
        asks_for_world(from, to) ? sp_typed_value(p->names, world, sizeof world - 1) : NULL;
    snprintf(out, size, "%.*s", (int)(to - from), from);
    const char *const dot = strpbrk(out, " ()[]{}\"'") ? NULL : strrchr(out, '.');
    const char *typed = processes ? processes
                        : isdigit((unsigned char)*from) /* a script's parameter is not a number */
                            ? NULL
                            : sp_typed_value(p->names, out, strlen(out));
    if (!typed && dot)
        typed = sp_typed_value(p->names, dot + 1, strlen(dot + 1));
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
    return false;
}

/* The value of a name, or of a key of a dict; `out` has its text. */
static bool takes_name(const struct sp_python *p, const char *from, const char *to, int depth,
                       int *branch, char *out, size_t size)
{
    char name[96];
    snprintf(name, sizeof name, "%s", out);
    char *const lower = strstr(name, ".lower()");
    if (lower && !lower[8])
        *lower = '\0';
    const char *const given = lower ? sp_typed_value(p->names, name, strlen(name)) : NULL;
    const struct part said = depth >= DEEPEST               ? (struct part){0}
                             : !strpbrk(name, " ()[]{}\"'") ? value_of(p, name, branch)
                                                            : subscript(p, from, to, branch);
    if (given)
        snprintf(out, size, "%s", given);
    const struct sp_python then = known_at(p, &said);
    const bool known = given || (said.from && said.from != from &&
                                 evaluate(&then, said.from, said.to, depth + 1, branch, out, size));
    for (char *c = out; known && lower && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return known;
}

/* The value of an expression in parentheses, or of "int(X)" and similar calls. */
static bool takes_inner(const struct sp_python *p, const char *from, const char *to, int depth,
                        int *branch, char *out, size_t size)
{
    const size_t cast = sp_python_cast(from, to);
    if (cast == 0 && sp_find_outside(from + 1, to - 1, ",") < to - 1) { /* a tuple, as a list */
        snprintf(out, size, "[%.*s]", (int)(to - from) - 2, from + 1);
        return true;
    }
    if (!evaluate(p, from + cast + 1, to - 1, depth + 1, branch, out, size))
        return false;
    char *end;
    const double number = strtod(out, &end);
    if (strncmp(from, "int(", 4) == 0 && *out && *end == '\0')
        snprintf(out, size, "%.17g", trunc(number));
    return true;
}

/* Puts the value of an expression; false if it is unknown. */
static bool evaluate(const struct sp_python *p, const char *from, const char *to, int depth,
                     int *branch, char *out, size_t size)
{
    double number;
    sp_trim_python(&from, &to);
    if (from >= to)
        return false;
    const char *const when = find_word(from, to, " if ");
    const char *const otherwise = when < to ? find_word(when + 4, to, " else ") : to;
    const bool choice = when < otherwise && otherwise < to && depth < DEEPEST,
               both = strncmp(from, "not ", 4) == 0 || find_word(from, to, " and ") < to;
    struct sum sum = {p, from, to, branch, depth};
    const bool wrapped = *from == '(' && sp_find_outside(from + 1, to, "") == to - 1,
               cast = sp_python_cast(from, to) > 0 && !asks_for_world(from, to);
    if (depth < DEEPEST && (wrapped || cast) && takes_inner(p, from, to, depth, branch, out, size))
        return true;
    if (takes_word(p, from, to, depth, branch, out, size))
        return true;
    const int asked = when < otherwise ? asks_for_bf16(when + 4, otherwise) : -1,
              bf16 = asks_for_bf16(from, to),
              chosen = asked < 0 && choice ? truth(p, when + 4, otherwise, depth + 1) : asked,
              holds = when < to || depth >= DEEPEST ? -1
                      : bf16 >= 0 || !both          ? bf16
                                                    : truth(p, from, to, depth + 1);
    if (choice && chosen >= 0)
        return chosen ? evaluate(p, from, when, depth + 1, branch, out, size)
                      : evaluate(p, otherwise + 6, to, depth + 1, branch, out, size);
    if (holds >= 0) {
        snprintf(out, size, "%s", holds ? "true" : "false");
        return true;
    }
    if (takes_literal(p, from, to, out, size))
        return true;
    if (add_up(&sum, &number) && sum.at == to) {
        snprintf(out, size, "%.17g", number);
        return true;
    }
    return takes_name(p, from, to, depth, branch, out, size);
}

const char *sp_find_python(const char *from, const char *to, const char *word)
{
    const size_t n = strlen(word);
    const char *at = sp_find_outside(from, to, " ");
    while (at < to && ((size_t)(to - at) <= n || strncmp(at, word, n) != 0))
        at = sp_find_outside(at + 1, to, " ");
    return at;
}

const char *sp_after_python(const char *from, const char *to, const char *word)
{
    const char *const at = sp_find_python(from, to, word);
    return at < to ? at + strlen(word) : to;
}

/* "A WORD B" of two truths: 1 where both are, or (`any`) one is. */
static int both(const struct sp_python *p, const char *from, const char *word, size_t n,
                const char *to, int depth)
{
    const bool any = n == 4;
    const int a = truth(p, from, word, depth + 1), b = truth(p, word + n, to, depth + 1);
    return a == any || b == any ? any : a < 0 || b < 0 ? -1 : !any;
}

/* "A is None", "A == B", "A in [B, C]" and their negations. */
static int compared(const struct sp_python *p, const char *from, const char *to, int depth)
{
    static const char *const signs[] = {" is not ", " is ", " != ", " == ", " not in ", " in "};
    char left[256], right[256];
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *end = sp_find_python(from, to, signs[i]), *other = end + strlen(signs[i]);
        int branch = 0;
        if (end >= to)
            continue;
        const char *stop = to;
        sp_trim_python(&from, &end);
        sp_trim_python(&other, &stop);
        const bool list = i > 3;
        if (!evaluate(p, from, end, depth, &branch, left, sizeof left) || branch != 0 ||
            (!list && !evaluate(p, other, stop, depth, &branch, right, sizeof right)) ||
            branch != 0 || (list && !strchr("[(", *other)))
            return -1;
        if (list)
            snprintf(right, sizeof right, "%.*s", (int)(stop - other), other);
        for (char *c = right; list && *c; c++)
            *c = strchr("[]()'\"", *c) ? ' ' : *c;
        return (list ? sp_has_word(right, left) : sp_is(left, right)) == (i % 2 == 1);
    }
    return -1;
}

/* Whether a condition holds: 1, 0, or -1 if unknown. */
static int truth(const struct sp_python *p, const char *from, const char *to, int depth)
{
    char value[256];
    int branch = 0;
    sp_trim_python(&from, &to);
    const char *const any = sp_find_python(from, to, " or "), *const all =
                                                                  sp_find_python(from, to, " and ");
    if (from >= to || depth >= DEEPEST)
        return -1;
    if (any < to)
        return both(p, from, any, 4, to, depth);
    if (all < to)
        return both(p, from, all, 5, to, depth);
    if (strncmp(from, "not ", 4) == 0) {
        const int inner = truth(p, from + 4, to, depth + 1);
        return inner < 0 ? -1 : !inner;
    }
    if (sp_find_python(from, to, " is ") < to || sp_find_python(from, to, " == ") < to ||
        sp_find_python(from, to, " != ") < to || sp_find_python(from, to, " in ") < to)
        return compared(p, from, to, depth);
    const char *const kind =
        strncmp(from, "isinstance(", 11) == 0 ? sp_find_outside(from + 11, to, ",") : to;
    if (!evaluate(p, from + (kind < to ? 11 : 0), kind, depth, &branch, value, sizeof value) ||
        branch != 0)
        return -1;
    if (kind < to) /* known values are texts */
        return sp_has_word("None True False", value) ? -1 : sp_ends_python(kind, to, "str)");
    return value[0] && !sp_has_word("None False false 0 [] {} ()", value);
}

int sp_python_truth(const struct sp_python *p, const char *from, const char *to)
{
    return truth(p, from, to, 0);
}

bool sp_starts_python(const char *line, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(line, word, n) == 0 && !sp_is_python_letter(line[n]);
}

int sp_python_branch(const struct sp_python *p, const char *name, const char *line, const char *to)
{
    const char *const typed = sp_typed_value(p->names, name, strlen(name));
    if (typed)
        return sp_yaml_truth(typed) != 0 ? 2 : 0;
    if (sp_starts_python(line, "else"))
        return 1;
    const char *const from = strchr(line, ' ');
    return from && from < to ? sp_python_truth(p, from, sp_find_outside(from, to, ":")) : -1;
}

bool sp_python_value(const struct sp_python *p, const char *from, const char *to, int *branch,
                     char *out, size_t size)
{
    return evaluate(p, from, to, 0, branch, out, size);
}

/* The facts on which an expression rests. */
enum rest { KNOWN, UNKNOWN, CALL };

/* The unknown name in an expression, which can be given a value: not one of this file, nor the
 * result of a call. */
static enum rest find_unknown(const struct sp_python *p, const char *from, const char *to,
                              int depth, char *out, size_t size)
{
    enum rest rest = KNOWN;
    for (const char *at = from, *end; at < to && rest == KNOWN; at = end) {
        char name[96];
        int branch = 0;
        for (end = at; end < to && (sp_is_python_letter(*end) || *end == '.');)
            end++;
        snprintf(name, sizeof name, "%.*s", (int)(end - at), at);
        if (end == at || isdigit((unsigned char)*at)) {
            end = end > at ? end : sp_python_step(at, to);
            rest = strchr("[(", *at) && at > from && sp_is_python_letter(at[-1]) ? CALL : KNOWN;
            continue;
        }
        const struct part said = value_of(p, name, &branch);
        if (sp_has_word("None True False and or not if else in is", name) ||
            strncmp(name, "torch.", 6) == 0)
            continue;
        if (said.from && said.to - said.from == 4 && strncmp(said.from, "None", 4) == 0 &&
            (size_t)(to - end) > 4 && strncmp(end, " or ", 4) == 0) {
            snprintf(out, size, "%s", name); /* one that replaces the rest */
            return UNKNOWN;
        }
        if (end < to && strchr("[(", *end))
            return CALL;
        if (said.from && depth < DEEPEST)
            rest = find_unknown(p, said.from, said.to, depth + 1, out, size);
        if (!said.from || rest == CALL) {
            snprintf(out, size, "%s", name);
            rest = UNKNOWN;
        }
    }
    return rest;
}

bool sp_find_untold(const struct sp_python *p, const char *from, const char *to, char *out,
                    size_t size)
{
    return find_unknown(p, from, to, 0, out, size) == UNKNOWN;
}
