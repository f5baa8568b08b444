/* The layout of a report as JSON: lines and tables with the key of each number, so that a page
 * shows the same text as a terminal and knows the keys. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "answer/report_internal.h"

static char *copy(const char *text, size_t n)
{
    char *const part = sp_must(strndup(text, n));
    return part;
}

static void add_text(cJSON *array, const char *text, size_t n)
{
    char *const part = copy(text, n);
    cJSON_AddItemToArray(array, cJSON_CreateString(part));
    free(part);
}

/* A number of the report: {"key": ..., "text": ...}, with "good" for a verdict. */
static cJSON *piece_of(const struct sp_entry *entry, const char *text)
{
    cJSON *const piece = cJSON_CreateObject();
    cJSON_AddStringToObject(piece, "text", text);
    if (entry && entry->kind != SP_VALUE_NONE)
        cJSON_AddStringToObject(piece, "key", sp_path(entry));
    if (entry && sp_judged(entry) != 0)
        cJSON_AddBoolToObject(piece, "good", sp_judged(entry) > 0);
    return piece;
}

/* Writes a line as alternating strings and numbers. */
static void add_line(cJSON *items, const char *line, const struct sp_spans *spans)
{
    cJSON *const item = cJSON_CreateObject(), *const parts = cJSON_AddArrayToObject(item, "line");
    size_t at = 0;
    for (size_t i = 0; i < spans->n; i++) {
        const struct sp_span *const span = &spans->span[i];
        if (span->from > at)
            add_text(parts, line + at, span->from - at);
        char *const value = copy(line + span->from, span->to - span->from);
        cJSON_AddItemToArray(parts, piece_of(span->entry, value));
        free(value);
        at = span->to;
    }
    if (line[at])
        add_text(parts, line + at, strlen(line + at));
    cJSON_AddItemToArray(items, item);
}

static cJSON *row_of(const struct sp_report *report, const struct sp_item *item,
                     const struct sp_row *row)
{
    cJSON *const cells = cJSON_CreateArray();
    for (size_t c = 0; c < item->n_columns; c++) {
        const struct sp_entry *entry;
        const char *const value = sp_cell_text(report, row, item->columns[c].key, SP_ROOM, &entry);
        cJSON_AddItemToArray(cells, piece_of(entry, value));
    }
    return cells;
}

static void add_table(cJSON *items, const struct sp_report *report, const struct sp_item *table)
{
    cJSON *const item = cJSON_CreateObject();
    cJSON *const columns = cJSON_AddArrayToObject(item, "columns");
    cJSON *const rows = cJSON_AddArrayToObject(item, "rows");
    for (size_t c = 0; c < table->n_columns; c++) {
        cJSON *const column = cJSON_CreateObject();
        cJSON_AddStringToObject(column, "heading", table->columns[c].heading);
        cJSON_AddBoolToObject(column, "left", table->columns[c].left || !table->columns[c].key);
        cJSON_AddItemToArray(columns, column);
    }
    for (size_t i = 0; i < table->n_rows; i++)
        cJSON_AddItemToArray(rows, row_of(report, table, &table->rows[i]));
    cJSON_AddItemToArray(items, item);
}

static void add_item(cJSON *items, const struct sp_report *report, const struct sp_item *item)
{
    struct sp_spans spans;
    char *line;
    if (item->kind == SP_ITEM_TABLE) {
        add_table(items, report, item);
    } else if (item->kind == SP_ITEM_FILE || item->kind == SP_ITEM_MARKDOWN) {
        cJSON *const block = cJSON_CreateObject();
        cJSON_AddStringToObject(block, "block", item->line);
        cJSON_AddItemToArray(items, block);
    } else if ((line = sp_fill_line(report, item->line, &spans)) != NULL) {
        add_line(items, line, &spans);
        free(line);
    }
}

static cJSON *quantity_of(const struct sp_entry *entry)
{
    cJSON *const quantity = cJSON_CreateObject();
    cJSON_AddStringToObject(quantity, "key", sp_path(entry));
    cJSON_AddStringToObject(quantity, "label", entry->info->label);
    cJSON_AddStringToObject(quantity, "text", sp_human_value(entry, SP_ROOM));
    if (sp_judged(entry) != 0)
        cJSON_AddBoolToObject(quantity, "good", sp_judged(entry) > 0);
    cJSON_AddItemToObject(quantity, "value", sp_entry_json(entry));
    return quantity;
}

void sp_render_layout(const struct sp_report *report, FILE *out)
{
    cJSON *const root = cJSON_CreateObject();
    cJSON *const items = cJSON_AddArrayToObject(root, "items");
    cJSON *const notes = cJSON_AddArrayToObject(root, "notes");
    cJSON *const quantities = cJSON_AddArrayToObject(root, "quantities");
    for (size_t i = 0; i < report->n_items; i++)
        if (!sp_is_brief(report->items[i].place))
            add_item(items, report, &report->items[i]);
    for (size_t i = 0; i < report->n_notes; i++) {
        char *const line = copy(report->notes[i].text, strlen(report->notes[i].text));
        sp_make_singular(line);
        cJSON_AddItemToArray(notes, cJSON_CreateString(line));
        free(line);
    }
    for (size_t i = 0; i < report->n_entries; i++)
        if (!report->entries[i].is_old)
            cJSON_AddItemToArray(quantities, quantity_of(&report->entries[i]));
    char *const text = cJSON_PrintUnformatted(root);
    if (text)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
}
