/* Evaluates a quantity's formula text with the values in its report. */
#ifndef SP_TEST_FORMULA_H
#define SP_TEST_FORMULA_H

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/report.h"

/*
 *   sum     = product (("+" | "-") product)*
 *   product = signed (("*" | "/") signed)*
 *   signed  = "-" signed | power
 *   power   = atom ("^" signed)?
 *   atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
 */
struct sp_formula {
    const struct sp_report *report;
    const struct sp_entry *entry; /* names: its arguments; NULL: keys */
    const char *at;
    char wrong[128]; /* what could not be parsed; "" if all was */
};

static double sp_formula_sum(struct sp_formula *f);

static inline double sp_formula_fail(struct sp_formula *f, const char *what, const char *name)
{
    if (!f->wrong[0])
        snprintf(f->wrong, sizeof f->wrong, "%s %s", what, name);
    return NAN;
}

static inline bool sp_formula_take(struct sp_formula *f, char wanted)
{
    while (isspace((unsigned char)*f->at))
        f->at++;
    if (*f->at != wanted)
        return false;
    f->at++;
    return true;
}

static inline double sp_formula_round(double x)
{
    return round(x);
}

static inline double sp_formula_call(struct sp_formula *f, const char *name)
{
    static const struct {
        const char *name;
        double (*of)(double);
    } functions[] = {{"sqrt", sqrt}, {"expm1", expm1}, {"ceil", ceil}, {"floor", floor},
                     {"log2", log2}, {"log10", log10}, {"log", log},   {"round", sp_formula_round},
                     {"exp", exp},   {"cos", cos},     {"abs", fabs}};
    double value = sp_formula_sum(f);
    const bool largest = strcmp(name, "max") == 0;
    if (largest || strcmp(name, "min") == 0) {
        while (sp_formula_take(f, ',')) {
            const double next = sp_formula_sum(f);
            value = isnan(next) || isnan(value) ? NAN
                    : largest                   ? fmax(value, next)
                                                : fmin(value, next);
        }
        return sp_formula_take(f, ')') ? value : sp_formula_fail(f, "no ) after", name);
    }
    if (!sp_formula_take(f, ')'))
        return sp_formula_fail(f, "no ) after", name);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].of(value);
    return sp_formula_fail(f, "unknown function", name);
}

static inline double sp_formula_atom(struct sp_formula *f)
{
    if (sp_formula_take(f, '(')) {
        const double value = sp_formula_sum(f);
        return sp_formula_take(f, ')') ? value : sp_formula_fail(f, "no ) before", f->at);
    }
    if (isdigit((unsigned char)*f->at) || *f->at == '.') {
        char *end;
        const double value = strtod(f->at, &end);
        f->at = end;
        return value;
    }
    char name[64];
    size_t n = 0;
    while ((isalnum((unsigned char)*f->at) || *f->at == '_' || *f->at == '.') &&
           n + 1 < sizeof name)
        name[n++] = *f->at++;
    name[n] = '\0';
    if (n == 0)
        return sp_formula_fail(f, "unexpected", f->at);
    if (sp_formula_take(f, '('))
        return sp_formula_call(f, name);
    const struct sp_entry *const key = f->entry ? NULL : sp_find(f->report, name);
    const double value = key        ? key->number
                         : f->entry ? sp_argument_value(f->report, f->entry, name, NULL, NULL)
                                    : NAN;
    return isnan(value) ? sp_formula_fail(f, "no value for", name) : value;
}

static inline double sp_formula_signed(struct sp_formula *f)
{
    if (sp_formula_take(f, '-'))
        return -sp_formula_signed(f);
    const double base = sp_formula_atom(f);
    return sp_formula_take(f, '^') ? pow(base, sp_formula_signed(f)) : base;
}

static inline double sp_formula_product(struct sp_formula *f)
{
    double value = sp_formula_signed(f);
    for (;;) {
        if (sp_formula_take(f, '*'))
            value *= sp_formula_signed(f);
        else if (sp_formula_take(f, '/'))
            value /= sp_formula_signed(f);
        else
            return value;
    }
}

static double sp_formula_sum(struct sp_formula *f)
{
    double value = sp_formula_product(f);
    for (;;) {
        if (sp_formula_take(f, '+'))
            value += sp_formula_product(f);
        else if (sp_formula_take(f, '-'))
            value -= sp_formula_product(f);
        else
            return value;
    }
}

/* The value of the entry's formula; `wrong` gets what could not be parsed. */
static inline double sp_formula_value(const struct sp_report *report, const struct sp_entry *entry,
                                      char *wrong, size_t size)
{
    char text[SP_FORMULA_TEXT];
    struct sp_formula f = {
        .report = report, .entry = entry, .at = sp_formula_text(entry->info->formula, text)};
    const double value = sp_formula_sum(&f);
    while (isspace((unsigned char)*f.at))
        f.at++;
    if (*f.at)
        sp_formula_fail(&f, "cannot read", f.at);
    snprintf(wrong, size, "%s", f.wrong);
    return value;
}

#endif
