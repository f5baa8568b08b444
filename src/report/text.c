/* Text for people: lines with quantities filled in, and aligned tables (libsmartcols). */
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

void sp_human_entry(const struct sp_entry *entry, char *out, size_t size)
{
    if (!entry || entry->kind == SP_VALUE_NONE)
        snprintf(out, size, "-");
    else if (entry->kind == SP_VALUE_TEXT)
        snprintf(out, size, "%s", entry->text);
    else
        sp_human(entry->number, entry->info.unit, out, size);
}

/* Fills {key} and {key!}; false when every key of the line is null. */
static bool fill_line(const struct sp_report *report, const char *line, char *out, size_t size)
{
    size_t used = 0;
    bool any_key = false, any_value = false;
    while (*line && used + 1 < size) {
        const char *const end = *line == '{' ? strchr(line, '}') : NULL;
        if (!end) {
            out[used++] = *line++;
            continue;
        }
        char key[112];
        const bool exact = end[-1] == '!';
        snprintf(key, sizeof key, "%.*s", (int)(end - line - 1 - exact), line + 1);
        const struct sp_entry *entry = sp_find(report, key);
        any_key = true;
        any_value = any_value || (entry && entry->kind != SP_VALUE_NONE);
        if (entry && exact)
            sp_format_entry(entry, out + used, size - used);
        else
            sp_human_entry(entry, out + used, size - used);
        used += strlen(out + used);
        line = end + 1;
    }
    out[used] = '\0';
    return any_value || !any_key;
}

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
            fprintf(out, "\n  %.*s", (int)n, word);
            column = 2 + (int)n;
        } else {
            fprintf(out, "%.*s%.*s", (int)spaces, text, (int)n, word);
            column += (int)(spaces + n);
        }
        text = word + n;
    }
    fputc('\n', out);
}

static const char *verdict_colour(const struct sp_entry *entry)
{
    return entry->number != 0 ? "green" : "red";
}

static void fill_row(struct libscols_table *table, const struct sp_report *report,
                     const struct sp_item *item, const struct sp_row *row, bool colour)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (!line)
        return;
    for (size_t c = 0; c < item->n_columns; c++) {
        char path[200], value[1024];
        if (!item->columns[c].key) {
            scols_line_set_data(line, c, row->label);
            continue;
        }
        const char *const key = item->columns[c].key;
        const size_t n = strcspn(key, "!");
        snprintf(path, sizeof path, "%s%s%.*s", row->prefix, *row->prefix ? "." : "", (int)n, key);
        const struct sp_entry *entry = sp_find(report, path);
        if (entry && key[n])
            sp_format_entry(entry, value, sizeof value);
        else
            sp_human_entry(entry, value, sizeof value);
        scols_line_set_data(line, c, value);
        if (colour && entry && entry->kind == SP_VALUE_BOOL)
            scols_cell_set_color(scols_line_get_cell(line, c), verdict_colour(entry));
    }
}

static void print_table(const struct sp_report *report, const struct sp_item *item,
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
    for (size_t c = 0; c < item->n_columns; c++) {
        const bool last = c + 1 == item->n_columns;
        const int align = item->columns[c].left || !item->columns[c].key ? 0 : SCOLS_FL_RIGHT;
        scols_table_new_column(table, item->columns[c].heading, 0,
                               align | (last && how->width > 0 ? SCOLS_FL_WRAP : 0));
    }
    for (size_t i = 0; i < item->n_rows; i++)
        fill_row(table, report, item, &item->rows[i], how->colour);
    fflush(out);
    scols_print_table(table);
    scols_unref_table(table);
}

void sp_render_text(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    char line[4096];
    for (size_t i = 0; i < report->n_items; i++) {
        const struct sp_item *item = &report->items[i];
        if (item->kind == SP_ITEM_TABLE)
            print_table(report, item, how, out);
        else if (item->kind == SP_ITEM_BLOCK)
            fputs(item->line, out);
        else if (fill_line(report, item->line, line, sizeof line))
            print_wrapped(line, how->width, out);
    }
    if (report->n_notes > 0)
        fputc('\n', out);
    for (size_t i = 0; i < report->n_notes; i++) {
        snprintf(line, sizeof line, "note: %s", report->notes[i]);
        print_wrapped(line, how->width, out);
    }
}
