/* Statistics of errors over the rows of a file of runs: of all, and by the values of a column. */
#ifndef SP_ERROR_STATISTICS_H
#define SP_ERROR_STATISTICS_H

#include <scaleplan/profile.h>

#include "base/csv_table.h"
#include "base/error.h"

enum { SP_ERROR_KINDS = 3 };

/* Errors of a few kinds, a fraction for each row (NAN: it does not count). */
struct sp_run_errors {
    const struct sp_csv *csv;
    size_t n;           /* rows */
    int *configuration; /* of each row; repeats of one count once */
    int kinds;
    double *of_kind[SP_ERROR_KINDS];
};

/* No row counts yet; free them. */
void sp_init_run_errors(struct sp_run_errors *e, const struct sp_csv *csv, size_t n, int kinds);
void sp_free_run_errors(struct sp_run_errors *errors);

/* Those of a kind over the rows whose column has this value; over all rows where it is -1. */
struct sp_error_stats sp_errors_of_rows(const struct sp_run_errors *errors, int kind, int column,
                                        const char *value);

/* The column of that name; false with an error that offers the nearest. */
bool sp_find_column(const struct sp_csv *csv, const char *name, int *column,
                    struct sp_error *error);

/* Whether no earlier row has this row's value of the column. */
bool sp_is_first_of_value(const struct sp_run_errors *errors, int column, size_t row);

#endif
