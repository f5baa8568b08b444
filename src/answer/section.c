/* Tables of quantities that are in a report already. */
#include <stdlib.h>
#include <string.h>

#include "answer/report_internal.h"
#include "base/list.h"
#include "base/memory.h"

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
    const size_t size = sp_report_size(report);
    struct sp_row *const rows = sp_must(calloc(size + 1, sizeof *rows));
    struct sp_text *const paths = sp_must(calloc(size + 1, sizeof *paths));
    size_t n = 0;
    for (size_t i = first; i < size; i++) {
        const struct sp_entry *const entry = sp_report_entry(report, i);
        if (entry->is_old || entry->kind == SP_VALUE_NONE || !is_of_group(sp_path(entry), groups))
            continue;
        rows[n] = (struct sp_row){entry->info->label, sp_path_in(&paths[n], entry)};
        n++;
    }
    if (n > 0) {
        sp_line(report, " ");
        sp_table(report, columns, sizeof columns / sizeof *columns, rows, n);
    }
    free(rows);
    free(paths);
}
