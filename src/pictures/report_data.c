/* Numbers and texts of a report by quantity, for pictures. */
#include "pictures/report_data.h"

#include <math.h>
#include <stdio.h>

static const char *text_of(const struct sp_entry *entry)
{
    return sp_entry_text(entry) ? sp_entry_text(entry) : "";
}

double sp_report_number(const struct sp_report *report, enum sp_quantity_id id)
{
    return sp_entry_number(sp_find(report, sp_quantity(id).key));
}

const char *sp_report_text(const struct sp_report *report, enum sp_quantity_id id)
{
    return text_of(sp_find(report, sp_quantity(id).key));
}

double sp_keyed_number(const struct sp_report *report, const char *key)
{
    return sp_entry_number(sp_find(report, key));
}

static const struct sp_entry *find_in_row(const struct sp_report *report, const char *list,
                                          size_t i, const char *key)
{
    char path[160];
    snprintf(path, sizeof path, "%s.%zu.%s", list, i, key);
    return sp_find(report, path);
}

double sp_rows_number(const struct sp_report *report, const char *list, size_t i, const char *key)
{
    return sp_entry_number(find_in_row(report, list, i, key));
}

const char *sp_rows_text(const struct sp_report *report, const char *list, size_t i,
                         const char *key)
{
    return text_of(find_in_row(report, list, i, key));
}

double sp_listed_number(const struct sp_report *report, const char *list, size_t i,
                        enum sp_quantity_id id)
{
    return sp_entry_number(find_in_row(report, list, i, sp_quantity(id).key));
}

const char *sp_listed_text(const struct sp_report *report, const char *list, size_t i,
                           enum sp_quantity_id id)
{
    return text_of(find_in_row(report, list, i, sp_quantity(id).key));
}
