/* Cells of a row of runs: texts, numbers, problems. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/runs_internal.h"

double sp_row_number(struct sp_row_reader *r, const char *column, double least, double most)
{
    const char *const text = sp_row_text(r, column);
    if (text[0] == '\0')
        return NAN;
    const double number = sp_is_decimal(text) ? strtod(text, NULL) : NAN;
    if (number == 0 || (number >= least && number <= most))
        return number;
    sp_row_problem(r->run, "%s \"%s\" is not a number from %g to %g",
                   sp_run_column_name(r->csv, column), sp_safe(text), least, most);
    return NAN;
}

const char *sp_row_text(const struct sp_row_reader *r, const char *column)
{
    return sp_csv_cell(r->csv, r->row, sp_run_column(r->csv, column));
}

int64_t sp_row_whole(struct sp_row_reader *r, const char *column, int64_t fallback)
{
    const double number = sp_row_number(r, column, 0, 1e12);
    if (isnan(number))
        return fallback;
    if (number == floor(number))
        return (int64_t)number;
    sp_row_problem(r->run, "%s %g is not whole", sp_run_column_name(r->csv, column), number);
    return fallback;
}

void sp_run_slug(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++) {
        if (isalnum((unsigned char)*text) || *text == '.')
            out[n++] = (char)tolower((unsigned char)*text);
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n > 0 && out[n - 1] == '-')
        n--;
    out[n] = '\0';
}

bool sp_has_words(const char *text, const char *words)
{
    const size_t n = strlen(words);
    for (const char *at = strcasestr(text, words); at; at = strcasestr(at + 1, words))
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]))
            return true;
    return false;
}

/* Marks a row as not predictable; the rest of the file is still read. */
void sp_row_problem(struct sp_run *run, const char *format, ...)
{
    if (run->problem[0] != '\0')
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->problem, sizeof run->problem, format, arguments);
    va_end(arguments);
}
