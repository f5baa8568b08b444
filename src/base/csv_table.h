/* Comma-separated tables with a header row, read through libcsv. */
#ifndef SP_CSV_H
#define SP_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sp_csv {
    char *text;    /* the cells, one after the other */
    uint32_t *row; /* where the first cell of each row begins, the header first */
    size_t columns, rows, room, length;
    size_t kept, given; /* of the forgotten rows: the end of what is left, and of what was
                           freed */
};

/* Parses a whole file's text, of less than 4 GiB, in its place: takes the text, which malloc made
 * with a byte to spare. Every row must have as many cells as the header. Free the result. */
bool sp_read_csv(char *text, size_t length, const char *origin, struct sp_csv *csv,
                 struct sp_error *error);
void sp_csv_free(struct sp_csv *csv);

#ifdef __wasi__
enum { SP_FORGETS = 0 }; /* a page has no such file, and every byte of its code counts */
#else
enum { SP_FORGETS = 1 };
#endif

/* Empties the cells of row `row`, but for one column (-1: none), and gives back their room. Rows
 * are forgotten in order, from the first. */
void sp_csv_forget(struct sp_csv *csv, size_t row, int column);

/* Number of the column of that name, or -1. */
int sp_csv_column(const struct sp_csv *csv, const char *name);

/* The name of a column. */
const char *sp_csv_name(const struct sp_csv *csv, size_t column);

/* A cell; row 0 is the first after the header. "" for column -1. */
const char *sp_csv_cell(const struct sp_csv *csv, size_t row, int column);

#endif
