/* Comma-separated tables, through libcsv. */
#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_table.h"

struct reading {
    struct sp_csv *csv;
    size_t in_row, odd_rows; /* odd_rows: those with another number of cells than the header */
    const char *origin;
    struct sp_error *error;
};

static void take_cell(void *text, size_t length, void *context)
{
    struct reading *r = context;
    struct sp_csv *csv = r->csv;
    if (csv->n_cells == csv->room) {
        csv->room = csv->room ? 2 * csv->room : 1024;
        char **const larger = realloc(csv->cells, csv->room * sizeof *csv->cells);
        if (!larger)
            abort();
        csv->cells = larger;
    }
    char *cell = calloc(length + 1, 1);
    if (!cell)
        abort();
    if (length > 0)
        memcpy(cell, text, length);
    csv->cells[csv->n_cells++] = cell;
    r->in_row++;
}

static void end_row(int terminator, void *context)
{
    (void)terminator;
    struct reading *r = context;
    struct sp_csv *csv = r->csv;
    if (csv->rows == 0)
        csv->columns = r->in_row;
    else if (r->in_row != csv->columns && r->odd_rows++ == 0)
        sp_fail(r->error, SP_INPUT, "%s: row %zu has %zu fields; the header has %zu",
                sp_safe(r->origin), csv->rows, r->in_row, csv->columns);
    csv->rows++;
    r->in_row = 0;
}

bool sp_read_csv(const char *text, size_t length, const char *origin, struct sp_csv *csv,
                 struct sp_error *error)
{
    *csv = (struct sp_csv){0};
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        abort();
    struct reading reading = {csv, 0, 0, origin, error};
    const int lines = error->lines;
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    const size_t read = csv_parse(&parser, text, length, take_cell, end_row, &reading);
    if (read != length || csv_fini(&parser, take_cell, end_row, &reading) != 0)
        sp_fail(error, SP_INPUT, "%s: row %zu: %s", sp_safe(origin), csv->rows,
                csv_error(&parser) == CSV_EPARSE
                    ? "a quote that is never closed, or that stands in the middle of a cell"
                    : csv_strerror(csv_error(&parser)));
    csv_free(&parser);
    if (error->lines == lines && csv->rows == 0)
        sp_fail(error, SP_INPUT, "%s: empty; expected a header row and runs", sp_safe(origin));
    if (error->lines == lines)
        return true;
    sp_csv_free(csv);
    return false;
}

void sp_csv_free(struct sp_csv *csv)
{
    for (size_t i = 0; i < csv->n_cells; i++)
        free(csv->cells[i]);
    free(csv->cells);
    *csv = (struct sp_csv){0};
}

int sp_csv_column(const struct sp_csv *csv, const char *name)
{
    for (size_t c = 0; c < csv->columns; c++)
        if (strcmp(csv->cells[c], name) == 0)
            return (int)c;
    return -1;
}

const char *sp_csv_cell(const struct sp_csv *csv, size_t row, int column)
{
    return column < 0 ? "" : csv->cells[(row + 1) * csv->columns + (size_t)column];
}
