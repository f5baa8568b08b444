/* Comma-separated tables, through libcsv. */
#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_table.h"
#include "base/memory.h"

struct reading {
    struct sp_csv *csv;
    size_t in_row, odd_rows; /* odd_rows: those with another number of cells than the header */
    const char *origin;
    struct sp_error *error;
};

/* Cells and the ends of their texts take no more than what they were read from. */
static void take_cell(void *text, size_t length, void *context)
{
    struct reading *r = context;
    struct sp_csv *csv = r->csv;
    csv->cell = sp_grow(csv->cell, csv->n_cells + 1, &csv->room, sizeof *csv->cell);
    csv->cell[csv->n_cells++] = (uint32_t)csv->length;
    if (length > 0)
        memcpy(csv->text + csv->length, text, length);
    csv->length += length;
    csv->text[csv->length++] = '\0';
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
    csv->text = sp_must(malloc(length + 2));
    const size_t read = csv_parse(&parser, text, length, take_cell, end_row, &reading);
    if (read != length || csv_fini(&parser, take_cell, end_row, &reading) != 0)
        sp_fail(error, SP_INPUT, "%s: row %zu: %s", sp_safe(origin), csv->rows,
                csv_error(&parser) == CSV_EPARSE ? "an unclosed quote, or a quote inside a cell"
                                                 : csv_strerror(csv_error(&parser)));
    csv_free(&parser);
    if (error->lines == lines && csv->rows == 0)
        sp_fail(error, SP_INPUT, "%s is empty; expected a header row and runs", sp_safe(origin));
    if (error->lines == lines)
        return true;
    sp_csv_free(csv);
    return false;
}

void sp_csv_free(struct sp_csv *csv)
{
    free(csv->text);
    free(csv->cell);
    *csv = (struct sp_csv){0};
}

const char *sp_csv_name(const struct sp_csv *csv, size_t column)
{
    return csv->text + csv->cell[column];
}

int sp_csv_column(const struct sp_csv *csv, const char *name)
{
    for (size_t c = 0; c < csv->columns; c++)
        if (strcmp(sp_csv_name(csv, c), name) == 0)
            return (int)c;
    return -1;
}

const char *sp_csv_cell(const struct sp_csv *csv, size_t row, int column)
{
    return column < 0 ? "" : csv->text + csv->cell[(row + 1) * csv->columns + (size_t)column];
}
