/* Settings that rows of a sweep leave open. */
#include "cli/left_open.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "cli/plan_fields.h"

/* Whether a list holds a value as a whole; a set of modules contains commas itself. */
static bool has_value(const char *values, const char *value)
{
    const size_t n = strlen(value);
    for (const char *at = values; (at = strstr(at, value)); at++)
        if ((at == values || at[-1] == ' ') && (at[n] == '\0' || strncmp(at + n, " or ", 4) == 0))
            return true;
    return false;
}

static void keep_choice(struct sp_left_open *open, const char *value)
{
    if (has_value(open->values, value))
        return;
    open->differs = open->values[0] != '\0';
    sp_append(open->values, sizeof open->values, "%s%s", open->differs ? " or " : "", value);
}

void sp_keep_choices(struct sp_left_open open[SP_PLAN_FIELDS], const char *keys,
                     const struct sp_report *report)
{
    for (int i = 0; report && i < SP_PLAN_FIELDS; i++) {
        const char *const key = sp_quantity(sp_plan_rows[i]).key;
        char value[96], from[96];
        snprintf(value, sizeof value, "resolved.%s.value", key);
        snprintf(from, sizeof from, "resolved.%s.from", key);
        const struct sp_entry *const origin = sp_find(report, from), *const chosen =
                                                                         sp_find(report, value);
        if (!origin || sp_is_listed(keys, key, '\0'))
            continue;
        const bool is_chosen = strcmp(origin->text, sp_origin_names[SP_ORIGIN_CHOSEN]) == 0;
        open[i].is_chosen = open[i].is_chosen || is_chosen;
        /* the only possible value of a row counts too */
        if (is_chosen || strcmp(origin->text, sp_origin_names[SP_ORIGIN_DEFAULT]) == 0)
            keep_choice(&open[i], chosen->kind == SP_VALUE_TEXT ? chosen->text : "none");
    }
}

/* Whether all keys are settings, whose values are printed anyway. */
static bool are_settings(const char *keys)
{
    char item[64];
    while (sp_next_item(&keys, item, sizeof item)) {
        int i = 0;
        while (i < SP_PLAN_FIELDS && strcmp(item, sp_quantity(sp_plan_rows[i]).key) != 0)
            i++;
        if (i == SP_PLAN_FIELDS)
            return false;
    }
    return true;
}

void sp_note_choices(const struct sp_left_open open[SP_PLAN_FIELDS], const char *keys, FILE *notes)
{
    const char *before = "scaleplan: rows differ in settings that no option gives:";
    for (int i = 0; i < SP_PLAN_FIELDS && !are_settings(keys); i++) {
        if (!open[i].differs || !open[i].is_chosen)
            continue;
        fprintf(notes, "%s --%s (%s)", before, sp_plan_fields[i].name, open[i].values);
        before = ",";
    }
    if (*before == ',')
        fputc('\n', notes);
}
