/* Error statistics over the rows of a file of runs: of all, and by the values of a column. */
#ifndef SP_ERROR_STATISTICS_H
#define SP_ERROR_STATISTICS_H

#include <scaleplan/profile.h>

#include "base/csv_table.h"
#include "base/error.h"

/* The quantities that have errors: two for training, three for serving in the order of
 * sp_serving_measure. */
enum sp_error_kind {
    SP_ERRORS_OF_TIME,
    SP_ERRORS_OF_MEMORY,
    SP_ERRORS_OF_TPOT,
    SP_ERRORS_OF_TTFT,
    SP_ERRORS_OF_RATE,
    SP_ERROR_KINDS
};

/* The statistics of a kind. */
struct sp_kind_errors {
    enum sp_error_kind kind;
    struct sp_error_stats of;
};

/* Errors of several kinds as fractions, one per row (NAN: not counted). */
struct sp_run_errors {
    const struct sp_csv *csv;
    size_t n;           /* rows */
    int *configuration; /* per row; repeats of a configuration count once */
    int kinds;
    double *of_kind[SP_ERROR_KINDS];
};

/* Empty statistics; sp_free_run_errors. */
void sp_init_run_errors(struct sp_run_errors *e, const struct sp_csv *csv, size_t n, int kinds);
void sp_free_run_errors(struct sp_run_errors *errors);

/* Statistics of a kind over rows with this value in the column; over all rows for column -1. */
struct sp_error_stats sp_errors_of_rows(const struct sp_run_errors *errors, int kind, int column,
                                        const char *value);

/* Finds a column by name; false with an error that suggests the nearest. */
bool sp_find_column(const struct sp_csv *csv, const char *name, int *column,
                    struct sp_error *error);

/* Whether the row is the first with its value of the column. */
bool sp_is_first_of_value(const struct sp_run_errors *errors, int column, size_t row);

/* The rows that no kind counts. */
size_t sp_rows_without_error(const struct sp_run_errors *errors);

#endif
