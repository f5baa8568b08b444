/* Tables of quantities that are in a report already. */
#include <stdlib.h>
#include <string.h>

#include "answer/report_internal.h"
#include "base/list.h"

/* Whether a path is of one of the groups: "ratio.x" of "network,ratio"; NULL: of any. */
static bool is_of_group(const char *path, const char *groups)
{
    const char *left = groups;
    char group[32];
    while (left && sp_next_item(&left, group, sizeof group)) {
        const size_t n = strlen(group);
        if (strncmp(path, group, n) == 0 && path[n] == '.')
            return true;
    }
    return groups == NULL;
}

void sp_section(struct sp_report *report, const char *heading, size_t first, const char *groups)
{
    const struct sp_column columns[] = {
        {NULL, heading, true}, {"", "value", false}, {"?", "meaning", true}};
    struct sp_row *const rows = calloc(sp_report_size(report) + 1, sizeof *rows);
    size_t n = 0;
    for (size_t i = first; rows && i < sp_report_size(report); i++) {
        const struct sp_entry *const entry = sp_report_entry(report, i);
        if (entry->is_old || entry->kind == SP_VALUE_NONE || !is_of_group(entry->path, groups))
            continue;
        snprintf(rows[n].label, sizeof rows[n].label, "%s", entry->info.label);
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "%.111s", entry->path);
        n++;
    }
    if (n > 0) {
        sp_line(report, " ");
        sp_table(report, columns, sizeof columns / sizeof *columns, rows, n);
    }
    free(rows);
}

void sp_table_of_all(struct sp_report *r, const char *list)
{
    enum { MOST_COLUMNS = 16 };
    struct sp_column columns[MOST_COLUMNS] = {{NULL, list, true}};
    size_t n = 1, row, known;
    for (size_t i = 0; i < sp_report_size(r) && n < MOST_COLUMNS; i++) {
        const struct sp_entry *const entry = sp_report_entry(r, i);
        const char *const key = sp_inside_row(entry->path, list, &row);
        if (!key || entry->is_old || strcmp(key, "name") == 0)
            continue;
        for (known = 1; known < n && strcmp(columns[known].key, key) != 0;)
            known++;
        if (known == n)
            columns[n++] = (struct sp_column){key, entry->info.label, entry->info.unit == SP_WORDS};
    }
    if (r->n_items > 0)
        sp_line(r, " ");
    sp_list_table(r, list, columns, n);
}
