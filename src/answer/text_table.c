/* Aligned tables of the text (libsmartcols). */
#include <libsmartcols/libsmartcols.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "answer/report_internal.h"

/* The width of a column when nothing is broken. */
static int natural_width(const struct sp_report *report, const struct sp_item *item, size_t column)
{
    const struct sp_entry *entry;
    size_t widest = strlen(item->columns[column].heading);
    for (size_t i = 0; i < item->n_rows; i++) {
        const size_t n = strlen(
            sp_cell_text(report, &item->rows[i], item->columns[column].key, SP_ROOM, &entry));
        widest = n > widest ? n : widest;
    }
    return (int)widest;
}

enum { GAP = 2, LEAST_LAST = 20 }; /* blanks between columns; least width of a broken last column */

/* Width left for the last column if the others have natural widths. */
static int last_width(const struct sp_report *report, const struct sp_item *item, int width)
{
    for (size_t c = 0; c + 1 < item->n_columns; c++)
        width -= natural_width(report, item, c) + GAP;
    return width < LEAST_LAST ? LEAST_LAST : width;
}

/* Number of columns from `first` on that fit beside the first column, at least one. The very last
 * may be broken. */
static size_t columns_that_fit(const struct sp_report *report, const struct sp_item *item,
                               size_t first, int width)
{
    if (width == 0)
        return item->n_columns - first;
    size_t n = 0;
    int used = natural_width(report, item, 0);
    for (size_t c = first; c < item->n_columns; c++, n++) {
        const int natural = natural_width(report, item, c);
        const bool breaks = c + 1 == item->n_columns && natural > LEAST_LAST;
        used += GAP + (breaks ? LEAST_LAST : natural);
        if (used > width && n > 0)
            break;
    }
    return n;
}

/* Turns blanks into line breaks so that lines fit, where words allow. */
static void break_at_blanks(char *text, int width)
{
    char *line = text, *blank = NULL;
    for (char *at = text; *at; at++) {
        if (*at == ' ')
            blank = at;
        if (at - line >= width && blank) {
            *blank = '\n';
            line = blank + 1;
            blank = NULL;
        }
    }
}

/* Line breaks are ASCII. */
static bool has_beyond_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80)
        text++;
    return *text;
}

/* Prepares to measure a text. Widths beyond ASCII depend on the user's locale; loading it takes a
 * twentieth of the time of `fit`, so it waits for the first such character. Numbers stay in the C
 * locale. If the locale is not UTF-8, nothing changes: widths would be wrong, and a static program
 * cannot load a converter. */
static const char *measurable(const char *text)
{
    if (MB_CUR_MAX == 1 && has_beyond_ascii(text) && setlocale(LC_CTYPE, "") &&
        strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C");
    return text;
}

static void fill_row(struct libscols_table *table, const struct sp_report *report,
                     const struct sp_item *item, const struct sp_row *row,
                     const struct sp_render *how, int last)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (!line)
        return;
    for (size_t c = 0; c < item->n_columns; c++) {
        const struct sp_entry *entry;
        char *const value =
            sp_must(strdup(sp_cell_text(report, row, item->columns[c].key, SP_ROOM, &entry)));
        if (how->width > 0 && c + 1 == item->n_columns)
            break_at_blanks(value, last);
        scols_line_set_data(line, c, measurable(value));
        free(value);
        const int judged = how->colour && entry ? sp_judged(entry) : 0;
        if (judged != 0)
            scols_cell_set_color(scols_line_get_cell(line, c), judged > 0 ? "green" : "red");
    }
}

/* Lines of a text are left-aligned, whatever the column's side. */
static void add_columns(struct libscols_table *table, const struct sp_item *item, bool wraps)
{
    for (size_t c = 0; c < item->n_columns; c++) {
        const bool wrapped = wraps && c + 1 == item->n_columns;
        const bool left = item->columns[c].left || !item->columns[c].key || wrapped;
        struct libscols_column *column =
            scols_table_new_column(table, measurable(item->columns[c].heading), 0,
                                   left ? wrapped ? SCOLS_FL_WRAP : 0 : SCOLS_FL_RIGHT);
        if (!wrapped || !column)
            continue;
        scols_column_set_safechars(column, "\n");
        scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
    }
}

/* Prints lines without the blanks that fill the last column. */
static void print_trimmed(const char *text, FILE *out)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        size_t kept = length;
        while (kept > 0 && text[kept - 1] == ' ')
            kept--;
        fwrite(text, 1, kept, out);
        if (text[length] == '\n')
            fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

