/* Comma-separated tables, through libcsv. */
#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_table.h"
#include "base/memory.h"

struct reading {
    struct sp_csv *csv;
    size_t in_row, odd_rows; /* odd_rows: rows whose number of cells differs from the header's */
    size_t zeros;            /* cells with a NUL */
    const char *origin;
    struct sp_error *error;
};

/* Cells and the ends of their texts take no more room than the text that was read, so they replace
 * it. Pointers to all of them would take as much again, so only those of the rows are kept. */
static void take_cell(void *text, size_t length, void *context)
{
    struct reading *r = context;
    struct sp_csv *csv = r->csv;
    if (length > 0 && memchr(text, '\0', length)) /* it would count as two */
        r->zeros++;
    if (r->in_row++ == 0) {
        csv->row = sp_grow(csv->row, csv->rows + 1, &csv->room, sizeof *csv->row);
        csv->row[csv->rows] = (uint32_t)csv->length;
    }
    if (length > 0)
        memcpy(csv->text + csv->length, text, length); /* out of the parser's own room */
    csv->length += length;
    csv->text[csv->length++] = '\0';
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

bool sp_read_csv(char *text, size_t length, const char *origin, struct sp_csv *csv,
                 struct sp_error *error)
{
    *csv = (struct sp_csv){.text = text};
    const size_t header = strcspn(text, "\r\n");
    if (!memchr(text, ',', header) && memchr(text, ';', header)) {
        sp_csv_free(csv);
        return sp_fail(error, SP_INPUT, "%s: semicolons in the header; expected commas",
                       sp_safe(origin));
    }
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        abort();
    struct reading reading = {.csv = csv, .origin = origin, .error = error};
    const int lines = error->lines;
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    const size_t read = csv_parse(&parser, text, length, take_cell, end_row, &reading);
    if (read != length || csv_fini(&parser, take_cell, end_row, &reading) != 0)
        sp_fail(error, SP_INPUT, "%s: row %zu: %s", sp_safe(origin), csv->rows,
                csv_error(&parser) == CSV_EPARSE ? "an unclosed quote, or a quote inside a cell"
                                                 : csv_strerror(csv_error(&parser)));
    csv_free(&parser);
    if (reading.zeros > 0)
        sp_fail(error, SP_INPUT, "%s: a cell has a zero byte", sp_safe(origin));
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
    free(csv->row);
    *csv = (struct sp_csv){0};
}

/* What is left of a row follows what is left of the rows before it. */
void sp_csv_forget(struct sp_csv *csv, size_t row, int column)
{
    if (row == 0)
        csv->kept = csv->row[1];
    char *to = csv->text + csv->kept;
    const char *cell = csv->text + csv->row[row + 1];
    csv->row[row + 1] = (uint32_t)(to - csv->text);
    for (size_t c = 0; c < csv->columns; c++) {
        const size_t n = strlen(cell) + 1;
        if ((int)c == column)
            to = (char *)memmove(to, cell, n) + n;
        else
            *to++ = '\0';
        cell += n;
    }
    csv->kept = (size_t)(to - csv->text);
    const size_t from = csv->given > csv->kept ? csv->given : csv->kept;
    const size_t end = (size_t)(cell - csv->text);
    enum { WORTHWHILE = 1 << 18 };
    if (end > from + WORTHWHILE) {
        sp_give_back(csv->text + from, end - from);
        csv->given = end;
    }
}

static const char *cell_of(const struct sp_csv *csv, size_t row, size_t column)
{
    const char *cell = csv->text + csv->row[row];
    while (column-- > 0)
        cell += strlen(cell) + 1;
    return cell;
}

const char *sp_csv_name(const struct sp_csv *csv, size_t column)
{
    return cell_of(csv, 0, column);
}

int sp_csv_column(const struct sp_csv *csv, const char *name)
{
    const char *at = csv->text;
    for (size_t c = 0; c < csv->columns; c++, at += strlen(at) + 1)
        if (strcmp(at, name) == 0)
            return (int)c;
    return -1;
}

const char *sp_csv_cell(const struct sp_csv *csv, size_t row, int column)
{
    return column < 0 ? "" : cell_of(csv, row + 1, (size_t)column);
}
