/* A value as text, exact or rounded for people. */
#include <stdio.h>

#include "base/json.h"
#include "answer/report_internal.h"
#include "base/list.h"

void sp_format_entry(const struct sp_entry *entry, char *out, size_t size)
{
    if (entry->kind == SP_VALUE_NUMBER)
        sp_format_double(entry->number, out, size);
    else if (entry->kind == SP_VALUE_BOOL)
        snprintf(out, size, "%s", entry->number != 0 ? "true" : "false");
    else
        snprintf(out, size, "%s", entry->kind == SP_VALUE_TEXT ? entry->text : "null");
}

void sp_human_entry(const struct sp_entry *entry, char *out, size_t size)
{
    if (!entry || entry->kind == SP_VALUE_NONE)
        snprintf(out, size, "-");
    else if (entry->kind == SP_VALUE_TEXT)
        snprintf(out, size, "%s", entry->text);
    else
        sp_human(entry->number, entry->info.unit, out, size);
}

bool sp_wanted(const struct sp_entry *entry, const char *keys)
{
    return !keys || sp_is_listed(keys, entry->path, '.');
}
