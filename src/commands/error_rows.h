/* Rows of error statistics, which `validate` and `calibrate` print. */
#ifndef SP_ERROR_ROWS_H
#define SP_ERROR_ROWS_H

#include "cli/command.h"
#include "runs/error_statistics.h"

/* The quantities of each kind's number, median, mean, 90th percentile and bias. */
struct sp_error_row_ids {
    enum sp_quantity_id n, median, mean, p90, bias;
};

/* Puts the statistics of the rows whose column has this value; of all rows where it is -1. */
void sp_put_statistics(struct sp_report *report, const struct sp_run_errors *errors,
                       const struct sp_error_row_ids *ids, int column, const char *value);

/* Puts them for each value of the column `by`, in the order of the file, and a table of `columns`
 * beside the values. */
bool sp_put_statistics_by(struct sp_report *report, const struct sp_run_errors *errors,
                          const struct sp_error_row_ids *ids, const char *by,
                          const struct sp_column *columns, size_t n_columns,
                          struct sp_error *error);

#endif
