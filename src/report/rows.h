/* Rows of a stream, as CSV or JSON lines. */
#ifndef SP_ROWS_H
#define SP_ROWS_H

#include <stdbool.h>
#include <stdio.h>

struct sp_cell {
    const char *name;
    const char *value; /* NULL: none */
    bool words;        /* text, not a number or a verdict */
};

/* RFC 4180; text that a spreadsheet would run as a formula is kept from it by an apostrophe. */
void sp_write_csv_cell(const char *text, bool guard, FILE *out);

/* The cells' names, or their values. */
void sp_write_csv_row(const struct sp_cell *cells, size_t n, bool names, FILE *out);

/* One object on one line. */
void sp_write_json_row(const struct sp_cell *cells, size_t n, FILE *out);

#endif
