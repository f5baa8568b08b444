/* Cells of a row of runs: texts, numbers, and why a row cannot be predicted. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/runs_internal.h"

/* Decimal digits alone: "0x40" and " 64" are numbers to strtod, but none that a log holds. */
static bool is_decimal(const char *text)
{
    char *end;
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    if (text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    strtod(text, &end);
    return end != text && *end == '\0';
}

bool sp_row_number(struct sp_row_reader *r, const char *column, double least, double most,
                   double *value)
{
    const char *const text = sp_row_text(r, column);
    *value = NAN;
    if (text[0] == '\0')
        return true;
    const double number = is_decimal(text) ? strtod(text, NULL) : NAN;
    if (!(number == 0 || (number >= least && number <= most)))
        return sp_fail(r->error, SP_INPUT,
                       "%s: row %zu, column %s: \"%s\" is not a number from %g to %g",
                       sp_safe(r->origin), r->row + 1, column, sp_safe(text), least, most);
    *value = number;
    return true;
}

const char *sp_row_text(const struct sp_row_reader *r, const char *column)
{
    return sp_csv_cell(r->csv, r->row, sp_csv_column(r->csv, column));
}

bool sp_row_whole(struct sp_row_reader *r, const char *column, int64_t fallback, int64_t *value)
{
    double number;
    if (!sp_row_number(r, column, 0, 1e12, &number))
        return false;
    if (!isnan(number) && number != floor(number))
        return sp_fail(r->error, SP_INPUT, "%s: row %zu, column %s: %g is not whole",
                       sp_safe(r->origin), r->row + 1, column, number);
    *value = isnan(number) ? fallback : (int64_t)number;
    return true;
}

bool sp_row_problem(struct sp_run *run, const char *format, ...)
{
    if (run->problem[0] != '\0')
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->problem, sizeof run->problem, format, arguments);
    va_end(arguments);
    return false;
}
