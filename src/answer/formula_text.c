/* Rewrites C expressions as readable formulas. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "answer/quantity.h"

struct writer {
    char *out;
    size_t used;
};

static void put(struct writer *w, const char *text, size_t n)
{
    for (size_t i = 0; i < n && w->used + 1 < SP_FORMULA_TEXT; i++)
        w->out[w->used++] = text[i];
    w->out[w->used] = '\0';
}

/* Returns the end of a word of letters, digits and dots. */
static size_t word_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '.')
        n++;
    return n;
}

/* Returns the end of the argument that begins here: a comma or the closing parenthesis. */
static const char *argument_end(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
        if (depth == 0 && (*at == ',' || *at == ')'))
            return at;
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    }
    return at;
}

static void put_text(struct writer *w, const char *from, const char *end);

/* Writes an operand of a power: a single word unchanged, else in parentheses. */
static void put_operand(struct writer *w, const char *from, const char *end)
{
    const bool bare = from + word_length(from) == end;
    put(w, "(", !bare);
    put_text(w, from, end);
    put(w, ")", !bare);
}

/* Writes pow(a, b) as a^b; returns its end. */
static const char *put_power(struct writer *w, const char *at)
{
    const char *const base = at + strlen("pow("), *const comma = argument_end(base);
    const char *const power = comma + 1 + strspn(comma + 1, " "), *const end = argument_end(power);
    put_operand(w, base, comma);
    put(w, "^", 1);
    put_operand(w, power, end);
    return end + 1;
}

/* Writes a word for readers: max for fmax, 2 for 2.0, a form's own name for sp_NAME. */
static void put_word(struct writer *w, const char *word, size_t n)
{
    static const char *const said[][2] = {{"fmax", "max"}, {"fmin", "min"}, {"fabs", "abs"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strlen(said[i][0]) == n && strncmp(word, said[i][0], n) == 0) {
            put(w, said[i][1], strlen(said[i][1]));
            return;
        }
    const bool whole =
        isdigit((unsigned char)*word) && n > 2 && strncmp(word + n - 2, ".0", 2) == 0;
    const size_t prefix = strncmp(word, "sp_", 3) == 0 ? 3 : 0;
    put(w, word + prefix, n - prefix - (whole ? 2 : 0));
}

static void put_text(struct writer *w, const char *from, const char *end)
{
    for (const char *at = from; at < end;) {
        const size_t n = word_length(at);
        if (n == 3 && strncmp(at, "pow(", 4) == 0) {
            at = put_power(w, at);
        } else if (n > 0) {
            put_word(w, at, n);
            at += n;
        } else {
            put(w, at++, 1);
        }
    }
}

const char *sp_formula_text(const char *expression, char out[SP_FORMULA_TEXT])
{
    struct writer w = {.out = out};
    out[0] = '\0';
    put_text(&w, expression, expression + strlen(expression));
    return out;
}