static void print_part(const struct sp_report *report, const struct sp_item *item,
                       const struct sp_render *how, FILE *out)
{
    struct libscols_table *table = sp_must(scols_new_table());
    char *text;
    size_t size;
    FILE *const lines = sp_must(open_memstream(&text, &size));
    scols_table_set_stream(table, lines);
    scols_table_enable_colors(table, how->colour);
    scols_table_set_termforce(table,
                              how->width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
    if (how->width > 0)
        scols_table_set_termwidth(table, (size_t)how->width);
    scols_table_set_column_separator(table, "  ");
    const int last = how->width > 0 ? last_width(report, item, how->width) : 0;
    add_columns(table, item,
                how->width > 0 && natural_width(report, item, item->n_columns - 1) > last);
    for (size_t i = 0; i < item->n_rows; i++)
        fill_row(table, report, item, &item->rows[i], how, last);
    scols_print_table(table);
    scols_unref_table(table);
    fclose(lines);
    print_trimmed(text, out);
    free(text);
}

/* A table wider than the text continues below; each part repeats the first column. */
static void print_parts(const struct sp_report *report, const struct sp_item *table,
                        const struct sp_render *how, FILE *out)
{
    struct sp_item part = *table;
    part.columns = calloc(table->n_columns + 1, sizeof *part.columns);
    if (!part.columns)
        return;
    part.columns[0] = table->columns[0];
    part.n_columns = table->n_columns;
    for (size_t at = 1; at < table->n_columns || part.n_columns == 1; at += part.n_columns - 1) {
        const size_t n = columns_that_fit(report, table, at, how->width);
        memcpy(part.columns + 1, table->columns + at, n * sizeof *part.columns);
        part.n_columns = n + 1;
        if (at > 1)
            fputc('\n', out);
        print_part(report, &part, how, out);
        if (n == 0)
            break;
    }
    free(part.columns);
}

/* Whether a column has any content; the column of labels always has. */
static bool has_values(const struct sp_report *report, const struct sp_item *table, size_t column)
{
    const char *const key = table->columns[column].key;
    const struct sp_entry *entry = NULL;
    bool any = !key;
    for (size_t i = 0; i < table->n_rows && !any; i++) {
        sp_cell_text(report, &table->rows[i], key, SP_ROOM, &entry);
        any = entry && entry->kind != SP_VALUE_NONE;
    }
    return any;
}

/* Takes rows from the first to the last, evenly. */
static void spread_rows(const struct sp_item *table, struct sp_item *shown)
{
    shown->rows = sp_must(calloc(shown->n_rows, sizeof *shown->rows));
    for (size_t i = 0; i < shown->n_rows; i++)
        shown->rows[i] = table->rows[i * (table->n_rows - 1) / (shown->n_rows - 1)];
}

/* Whether a column has one value in the first n_rows rows. */
static bool is_alike(const struct sp_report *report, const struct sp_item *table, size_t n_rows,
                     size_t column)
{
    const char *const key = table->columns[column].key;
    const struct sp_entry *entry;
    struct sp_text first, room;
    const char *const text = sp_cell_text(report, &table->rows[0], key, &first, &entry);
    bool alike = true;
    for (size_t i = 1; i < n_rows && alike; i++)
        alike = strcmp(text, sp_cell_text(report, &table->rows[i], key, &room, &entry)) == 0;
    return alike;
}

/* Takes columns with the same value in all rows out of a table that is too wide, from the right.
 * Whether any was removed. */
static bool drop_alike(const struct sp_report *report, struct sp_item *table, size_t n_rows,
                       int width)
{
    const size_t had = table->n_columns;
    for (size_t c = had; c-- > 1;) {
        if (columns_that_fit(report, table, 1, width) + 1 >= table->n_columns)
            break;
        if (is_alike(report, table, n_rows, c)) {
            memmove(table->columns + c, table->columns + c + 1,
                    (table->n_columns - c - 1) * sizeof *table->columns);
            table->n_columns--;
        }
    }
    return table->n_columns < had;
}

bool sp_print_table(const struct sp_report *report, const struct sp_item *table, size_t most_rows,
                    const struct sp_render *how, FILE *out)
{
    struct sp_item shown = *table;
    shown.columns = calloc(table->n_columns + 1, sizeof *shown.columns);
    if (!shown.columns)
        return false;
    shown.n_columns = 0;
    shown.n_rows = table->n_rows < most_rows ? table->n_rows : most_rows;
    if (table->place == SP_SPREAD && shown.n_rows > 1 && shown.n_rows < table->n_rows)
        spread_rows(table, &shown);
    for (size_t c = 0; c < table->n_columns; c++)
        if (how->details || (!table->columns[c].details && has_values(report, table, c)))
            shown.columns[shown.n_columns++] = table->columns[c];
    /* with a single row there is nothing to compare */
    const size_t compared = shown.n_rows > 1 ? shown.n_rows : 2;
    const bool is_narrowed =
        !how->details && table->n_rows > 1 && drop_alike(report, &shown, compared, how->width);
    print_parts(report, &shown, how, out);
    if (shown.rows != table->rows)
        free(shown.rows);
    free(shown.columns);
    return is_narrowed;
}
