/* Numbers and texts of a report by path, for the pictures of the commands. */
#include "commands/plot_data.h"

#include <stdarg.h>

static const struct sp_entry *entry_at(const struct sp_report *report, const char *format,
                                       va_list args)
{
    char path[160];
    vsnprintf(path, sizeof path, format, args);
    return sp_find(report, path);
}

double sp_report_number(const struct sp_report *report, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    const struct sp_entry *const entry = entry_at(report, path, args);
    va_end(args);
    return entry ? entry->number : NAN;
}

const char *sp_report_text(const struct sp_report *report, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    const struct sp_entry *const entry = entry_at(report, path, args);
    va_end(args);
    return entry && entry->text ? entry->text : "";
}
