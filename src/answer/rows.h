/* Rows of a stream, as CSV or JSON lines. */
#ifndef SP_ROWS_H
#define SP_ROWS_H

#include <stdbool.h>
#include <stdio.h>

struct sp_cell {
    const char *name;
    const char *value; /* NULL: none */
    bool words;        /* text, not a number or a verdict */
    bool flat;         /* the name is not a path: JSON does not nest it */
};

/* Writes a cell of CSV (RFC 4180) or, with tabs as separator, of TSV, which has no quotes: a tab or
 * a line break in the text becomes a blank. With `guard`, an apostrophe keeps spreadsheets from
 * running text as a formula. */
void sp_write_cell(const char *text, bool guard, char separator, FILE *out);

/* Writes the names or values of cells, separated by commas or tabs. */
void sp_write_row(const struct sp_cell *cells, size_t n, bool names, char separator, FILE *out);

/* One object on one line. */
void sp_write_json_row(const struct sp_cell *cells, size_t n, FILE *out);

#endif
