/* Sizes, counts and units as people type them. */
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Multiples of a unit that are no prefixes of other units. */
static const struct {
    const char *name, *unit;
    double multiple;
} multiples[] = {{"ms", "s", 1e-3},
                 {"us", "s", 1e-6},
                 {"min", "s", 60},
                 {"h", "s", 3600},
                 {"d", "s", 86400},
                 {"days", "s", 86400},
                 {"y", "s", 365 * 86400.0},
                 {"PF-days", "FLOPs", 8.64e19},
                 {"PF-day", "FLOPs", 8.64e19}};

/* Returns the multiplier of the prefix at *text and moves *text past it. K is refused: it means
 * 1000 to some and 1024 to others. k and Ki are accepted. */
static double take_prefix(const char **text)
{
    static const char letters[] = "kMGTPE";
    for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++)
        if (strcmp(*text, multiples[i].name) == 0) {
            *text = multiples[i].unit;
            return multiples[i].multiple;
        }
    const char *at = **text ? strchr(letters, **text == 'K' ? 'k' : **text) : NULL;
    if (!at)
        return 1;
    const int power = (int)(at - letters) + 1;
    if ((*text)[1] == 'i') {
        *text += 2;
        return ldexp(1, 10 * power);
    }
    if (**text == 'K')
        return 1; /* only Ki: a K without i is ambiguous */
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

bool sp_parse_signed(const char *text, double *value)
{
    const bool minus = text[0] == '-';
    double number;
    if (!sp_parse_number(text + minus, &number))
        return false;
    *value = minus ? -number : number;
    return true;
}

const char *sp_prefix_hint(const char *text)
{
    const char *const at = strchr(text, 'K'), *const rest = text + strspn(text, "0123456789.");
    return at && at[1] != 'i'                          ? "; k is 1000, Ki is 1024"
           : rest > text && strspn(rest, "mhsdwy") > 0 ? "; times are in s, min, h, d or y"
                                                       : "";
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

/* 7B is 7 billion here, never 7 bytes. */
bool sp_parse_count(const char *text, double *value)
{
    char digits[64];
    const size_t n = strlen(text);
    if (n < 2 || n >= sizeof digits || text[n - 1] != 'B' || !strchr("0123456789.", text[n - 2]))
        return sp_parse_number(text, value);
    snprintf(digits, sizeof digits, "%.*sG", (int)n - 1, text);
    return sp_parse_number(digits, value);
}

bool sp_parse_pair(const char *text, double pair[2])
{
    char first[64];
    const size_t n = strcspn(text, "x");
    if (text[n] != 'x' || n >= sizeof first)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)n, text);
    const char *const parts[2] = {first, text + n + 1};
    for (int i = 0; i < 2; i++) {
        if (!sp_parse_number(parts[i], &pair[i]) || *sp_unit_of_number(parts[i]) ||
            pair[i] != floor(pair[i]))
            return false;
    }
    return true;
}

int sp_parse_dims(const char *text, double *dims, int most)
{
    int n = 0;
    while (n < most) {
        if (!isdigit((unsigned char)*text))
            return 0;
        const char *const first = text;
        double dim = 0; /* exact: 15 digits are below 2^53 */
        while (isdigit((unsigned char)*text))
            dim = 10 * dim + (*text++ - '0');
        if (text - first > 15)
            dim = strtod(first, NULL);
        if (text - first > 31)
            return 0;
        dims[n++] = dim;
        if (*text == '\0')
            return n;
        if (*text++ != 'x')
            return 0;
    }
    return 0;
}

double sp_to_three_digits(double value, bool up)
{
    const double digit = pow(10, floor(log10(value)) - 2), whole = value / digit;
    if (!(value > 0) || isinf(value))
        return value;
    /* a value with exactly three digits must stay unchanged */
    return (up ? ceil(whole * (1 - 1e-12)) : floor(whole * (1 + 1e-12))) * digit;
}
