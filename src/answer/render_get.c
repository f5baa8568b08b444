/* Renders the values that --get asks for. */
#include "answer/report_internal.h"

#include <string.h>

#include "base/json.h"
#include "base/list.h"

/* Prints the values of a group in JSON order: "key = value", with keys for --get. */
static void print_group(const cJSON *at, const char *path, FILE *out)
{
    int index = 0;
    for (const cJSON *child = at->child; child; child = child->next, index++) {
        char inner[200];
        if (child->string)
            sp_join_path(path, child->string, inner, sizeof inner);
        else
            snprintf(inner, sizeof inner, "%s.%d", path, index);
        if (cJSON_IsObject(child) || cJSON_IsArray(child))
            print_group(child, inner, out);
        else
            fprintf(out, "%s = %s\n", inner, child->valuestring);
    }
}

/* Prints values in the order of `keys`: bare, or with names if a key names a group. */
void sp_render_get(const struct sp_report *report, const char *keys, FILE *out)
{
    char key[160];
    while (sp_next_item(&keys, key, sizeof key)) {
        const struct sp_entry *const entry = sp_find(report, key);
        if (entry) {
            fprintf(out, "%s\n", sp_exact_value(entry, SP_ROOM));
            continue;
        }
        cJSON *const group = cJSON_CreateObject();
        for (size_t i = 0; i < report->n_entries; i++)
            if (sp_wanted(&report->entries[i], key))
                sp_add_entry_json(group, &report->entries[i]);
        print_group(group, "", out);
        cJSON_Delete(group);
    }
}
