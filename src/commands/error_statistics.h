/* Statistics of errors over the rows of a file of runs: of all, and by the values of a column. */
#ifndef SP_CMD_ERROR_STATISTICS_H
#define SP_CMD_ERROR_STATISTICS_H

#include "base/csv_table.h"
#include "cli/command.h"

enum { SP_ERROR_KINDS = 3 };

/* Errors of one kind, a fraction for each row (NAN: it does not count), and the quantities of their
 * number, median, mean, 90th percentile and bias. */
struct sp_error_kind {
    const enum sp_quantity_id *ids;
    double *errors;
};

struct sp_error_table {
    struct sp_report *report;
    const struct sp_csv *csv;
    size_t n;           /* rows */
    int *configuration; /* of each row; repeats of one count once */
    int kinds;
    struct sp_error_kind kind[SP_ERROR_KINDS];
};

/* Puts the statistics of the rows whose column has this value; of all rows where it is -1. */
void sp_put_statistics(const struct sp_error_table *table, int column, const char *group);

/* Puts them for each value of the column `by`, in the order of the file, and a table of `columns`
 * beside the values. */
bool sp_put_statistics_by(const struct sp_error_table *table, const char *by,
                          const struct sp_column *columns, size_t n_columns,
                          struct sp_error *error);

#endif
