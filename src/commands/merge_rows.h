/* The rows of a sweep's parts, joined. */
#ifndef SP_MERGE_ROWS_H
#define SP_MERGE_ROWS_H

#include <stdio.h>

#include "base/read_file.h"

enum { SP_MOST_PART_BYTES = 1 << 30 };

/* Whether a text starts as the rows of a sweep do: CSV with its header, or JSON lines. */
bool sp_holds_rows(const char *text);

/* Reads the parts (CSV or JSON lines, each in the order of its rows), checks all of it and then
 * writes the rows in order: nothing when something is wrong. A row that no part has is an error
 * unless there may be `gaps`. */
bool sp_merge_rows(struct sp_pipes *pipes, const char *const *names, int n, bool gaps, FILE *out,
                   struct sp_error *error);

#endif
