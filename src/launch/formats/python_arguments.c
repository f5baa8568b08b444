/* The arguments of a call in Python, with those of dicts after "**". */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/formats/python.h"
#include "launch/formats/python_text.h"

enum { DEEPEST = 8 };

/* Where a visit reports arguments, and the call that has them. Inside a dict the branch of the
 * call is that of the dict. */
struct visiting {
    const struct sp_python *p;
    struct sp_call call;
    sp_visit_argument *visit;
    void *to;
    int depth;
};
static bool visit_dict(const struct visiting *h, const char *from, const char *to);

static bool visit_one(const struct visiting *h, const char *keyword, size_t n, const char *from,
                      const char *to)
{
    struct sp_argument argument = {.from = from, .to = to};
    snprintf(argument.keyword, sizeof argument.keyword, "%.*s", (int)n, keyword);
    sp_trim_python(&argument.from, &argument.to);
    return h->visit(h->to, h->p, &h->call, &argument);
}

static bool visit_unknown(const struct visiting *h, const char *from, const char *to)
{
    return visit_one(h, "**", 2, from, to);
}

/* "KEY=VALUE, **DICT", or with `dict` "DICT, KEY=VALUE" too. */
static bool visit_keywords(const struct visiting *h, const char *from, const char *to, bool dict)
{
    const struct sp_call list = {.from = from, .to = to};
    struct sp_argument argument = {0};
    bool ok = true;
    for (const char *at = from; ok && sp_next_argument(&list, &at, &argument);)
        if (!argument.keyword[0] && (dict || sp_starts_with(argument.from, "**")))
            ok = visit_dict(h, argument.from, argument.to);
        else
            ok = h->visit(h->to, h->p, &h->call, &argument);
    return ok;
}

/* "K: V for K, V in DICT.items() if K in NAMES", from " for " on: the keys that a call knows. One
 * that leaves some out is unknown. */
static bool visit_loop(const struct visiting *h, const char *from, const char *to)
{
    static const char items[] = ".items()";
    const char *of = sp_after_python(from, to, " in "), *end = sp_find_python(of, to, " if ");
    const bool leaves_out = sp_find_python(end, to, " not in ") < to;
    sp_trim_python(&of, &end);
    return of < end && sp_ends_python(of, end, items) && !leaves_out
               ? visit_dict(h, of, end - (sizeof items - 1))
               : visit_unknown(h, of < end ? of : from, of < end ? end : to);
}

/* "KEY: VALUE, **DICT" */
static bool visit_items(const struct visiting *h, const char *from, const char *to)
{
    const char *const loop = sp_find_python(from, to, " for ");
    if (loop < to)
        return visit_loop(h, loop, to);
    bool ok = true;
    for (const char *at = from; ok && at < to;) {
        const char *item = at, *end = sp_find_outside(at, to, ",");
        at = end + 1;
        sp_trim_python(&item, &end);
        const char *const colon = sp_find_outside(item, end, ":");
        if (item >= end)
            continue;
        if (sp_starts_with(item, "**"))
            ok = visit_dict(h, item, end);
        else if (strchr("\"'", *item) && colon < end && sp_end_of_quotes(item, colon) > item + 1)
            ok = visit_one(h, item + 1, (size_t)(sp_end_of_quotes(item, colon) - item) - 2,
                           colon + 1, end);
        else
            ok = visit_unknown(h, item, end);
    }
    return ok;
}

/* The value of a name, and later values of its keys. */
static bool visit_name(const struct visiting *h, const char *from, const char *to)
{
    const struct sp_python *const p = h->p;
    struct visiting inner = *h;
    char name[sizeof p->at->name];
    const size_t n = (size_t)(to - from);
    snprintf(name, sizeof name, "%.*s", (int)n, from);
    int i = p->n - 1;
    while (i >= 0 && !sp_is(p->at[i].name, name))
        i--;
    if (i < 0 || p->at[i].parameter || n >= sizeof name)
        return visit_unknown(h, from, to);
    if (p->at[i].branch > 0)
        inner.call.branch = p->at[i].branch;
    bool ok = visit_dict(&inner, p->at[i].from, p->at[i].to);
    for (i++; i < p->n && ok; i++) {
        const struct sp_python_name *const key = &p->at[i];
        if (strncmp(key->name, name, n) != 0 || key->name[n] != '[')
            continue;
        inner.call.branch = key->branch > 0 ? key->branch : h->call.branch;
        if (sp_is(key->name + n, "[\"**\"]"))
            ok = visit_keywords(&inner, key->from, key->to, true);
        else
            ok =
                visit_one(&inner, key->name + n + 2, strlen(key->name + n) - 4, key->from, key->to);
    }
    return ok;
}

static bool is_name(const char *from, const char *to)
{
    while (from < to && (sp_is_python_letter(*from) || *from == '.'))
        from++;
    return from == to;
}

/* An expression of a dict: "**" before it is skipped. */
static bool visit_dict(const struct visiting *outer, const char *from, const char *to)
{
    struct visiting inner = *outer;
    const struct visiting *const h = &inner;
    from += sp_starts_with(from, "**") ? 2 : 0;
    sp_trim_python(&from, &to);
    const char *const when = sp_find_python(from, to, " if "), *const otherwise = sp_find_python(
                                                                   when, to, " else ");
    const bool call = sp_starts_with(from, "dict(");
    const size_t front = call ? 5 : 1;
    if (inner.depth++ == DEEPEST || from >= to)
        return visit_unknown(h, from, to);
    if (when < otherwise && otherwise < to) {
        const int truth = sp_python_truth(h->p, when + 4, otherwise);
        return truth < 0   ? visit_unknown(h, from, to)
               : truth > 0 ? visit_dict(h, from, when)
                           : visit_dict(h, otherwise + 6, to);
    }
    if (sp_ends_python(from, to, ".copy()"))
        to -= 7;
    if ((call || strchr("({", *from)) && sp_find_outside(from + front, to, "") == to - 1)
        return call           ? visit_keywords(h, from + front, to - 1, true)
               : *from == '{' ? visit_items(h, from + front, to - 1)
                              : visit_dict(h, from + front, to - 1);
    return is_name(from, to) ? visit_name(h, from, to) : visit_unknown(h, from, to);
}

bool sp_visit_arguments(const struct sp_python *python, const struct sp_call *call,
                        sp_visit_argument *visit, void *to)
{
    const struct visiting visiting = {.p = python, .call = *call, .visit = visit, .to = to};
    return visit_keywords(&visiting, call->from, call->to, false);
}
