/* Lengths as they are typed: a number, a distribution, or a file of a trace. */
#include "config/lengths.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/text.h"
#include "config/world.h"

enum { MOST_NUMBERS = 2 };

static const struct {
    const char *name, *form;
    enum sp_lengths_kind kind;
    struct {
        double least, most;
    } number[MOST_NUMBERS]; /* most 0: it has no count */
} distributions[] = {
    {"lognormal", "lognormal:MEAN:SIGMA", SP_LENGTHS_LOGNORMAL, {{1, SP_MOST_TOKENS}, {0, 5}}},
    {"uniform", "uniform:A:B", SP_LENGTHS_UNIFORM, {{1, SP_MOST_TOKENS}, {1, SP_MOST_TOKENS}}},
    {"exponential", "exponential:MEAN", SP_LENGTHS_EXPONENTIAL, {{1, SP_MOST_TOKENS}}},
};
enum { DISTRIBUTIONS = sizeof distributions / sizeof *distributions };

/* A path has a slash or an ending that begins with a letter; "-" is standard input. */
static bool is_path(const char *text)
{
    const char *const dot = strrchr(text, '.');
    return strcmp(text, "-") == 0 || strchr(text, '/') || (dot && isalpha((unsigned char)dot[1]));
}

/* "512+": tokens before each length; returns the text after them, or `text` itself without them. */
static const char *take_plus(const char *text, double *plus)
{
    char piece[32];
    double tokens;
    const size_t n = strcspn(text, "+");
    sp_cut_text(text, n, piece, sizeof piece);
    if (!text[n] || !sp_parse_number(piece, &tokens) || tokens < 0)
        return text;
    *plus += tokens;
    return text + n + 1;
}

/* ":4096", where longer ones end; NULL: none. */
static const char *end_of_path(const char *text)
{
    double ignored;
    const char *const colon = strrchr(text, ':');
    return colon && sp_parse_number(colon + 1, &ignored) ? colon : NULL;
}

bool sp_names_lengths(const char *text)
{
    double ignored = 0;
    return take_plus(text, &ignored) != text || is_path(text) ||
           (strchr(text, ':') && isalpha((unsigned char)*text));
}

void sp_lengths_words(const struct sp_lengths *l, const char *text, char *words, size_t size)
{
    double ignored = 0;
    words[0] = '\0';
    if (l->plus > 0)
        sp_append(words, size, "%.15g+", l->plus);
    if (l->kind == SP_LENGTHS_TRACE || l->kind == SP_LENGTHS_FIXED) {
        const char *const own = take_plus(text, &ignored), *const end = end_of_path(own);
        sp_append(words, size, "%.*s", (int)(end ? end - own : (ptrdiff_t)strlen(own)), own);
    }
    for (size_t i = 0; i < DISTRIBUTIONS; i++)
        if (distributions[i].kind == l->kind)
            sp_append(words, size, "%s:%.15g", distributions[i].name, l->a);
    if (l->kind == SP_LENGTHS_LOGNORMAL || l->kind == SP_LENGTHS_UNIFORM)
        sp_append(words, size, ":%.15g", l->b);
    if (l->most > 0 && l->kind != SP_LENGTHS_FIXED)
        sp_append(words, size, ":%.15g", l->most - l->plus);
}

/* The last number: where longer ones end. */
static bool take_most(const char *piece, const char *what, const char *text, double *most,
                      struct sp_error *error)
{
    return (sp_parse_number(piece, most) && *most >= 1 && *most <= SP_MOST_TOKENS) ||
           sp_fail(error, SP_INPUT, "%s: \"%s\": the greatest length is from 1 to %d tokens", what,
                   sp_safe(text), SP_MOST_TOKENS);
}

