/* Error statistics over the rows of a file of runs. */
#include "runs/error_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "runs/columns.h"
#include "runs/group_error.h"

void sp_init_run_errors(struct sp_run_errors *e, const struct sp_csv *csv, size_t n, int kinds)
{
    *e = (struct sp_run_errors){.csv = csv, .n = n, .kinds = kinds};
    const size_t errors = (size_t)kinds * n;
    e->configuration = sp_must(calloc(n + 1, sizeof *e->configuration));
    e->of_kind[0] = sp_must(calloc(errors + 1, sizeof(double))); /* one block, kind by kind */
    for (size_t i = 0; i < errors; i++)
        e->of_kind[0][i] = NAN;
    for (int k = 1; k < kinds; k++)
        e->of_kind[k] = e->of_kind[0] + (size_t)k * n;
}

void sp_free_run_errors(struct sp_run_errors *e)
{
    free(e->configuration);
    free(e->of_kind[0]);
}

struct sp_error_stats sp_errors_of_rows(const struct sp_run_errors *e, int kind, int column,
                                        const char *value)
{
    double *const errors = sp_must(calloc(2 * e->n + 1, sizeof *errors));
    for (size_t i = 0; i < e->n; i++) {
        const bool counts = column < 0 || strcmp(sp_csv_cell(e->csv, i, column), value) == 0;
        errors[i] = counts ? e->of_kind[kind][i] : NAN;
    }
    double *const means = errors + e->n;
    const size_t n = sp_group_errors(errors, e->configuration, e->n, means);
    const struct sp_error_stats stats = sp_summarise_errors(means, n);
    free(errors);
    return stats;
}

bool sp_find_column(const struct sp_csv *csv, const char *name, int *column, struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = name};
    *column = sp_run_column(csv, name);
    if (*column >= 0)
        return true;
    for (size_t i = 0; i < csv->columns; i++)
        sp_nearest_offer(&nearest, sp_csv_name(csv, i));
    return sp_fail(error, SP_INPUT, "--by %s: no such column in the file%s", sp_safe(name),
                   sp_nearest_hint(&nearest));
}

bool sp_is_first_of_value(const struct sp_run_errors *e, int column, size_t row)
{
    for (size_t k = 0; k < row; k++)
        if (strcmp(sp_csv_cell(e->csv, k, column), sp_csv_cell(e->csv, row, column)) == 0)
            return false;
    return true;
}

size_t sp_rows_without_error(const struct sp_run_errors *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        bool none = true;
        for (int k = 0; k < e->kinds; k++)
            none = none && isnan(e->of_kind[k][i]);
        n += none;
    }
    return n;
}
