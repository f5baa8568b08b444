/* Renders a report as JSON. */
#include "answer/report_internal.h"

#include "base/json.h"
#include "base/list.h"

cJSON *sp_entry_json(const struct sp_entry *entry)
{
    const char *const value = sp_exact_value(entry, SP_ROOM);
    return entry->kind == SP_VALUE_TEXT ? cJSON_CreateString(value) : cJSON_CreateRaw(value);
}

void sp_add_entry_json(cJSON *root, const struct sp_entry *entry)
{
    sp_json_add_at(root, sp_path(entry), sp_entry_json(entry));
}

void sp_print_json(cJSON *root, bool one_line, FILE *out)
{
    char *text = one_line ? cJSON_PrintUnformatted(root) : cJSON_Print(root);
    if (text)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
}

/* Adds the program's version and the version of the keys, which increases when a key is removed or
 * changes meaning. */
static void add_origin(cJSON *root)
{
    enum { SHAPE_OF_KEYS = 2 };
    cJSON *const origin = cJSON_AddObjectToObject(root, "scaleplan");
    cJSON_AddStringToObject(origin, "version", SCALEPLAN_VERSION);
    cJSON_AddNumberToObject(origin, "keys", SHAPE_OF_KEYS);
}

void sp_render_json(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    cJSON *root = cJSON_CreateObject();
    if (!how->get && !how->one_line) /* lines of a stream all have the same origin */
        add_origin(root);
    for (size_t i = 0; i < report->n_entries; i++)
        if (sp_wanted(&report->entries[i], how->get))
            sp_add_entry_json(root, &report->entries[i]);
    if (!how->get) {
        cJSON *notes = cJSON_AddArrayToObject(root, "notes");
        for (size_t i = 0; i < report->n_notes; i++)
            cJSON_AddItemToArray(notes, cJSON_CreateString(report->notes[i].text));
    }
    sp_print_json(root, how->one_line, out);
}
