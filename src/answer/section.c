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
        {NULL, heading, true, false}, {"", "value", false, false}, {"?", "meaning", true, false}};
    struct sp_row *const rows = calloc(sp_report_size(report) + 1, sizeof *rows);
    size_t n = 0;
    for (size_t i = first; rows && i < sp_report_size(report); i++) {
        const struct sp_entry *const entry = sp_report_entry(report, i);
        if (entry->is_old || entry->kind == SP_VALUE_NONE || !is_of_group(entry->path, groups))
            continue;
        snprintf(rows[n].label, sizeof rows[n].label, "%s", entry->info->label);
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "%.111s", entry->path);
        n++;
    }
    if (n > 0) {
        sp_line(report, " ");
        sp_table(report, columns, sizeof columns / sizeof *columns, rows, n);
    }
    free(rows);
}