static bool take_distribution(const char *text, const char *what, size_t which,
                              struct sp_lengths *l, struct sp_error *error)
{
    const char *rest = strchr(text, ':') + 1;
    double *const at[MOST_NUMBERS] = {&l->a, &l->b};
    char piece[64];
    *l = (struct sp_lengths){.kind = distributions[which].kind};
    for (int i = 0; i < MOST_NUMBERS && distributions[which].number[i].most > 0; i++) {
        const double least = distributions[which].number[i].least;
        const double most = distributions[which].number[i].most;
        if (!rest || !sp_next_piece(&rest, ':', piece, sizeof piece) ||
            !sp_parse_signed(piece, at[i]))
            return sp_fail(error, SP_INPUT, "%s: \"%s\": expected %s", what, sp_safe(text),
                           distributions[which].form);
        if (!(*at[i] >= least && *at[i] <= most))
            return sp_fail(error, SP_INPUT,
                           "%s: %s: %s is out of range, expected from %.0f to %.0f", what,
                           distributions[which].form, sp_safe(piece), least, most);
    }
    if (rest && sp_next_piece(&rest, ':', piece, sizeof piece) &&
        !take_most(piece, what, text, &l->most, error))
        return false;
    if (rest || (l->kind == SP_LENGTHS_UNIFORM && l->b < l->a))
        return sp_fail(error, SP_INPUT, "%s: \"%s\": expected %s%s", what, sp_safe(text),
                       distributions[which].form, rest ? "" : ", A at most B");
    return true;
}

static bool read_distribution(const char *text, const char *what, struct sp_lengths *l,
                              struct sp_error *error)
{
    char name[64];
    struct sp_nearest near = {.wanted = name};
    sp_cut_text(text, strcspn(text, ":"), name, sizeof name);
    for (size_t i = 0; i < DISTRIBUTIONS; i++) {
        if (strcmp(distributions[i].name, name) == 0)
            return take_distribution(text, what, i, l, error);
        sp_nearest_offer(&near, distributions[i].name);
    }
    return sp_fail(error, SP_INPUT, "%s: unknown distribution \"%s\"%s; expected %s", what,
                   sp_safe(name), sp_nearest_hint(&near), SP_LENGTHS_ACCEPTED);
}

static bool read_trace(const char *text, const char *what, enum sp_trace_column column,
                       const struct sp_sources *sources, struct sp_lengths *l,
                       const struct sp_trace **trace, struct sp_error *error)
{
    const char *const end = end_of_path(text);
    char path[SP_LENGTHS_TEXT];
    sp_cut_text(text, end ? (size_t)(end - text) : strlen(text), path, sizeof path);
    const struct sp_trace *const t =
        sp_read_trace(path, column, &sources->world->pipes, &sources->world->traces, error);
    if (!t)
        return false;
    if (!t->column[column])
        return sp_fail(error, SP_INPUT, "%s: %s has no column %s", what,
                       sp_safe(sp_origin_of(path)), sp_trace_column_name(column));
    *l = (struct sp_lengths){.kind = SP_LENGTHS_TRACE, .sorted = t->sorted[column], .n = t->n};
    if (trace)
        *trace = t;
    return !end || take_most(end + 1, what, text, &l->most, error);
}

static bool read_fixed(const char *text, const char *what, struct sp_lengths *l,
                       struct sp_error *error)
{
    double tokens;
    if (!sp_parse_number(text, &tokens) || tokens < 1 || tokens != floor(tokens))
        return sp_fail(error, SP_INPUT, "%s: \"%s\" is neither a whole number of tokens, %s", what,
                       sp_safe(text), SP_LENGTHS_ACCEPTED);
    *l = sp_fixed_length(tokens);
    return true;
}

bool sp_load_lengths(const char *text, const char *what, enum sp_trace_column column,
                     const struct sp_sources *sources, struct sp_lengths *l,
                     const struct sp_trace **trace, struct sp_error *error)
{
    double plus = 0;
    const char *const own = take_plus(text, &plus);
    const enum sp_trace_column of = own != text ? SP_TRACE_OUTPUT : column;
    if (trace)
        *trace = NULL;
    if (!(!sp_names_lengths(own) ? read_fixed(own, what, l, error)
          : is_path(own) && sources->world != NULL
              ? read_trace(own, what, of, sources, l, trace, error)
              : read_distribution(own, what, l, error)))
        return false;
    l->plus = plus;
    l->most += l->most > 0 ? plus : 0;
    sp_settle_lengths(l);
    return true;
}
