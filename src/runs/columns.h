/* Columns of a file of runs, by the names that options and keys have, or by an older name. */
#ifndef SP_COLUMNS_H
#define SP_COLUMNS_H

#include "base/csv_table.h"

/* The column; below 0: there is none. */
int sp_run_column(const struct sp_csv *csv, const char *name);

/* The name that the file has for it; `name` where it has none. */
const char *sp_run_column_name(const struct sp_csv *csv, const char *name);

#endif
