/* Words in braces: a{b,c} is "ab ac", {1..3} is "1 2 3". The text of a word is taken apart before
 * anything in it has a value. */
#include "launch/shell/braces.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/shell/word_ends.h"

enum { MOST_WORDS = 4096, DEEPEST = 16 };

struct braces {
    struct sp_shell_text *text;
    struct sp_shell_fields *words;
};

/* "FIRST..LAST..STEP" of whole numbers or of letters. */
struct sequence {
    long first, last, step;
    int width; /* of numbers with zeros in front; 0: none */
    bool letters;
};

static bool read_whole(const char **at, long *value)
{
    char *end;
    const char *const digits = *at + (**at == '-' || **at == '+');
    if (!isdigit((unsigned char)*digits) || strspn(digits, "0123456789") > 9)
        return false;
    *value = strtol(*at, &end, 10);
    *at = end;
    return true;
}

/* The width that zeros in front give to a number: "007" has three; 0: none. */
static int width_of(const char *at)
{
    const bool sign = *at == '-';
    const size_t digits = strspn(at + sign, "0123456789");
    return at[sign] == '0' && digits > 1 ? (int)digits + sign : 0;
}

static bool read_sequence(const char *at, size_t n, struct sequence *s)
{
    char copy[64];
    const char *c = copy;
    if (n >= sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)n, at);
    s->letters = isalpha((unsigned char)c[0]) && strncmp(c + 1, "..", 2) == 0;
    s->width = s->letters ? 0 : width_of(c);
    if (s->letters)
        s->first = (unsigned char)*c++;
    else if (!read_whole(&c, &s->first))
        return false;
    if (strncmp(c, "..", 2) != 0)
        return false;
    c += 2;
    const int other = s->letters ? 0 : width_of(c);
    s->width = other > s->width ? other : s->width;
    if (s->letters && isalpha((unsigned char)*c))
        s->last = (unsigned char)*c++;
    else if (s->letters || !read_whole(&c, &s->last))
        return false;
    s->step = 1;
    if (strncmp(c, "..", 2) == 0 && (c += 2, !read_whole(&c, &s->step)))
        return false;
    s->step = s->step == 0 ? 1 : labs(s->step);
    return *c == '\0';
}

static void take_apart(struct braces *b, const char *word, int depth);

/* The word with the text of an alternative in place of the braces, taken apart further. */
static void put_one(struct braces *b, const char *word, const char *open, const char *one, size_t n,
                    const char *behind, int depth)
{
    struct sp_shell_piece piece = {0};
    for (const char *c = word; c < open; c++)
        sp_shell_put(&piece, *c);
    for (size_t i = 0; i < n; i++)
        sp_shell_put(&piece, one[i]);
    sp_shell_puts(&piece, behind);
    take_apart(b, sp_shell_take(&piece, b->text), depth + 1);
}

static void put_sequence(struct braces *b, const char *word, const char *open,
                         const struct sequence *s, const char *behind, int depth)
{
    const long way = s->first <= s->last ? s->step : -s->step;
    for (long value = s->first; (way > 0 ? value <= s->last : value >= s->last) && !b->text->full;
         value += way) {
        char one[32];
        const int n = s->letters ? snprintf(one, sizeof one, "%c", (int)value)
                                 : snprintf(one, sizeof one, "%0*ld", s->width, value);
        put_one(b, word, open, one, (size_t)n, behind, depth);
    }
}

/* The brace that closes the one at `open`, and how many commas separate what is between them; NULL:
 * none closes it. */
static const char *end_of_braces(const char *open, int *commas)
{
    int inside = 0;
    *commas = 0;
    for (const char *c = open; *c; c = sp_shell_end_of_part(c)) {
        inside += *c == '{';
        inside -= *c == '}';
        if (inside == 0)
            return c;
        *commas += inside == 1 && *c == ',';
    }
    return NULL;
}

static void put_alternatives(struct braces *b, const char *word, const char *open,
                             const char *close, int depth)
{
    const char *from = open + 1;
    int inside = 0;
    for (const char *c = from; c <= close && !b->text->full; c = sp_shell_end_of_part(c)) {
        if ((*c == ',' && inside == 0) || c == close) {
            put_one(b, word, open, from, (size_t)(c - from), close + 1, depth);
            from = c + 1;
        }
        inside += *c == '{';
        inside -= *c == '}';
    }
}

/* Takes the first braces of a word apart that are a list or a sequence; others stay. */
static void take_apart(struct braces *b, const char *word, int depth)
{
    if (b->words->n >= MOST_WORDS || depth > DEEPEST)
        b->text->full = "4096 words in braces";
    if (b->text->full)
        return;
    for (const char *c = word; *c; c = sp_shell_end_of_part(c)) {
        struct sequence s;
        int commas;
        const char *const close = *c == '{' ? end_of_braces(c, &commas) : NULL;
        if (close && commas > 0) {
            put_alternatives(b, word, c, close, depth);
            return;
        }
        if (close && read_sequence(c + 1, (size_t)(close - c - 1), &s)) {
            put_sequence(b, word, c, &s, close + 1, depth);
            return;
        }
    }
    if (*word)
        sp_shell_add(b->words, word);
}

void sp_shell_unbrace(struct sp_shell_text *text, const char *word, struct sp_shell_fields *words)
{
    take_apart(&(struct braces){text, words}, word, 0);
}
