/* A value as text, exact or rounded for people. */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "answer/report_internal.h"
#include "base/list.h"

/* A shell computes with whole numbers of 64 bits and does not read exponents. */
static void format_whole(double value, char *out, size_t size)
{
    if (fabs(value) >= 1e15 && fabs(value) < 0x1p63 && value == trunc(value))
        snprintf(out, size, "%.0f", value);
    else
        sp_format_double(value, out, size);
}

const char *sp_exact_value(const struct sp_entry *entry, struct sp_text *room)
{
    switch (entry->kind) {
    case SP_VALUE_TEXT:
        return entry->text;
    case SP_VALUE_NUMBER:
        format_whole(entry->number, room->s, sizeof room->s);
        return room->s;
    case SP_VALUE_BOOL:
        return entry->number != 0 ? "true" : "false";
    default:
        return "null";
    }
}

const char *sp_human_value(const struct sp_entry *entry, struct sp_text *room)
{
    if (!entry || entry->kind == SP_VALUE_NONE)
        return "-";
    return entry->kind == SP_VALUE_TEXT ? entry->text
                                        : sp_human_text_in(room, entry->number, entry->info->unit);
}

bool sp_wanted(const struct sp_entry *entry, const char *keys)
{
    return !keys || sp_is_listed(keys, sp_path(entry), '.');
}

const char *sp_path_in(struct sp_text *room, const struct sp_entry *entry)
{
    enum { LONGEST = 160 };
    const char *const key = entry->is_old ? entry->info->old_key : entry->info->key;
    if (!entry->scope[0])
        return key;
    sp_join_path(entry->scope, key, room->s, LONGEST);
    return room->s;
}
