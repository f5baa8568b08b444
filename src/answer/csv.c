/* A report as CSV or TSV: a single row, or a row per item of a list. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "answer/report_internal.h"
#include "answer/rows.h"

static void *room_for(size_t n, size_t size)
{
    void *const room = sp_must(calloc(n + 1, size));
    return room;
}

static void put_cell(const struct sp_entry *entry, char separator, FILE *out)
{
    if (entry && entry->kind != SP_VALUE_NONE)
        sp_write_cell(sp_exact_value(entry, SP_ROOM), entry->kind == SP_VALUE_TEXT, separator, out);
}

/* The entries of a key (NULL: all) as cells of a header or of a row, after `n` cells before them;
 * returns the cells so far. */
static size_t put_cells(const struct sp_report *report, const char *key, bool header,
                        char separator, size_t n, FILE *out)
{
    for (size_t i = 0; i < report->n_entries; i++) {
        const struct sp_entry *const entry = &report->entries[i];
        if (!sp_wanted(entry, key))
            continue;
        if (n++ > 0)
            fputc(separator, out);
        if (header)
            sp_write_cell(sp_path(entry), true, separator, out);
        else
            put_cell(entry, separator, out);
    }
    return n;
}

/* The columns are in the order of --get, like the lines of the text. */
static void render_one_row(const struct sp_report *report, const struct sp_render *how,
                           char separator, FILE *out)
{
    for (int header = 1; header >= 0; header--) {
        const char *keys = how->get;
        char key[160];
        size_t n = 0;
        if (!keys)
            put_cells(report, NULL, header, separator, n, out);
        while (sp_next_item(&keys, key, sizeof key))
            n = put_cells(report, key, header, separator, n, out);
        fputc('\n', out);
    }
}

/* The keys of the rows in order of first appearance, and the cells by row. */
struct table {
    char **key;
    const struct sp_entry **cell;
    size_t columns, rows;
};

static size_t column_of(const struct table *t, const char *key)
{
    size_t at = 0;
    while (at < t->columns && strcmp(t->key[at], key) != 0)
        at++;
    return at;
}

/* Sets the columns, as asked or all; returns the number of rows. */
static void find_columns(const struct sp_report *report, const struct sp_render *how, char *asked,
                         struct table *t)
{
    t->key = room_for(report->n_entries + (asked ? strlen(asked) : 0), sizeof *t->key);
    for (char *key; asked && (key = strsep(&asked, ",")) != NULL;)
        t->key[t->columns++] = sp_must(strdup(key));
    for (size_t i = 0; i < report->n_entries; i++) {
        size_t row;
        const char *const inside = sp_inside_row(sp_path(&report->entries[i]), how->rows, &row);
        if (!inside)
            continue;
        t->rows = row >= t->rows ? row + 1 : t->rows;
        if (!how->get && column_of(t, inside) == t->columns)
            t->key[t->columns++] = sp_must(strdup(inside));
    }
}

static void fill_cells(const struct sp_report *report, const char *list, struct table *t)
{
    t->cell = room_for(t->rows * t->columns, sizeof(const struct sp_entry *));
    for (size_t i = 0; i < report->n_entries; i++) {
        size_t row;
        const char *const inside = sp_inside_row(sp_path(&report->entries[i]), list, &row);
        const size_t column = inside ? column_of(t, inside) : t->columns;
        if (column < t->columns)
            t->cell[row * t->columns + column] = &report->entries[i];
    }
}

static void render_rows(const struct sp_report *report, const struct sp_render *how, char separator,
                        FILE *out)
{
    struct table t = {0};
    char *const asked = how->get ? strdup(how->get) : NULL;
    find_columns(report, how, asked, &t);
    fill_cells(report, how->rows, &t);
    for (size_t c = 0; c < t.columns && !how->no_header; c++) {
        sp_write_cell(t.key[c], true, separator, out);
        fputc(c + 1 == t.columns ? '\n' : separator, out);
    }
    for (size_t i = 0; i < t.rows * t.columns; i++) {
        put_cell(t.cell[i], separator, out);
        fputc((i + 1) % t.columns == 0 ? '\n' : separator, out);
    }
    for (size_t c = 0; c < t.columns; c++)
        free(t.key[c]);
    free(t.cell);
    free(t.key);
    free(asked);
}

/* Values outside the list are left to JSON and --get: columns plans.0.dp,plans.1.dp,... are
 * unreadable. An empty answer is one row that states it. */
void sp_render_table(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    const char separator = how->format == SP_FORMAT_TSV ? '\t' : ',';
    if (how->rows)
        render_rows(report, how, separator, out);
    else
        render_one_row(report, how, separator, out);
}

static bool holds_list(const struct sp_report *report, const char *list)
{
    size_t row;
    for (size_t i = 0; i < report->n_entries; i++)
        if (sp_inside_row(sp_path(&report->entries[i]), list, &row))
            return true;
    return false;
}

bool sp_is_one_list(const struct sp_report *report)
{
    size_t row, n = 0;
    while (report->list && n < report->n_entries &&
           sp_inside_row(sp_path(&report->entries[n]), report->list, &row))
        n++;
    return n > 0 && n == report->n_entries;
}

/* The keys relative to a row; NULL if one is unknown or belongs to the whole answer. */
static char *keys_of_a_row(const struct sp_report *report, const char *list, const char *keys)
{
    char key[160], inside[160], *text = NULL;
    size_t length;
    bool ok = true;
    FILE *const out = sp_must(open_memstream(&text, &length));
    for (const char *separator = ""; ok && sp_next_item(&keys, key, sizeof key); separator = ",") {
        ok = !sp_find(report, key) && sp_row_key(report, list, key, inside, sizeof inside);
        fprintf(out, "%s%s", separator, inside);
    }
    fclose(out);
    if (ok)
        return text;
    free(text);
    return NULL;
}

char *sp_rows_asked(const struct sp_report *report, char **keys)
{
    const char *const asked = *keys;
    *keys = NULL;
    if (asked && holds_list(report, asked))
        return strdup(asked);
    if (!report->list || !holds_list(report, report->list))
        return NULL;
    if (asked && (*keys = keys_of_a_row(report, report->list, asked)) == NULL)
        return NULL;
    return strdup(report->list);
}
