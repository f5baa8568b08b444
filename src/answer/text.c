/* Text for people: lines with quantities filled in, and aligned tables (libsmartcols). */
#include <libsmartcols/libsmartcols.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "answer/report_internal.h"

/* Prints a paragraph, broken at blanks to the width; continuation lines are indented by two. */
static void print_wrapped(const char *text, int width, FILE *out)
{
    if (width > 0 && width < 40)
        width = 40;
    int column = 0;
    if (strspn(text, " ") == strlen(text))
        text = ""; /* a blank line carries no blanks */
    while (*text) {
        const size_t spaces = strspn(text, " ");
        const char *const word = text + spaces;
        const size_t n = strcspn(word, " ");
        if (width > 0 && column > 0 && column + (int)(spaces + n) > width) {
            fputs("\n  ", out);
            column = 2;
        } else {
            fwrite(text, 1, spaces, out);
            column += (int)spaces;
        }
        fwrite(word, 1, n, out);
        column += (int)n;
        text = word + n;
    }
    fputc('\n', out);
}

/* Prints a line and frees it; NULL is none. */
static void print_line(char *line, int width, FILE *out)
{
    if (line)
        print_wrapped(line, width, out);
    free(line);
}

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

/* Prepares to measure a text. Widths beyond ASCII depend on the user's locale; loading it takes a
 * twentieth of the time of `fit`, so it waits for the first such character. Numbers stay in the C
 * locale. If the locale is not UTF-8, nothing changes: widths would be wrong, and a static program
 * cannot load a converter. */
static const char *measurable(const char *text)
{
    const size_t n = strlen(text);
    if (MB_CUR_MAX == 1 && sp_plain_length((const unsigned char *)text, n) < n &&
        setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
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
            strdup(sp_cell_text(report, row, item->columns[c].key, SP_ROOM, &entry));
        if (!value)
            abort();
        if (how->width > 0 && c + 1 == item->n_columns)
            break_at_blanks(value, last);
        scols_line_set_data(line, c, measurable(value));
        free(value);
        const int judged = how->colour && entry ? sp_judged(entry) : 0;
        if (judged != 0)
            scols_cell_set_color(scols_line_get_cell(line, c), judged > 0 ? "green" : "red");
    }
}

static void add_columns(struct libscols_table *table, const struct sp_item *item, bool wraps)
{
    for (size_t c = 0; c < item->n_columns; c++) {
        const bool wrapped = wraps && c + 1 == item->n_columns;
        const int align = item->columns[c].left || !item->columns[c].key ? 0 : SCOLS_FL_RIGHT;
        struct libscols_column *column = scols_table_new_column(
            table, measurable(item->columns[c].heading), 0, align | (wrapped ? SCOLS_FL_WRAP : 0));
        if (!wrapped || !column)
            continue;
        scols_column_set_safechars(column, "\n");
        scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
    }
}

static void print_part(const struct sp_report *report, const struct sp_item *item,
                       const struct sp_render *how, FILE *out)
{
    struct libscols_table *table = scols_new_table();
    if (!table)
        return;
    scols_table_set_stream(table, out);
    scols_table_enable_colors(table, how->colour);
    scols_table_set_termforce(table,
                              how->width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
    if (how->width > 0)
        scols_table_set_termwidth(table, (size_t)how->width);
    scols_table_set_column_separator(table, "  ");
    add_columns(table, item, how->width > 0);
    const int last = how->width > 0 ? last_width(report, item, how->width) : 0;
    for (size_t i = 0; i < item->n_rows; i++)
        fill_row(table, report, item, &item->rows[i], how, last);
    fflush(out);
    scols_print_table(table);
    scols_unref_table(table);
}

/* A table wider than the terminal continues below; each part repeats the first column. */
static void print_table(const struct sp_report *report, const struct sp_item *item,
                        const struct sp_render *how, FILE *out)
{
    struct sp_item part = *item;
    part.columns = calloc(item->n_columns + 1, sizeof *part.columns);
    if (!part.columns)
        return;
    part.columns[0] = item->columns[0];
    part.n_columns = item->n_columns;
    for (size_t at = 1; at < item->n_columns || part.n_columns == 1; at += part.n_columns - 1) {
        const size_t n = columns_that_fit(report, item, at, how->width);
        memcpy(part.columns + 1, item->columns + at, n * sizeof *part.columns);
        part.n_columns = n + 1;
        if (at > 1)
            fputc('\n', out);
        print_part(report, &part, how, out);
        if (n == 0)
            break;
    }
    free(part.columns);
}

static void print_notes(const struct sp_report *report, int width, FILE *out)
{
    for (size_t i = 0; i < report->n_notes; i++) {
        char *line; /* notes can be long */
        if (asprintf(&line, "note: %s", report->notes[i]) < 0)
            abort();
        sp_make_singular(line);
        print_wrapped(line, width, out);
        free(line);
    }
}

void sp_render_notes(const struct sp_report *report, FILE *out)
{
    print_notes(report, 0, out);
}

void sp_render_text(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    struct sp_spans spans;
    bool is_file = false;
    for (size_t i = 0; i < report->n_items; i++) {
        const struct sp_item *item = &report->items[i];
        const bool is_block = item->kind == SP_ITEM_FILE || item->kind == SP_ITEM_MARKDOWN;
        is_file = is_file || is_block;
        if (item->kind == SP_ITEM_TABLE)
            print_table(report, item, how, out);
        else if (is_block)
            fputs(item->line, out);
        else
            print_line(sp_fill_line(report, item->line, &spans), how->width, out);
    }
    if (is_file && how->notes) {
        fflush(out); /* keeps the order of report and notes */
        sp_render_notes(report, how->notes);
    }
    if (is_file || report->n_notes == 0)
        return;
    fputc('\n', out);
    print_notes(report, how->width, out);
}
