/* Rows of error statistics, which `validate` and `calibrate` print. */
#include "commands/error_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sp_put_statistics(struct sp_report *r, const struct sp_run_errors *errors,
                       const struct sp_error_row_ids *ids, int column, const char *value)
{
    for (int k = 0; k < errors->kinds; k++) {
        const struct sp_error_stats s = sp_errors_of_rows(errors, k, column, value);
        sp_put(r, ids[k].n, (double)s.n);
        sp_put(r, ids[k].median, 100 * s.median_abs);
        sp_put(r, ids[k].mean, 100 * s.mean_abs);
        sp_put(r, ids[k].p90, 100 * s.p90_abs);
        sp_put(r, ids[k].bias, 100 * s.bias);
    }
}

bool sp_put_statistics_by(struct sp_report *r, const struct sp_run_errors *errors,
                          const struct sp_error_row_ids *ids, const char *by,
                          const struct sp_column *columns, size_t n_columns, struct sp_error *error)
{
    int column;
    if (!sp_find_column(errors->csv, by, &column, error))
        return false;
    struct sp_row *const rows = calloc(errors->n + 1, sizeof *rows);
    struct sp_column *const all = calloc(n_columns + 1, sizeof *all);
    if (!rows || !all)
        abort();
    size_t n = 0;
    for (size_t i = 0; i < errors->n; i++) {
        const char *const value = sp_csv_cell(errors->csv, i, column);
        if (!sp_is_first_of_value(errors, column, i))
            continue;
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "groups.%zu", n);
        snprintf(rows[n].label, sizeof rows[n].label, "%s", value[0] ? value : "(none)");
        sp_scope(r, rows[n].prefix);
        sp_put_text(r, SP_Q_VALIDATE_GROUP, "%s", value);
        sp_put_statistics(r, errors, ids, column, value);
        n++;
    }
    all[0] = (struct sp_column){NULL, by, true};
    memcpy(all + 1, columns, n_columns * sizeof *all);
    sp_line(r, " ");
    sp_table(r, all, n_columns + 1, rows, n);
    free(rows);
    free(all);
    return true;
}
