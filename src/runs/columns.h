/* Columns of a file of runs, by the names that options and keys have, or by an older name. */
#ifndef SP_COLUMNS_H
#define SP_COLUMNS_H

#include "base/csv_table.h"

struct sp_sources;

/* The column; below 0: none. */
int sp_run_column(const struct sp_csv *csv, const char *name);

/* The name that the file has for it; `name` if it has none. */
const char *sp_run_column_name(const struct sp_csv *csv, const char *name);

/* Whether a cell has decimal digits only: strtod also accepts "0x40" and " 64". */
bool sp_is_decimal(const char *cell);

/* Reads a CSV of runs; sp_csv_free() it. */
bool sp_read_run_csv(const char *path, const struct sp_sources *sources, struct sp_csv *csv,
                     struct sp_error *error);

/* Adds an error for each column of a list, which NULL ends, that the header lacks. */
void sp_need_columns(const struct sp_csv *csv, const char *path, const char *const *needed,
                     struct sp_error *error);

/* Writes the columns of a header that are not read, each with the nearest that is, if any is near;
 * returns how many. */
size_t sp_list_unread(const struct sp_csv *csv, char *out, size_t size);

#endif
