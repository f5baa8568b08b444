/* Statistics of errors over the rows of a file of runs. */
#include "commands/error_statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "runs/group_error.h"

void sp_put_statistics(const struct sp_error_table *t, int column, const char *group)
{
    double *const errors = calloc(2 * t->n + 1, sizeof *errors);
    if (!errors)
        abort();
    for (int k = 0; k < t->kinds; k++) {
        const struct sp_error_kind *const kind = &t->kind[k];
        for (size_t i = 0; i < t->n; i++) {
            const bool counts = column < 0 || strcmp(sp_csv_cell(t->csv, i, column), group) == 0;
            errors[i] = counts ? kind->errors[i] : NAN;
        }
        double *const means = errors + t->n;
        const size_t n = sp_group_errors(errors, t->configuration, t->n, means);
        const struct sp_error_stats s = sp_summarise_errors(means, n);
        sp_put(t->report, kind->ids[0], (double)s.n);
        sp_put(t->report, kind->ids[1], 100 * s.median_abs);
        sp_put(t->report, kind->ids[2], 100 * s.mean_abs);
        sp_put(t->report, kind->ids[3], 100 * s.p90_abs);
        sp_put(t->report, kind->ids[4], 100 * s.bias);
    }
    free(errors);
}

static bool is_new(const struct sp_error_table *t, int column, size_t row)
{
    for (size_t k = 0; k < row; k++)
        if (strcmp(sp_csv_cell(t->csv, k, column), sp_csv_cell(t->csv, row, column)) == 0)
            return false;
    return true;
}

bool sp_put_statistics_by(const struct sp_error_table *t, const char *by,
                          const struct sp_column *columns, size_t n_columns, struct sp_error *error)
{
    const int column = sp_csv_column(t->csv, by);
    if (column < 0) {
        struct sp_nearest nearest = {.wanted = by};
        for (size_t i = 0; i < t->csv->columns; i++)
            sp_nearest_offer(&nearest, t->csv->cells[i]);
        return sp_fail(error, SP_INPUT, "--by %s: the file has no such column%s", sp_safe(by),
                       sp_nearest_hint(&nearest));
    }
    struct sp_row *const rows = calloc(t->n + 1, sizeof *rows);
    struct sp_column *const all = calloc(n_columns + 1, sizeof *all);
    if (!rows || !all)
        abort();
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const char *const group = sp_csv_cell(t->csv, i, column);
        if (!is_new(t, column, i))
            continue;
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "groups.%zu", n);
        snprintf(rows[n].label, sizeof rows[n].label, "%s", group[0] ? group : "(none)");
        sp_scope(t->report, rows[n].prefix);
        sp_put_text(t->report, SP_Q_VALIDATE_GROUP, "%s", group);
        sp_put_statistics(t, column, group);
        n++;
    }
    all[0] = (struct sp_column){NULL, by, true};
    memcpy(all + 1, columns, n_columns * sizeof *all);
    sp_line(t->report, " ");
    sp_table(t->report, all, n_columns + 1, rows, n);
    free(rows);
    free(all);
    return true;
}
