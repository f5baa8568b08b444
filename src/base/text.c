#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

/* The multiplier of a prefix at *text, which is moved past it. */
static double take_prefix(const char **text)
{
    static const char letters[] = "kMGTPE";
    const char *at = **text ? strchr(letters, **text == 'K' ? 'k' : **text) : NULL;
    if (!at)
        return 1;
    const int power = (int)(at - letters) + 1;
    if ((*text)[1] == 'i') {
        *text += 2;
        return ldexp(1, 10 * power);
    }
    if (**text == 'K')
        return 1; /* only Ki: a lone K is neither 1000 nor 1024 to everybody */
    *text += 1;
    return pow(1000, power);
}

static bool is_unit(const char *text)
{
    static const char *const units[] = {"",       "B", "B/s", "FLOPs", "FLOP/s",
                                        "tokens", "s", "Hz",  "W"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i]) == 0)
            return true;
    return false;
}

bool sp_parse_number(const char *text, double *value)
{
    if (strspn(text, "0123456789.") == 0 || text[0] == '\0')
        return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return false;
    char *end;
    double number = strtod(text, &end);
    if (end == text)
        return false;
    if (strcmp(end, "%") == 0) {
        number /= 100;
    } else {
        const char *rest = end;
        number *= take_prefix(&rest);
        if (!is_unit(rest))
            return false;
    }
    if (!isfinite(number))
        return false;
    *value = number;
    return true;
}

const char *sp_unit_of_number(const char *text)
{
    char *end;
    strtod(text, &end);
    const char *rest = end;
    if (strcmp(rest, "%") != 0)
        take_prefix(&rest);
    return rest;
}

bool sp_parse_count(const char *text, double *value)
{
    char digits[64];
    const size_t n = strlen(text);
    if (n < 2 || n >= sizeof digits || text[n - 1] != 'B' || !strchr("0123456789.", text[n - 2]))
        return sp_parse_number(text, value);
    snprintf(digits, sizeof digits, "%.*sG", (int)n - 1, text);
    return sp_parse_number(digits, value);
}

int sp_parse_dims(const char *text, double *dims, int most)
{
    int n = 0;
    while (n < most) {
        if (!isdigit((unsigned char)*text))
            return 0;
        char number[32];
        const size_t length = strspn(text, "0123456789");
        if (length >= sizeof number || length == 0)
            return 0;
        memcpy(number, text, length);
        number[length] = '\0';
        dims[n++] = strtod(number, NULL);
        text += length;
        if (*text == '\0')
            return n;
        if (*text++ != 'x')
            return 0;
    }
    return 0;
}

/* Names are compared up to here. */
enum { LONGEST_NAME = 63 };

/* Edits (insert, delete, replace, swap neighbours) between two short names, letters' case ignored.
 */
static size_t edit_distance(const char *a, const char *b)
{
    static size_t rows[3][LONGEST_NAME + 1];
    const size_t n = strnlen(a, LONGEST_NAME), m = strnlen(b, LONGEST_NAME);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t cost = last[j - 1] + (x != y);
            if (last[j] + 1 < cost)
                cost = last[j] + 1;
            if (now[j - 1] + 1 < cost)
                cost = now[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < cost)
                cost = before[j - 2] + 1;
            now[j] = cost;
        }
        size_t *const oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

void sp_nearest_offer(struct sp_nearest *nearest, const char *candidate)
{
    const size_t distance = edit_distance(nearest->wanted, candidate);
    if (nearest->best[0] && distance >= nearest->distance)
        return;
    nearest->distance = distance;
    snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
}

const char *sp_nearest_hint(const struct sp_nearest *nearest)
{
    static char hint[160];
    const size_t length = strnlen(nearest->wanted, LONGEST_NAME);
    hint[0] = '\0';
    if (nearest->best[0] && nearest->distance <= (length < 4 ? 1 : 1 + length / 3))
        snprintf(hint, sizeof hint, "; did you mean \"%s\"?", sp_safe(nearest->best));
    return hint;
}

size_t sp_utf8_length(const unsigned char *s, size_t left)
{
    static const struct {
        unsigned char low, high, second_low, second_high, length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (s[0] < forms[i].low || s[0] > forms[i].high || forms[i].length > left)
            continue;
        if (forms[i].length > 1 && (s[1] < forms[i].second_low || s[1] > forms[i].second_high))
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if (s[k] < 0x80 || s[k] > 0xbf)
                return 0;
        return forms[i].length;
    }
    return 0;
}

/* Characters of three bytes, from e2 80 .. on: marks and overrides of writing direction, and line
 * separators. */
static bool is_hidden(const unsigned char *s)
{
    static const unsigned char ranges[][3] = {
        {0x80, 0x8e, 0x8f}, {0x80, 0xa8, 0xae}, {0x81, 0xa6, 0xa9}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (s[1] == ranges[i][0] && s[2] >= ranges[i][1] && s[2] <= ranges[i][2])
            return s[0] == 0xe2;
    return false;
}

/* Controls of C0 and C1, DEL, and what breaks lines or turns the direction of writing unseen: they
 * steer a terminal, or make text look like other text. `n` is the length of the sequence. */
static bool is_control(const unsigned char *s, size_t n)
{
    if (n == 1)
        return s[0] < 0x20 || s[0] == 0x7f;
    if (n == 2)
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    return n == 3 && is_hidden(s);
}

/* The first sequence at or after *s that is not to be printed, of *n bytes; NULL: none. */
static unsigned char *find_unprintable(unsigned char *s, const char *keep, size_t *n)
{
    for (size_t left = strlen((char *)s); left > 0; s += *n, left -= *n) {
        const size_t length = sp_utf8_length(s, left);
        *n = length > 0 ? length : 1;
        if ((length == 0 || is_control(s, *n)) && !strchr(keep, *s))
            return s;
    }
    return NULL;
}

bool sp_is_printable(const char *text, const char *keep)
{
    size_t n;
    return !find_unprintable((unsigned char *)text, keep, &n);
}

void sp_make_printable(char *text, const char *keep)
{
    size_t n;
    for (unsigned char *s = (unsigned char *)text; (s = find_unprintable(s, keep, &n)); s += n)
        memset(s, '?', n);
}
