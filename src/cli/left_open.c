/* Settings that rows of a sweep leave open. */
#include "cli/left_open.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "cli/plan_fields.h"

/* Inputs that change most of a plan; then its own settings; then those of a service, which are
 * open unless their options are typed. */
static const struct {
    enum sp_quantity_id row;
    enum sp_option_id option;
} inputs[] = {{SP_Q_STEP_FRAMEWORK, SP_O_framework}, {SP_Q_STEP_PRECISION, SP_O_precision}},
  served[] = {{SP_Q_SERVE_ENGINE, SP_O_engine},
              {SP_Q_SERVE_WEIGHTS, SP_O_weights},
              {SP_Q_SERVE_EXPERTS, SP_O_expert_weights},
              {SP_Q_SERVE_CACHE, SP_O_kv}};

enum {
    INPUTS = sizeof inputs / sizeof *inputs,
    SERVED = sizeof served / sizeof *served,
    PLANS = INPUTS + SP_PLAN_FIELDS
};
_Static_assert(PLANS + SERVED == SP_LEFT_OPEN, "all that may be left open");

static const char *key_of(int i)
{
    return sp_quantity(i < INPUTS  ? inputs[i].row
                       : i < PLANS ? sp_plan_rows[i - INPUTS]
                                   : served[i - PLANS].row)
        .key;
}

static const char *option_of(int i)
{
    return i < INPUTS  ? sp_option_name(inputs[i].option)
           : i < PLANS ? sp_plan_fields[i - INPUTS].name
                       : sp_option_name(served[i - PLANS].option);
}

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

void sp_ask_choices(const char *command, char *keys, size_t size)
{
    if (strcmp(command, "step") == 0)
        sp_append(keys, size, ",resolved");
    for (int i = PLANS; strcmp(command, "serve") == 0 && i < SP_LEFT_OPEN; i++)
        sp_append(keys, size, ",%s", key_of(i));
}

/* Formats of a service, and its engine; experts follow the other weights. */
static void keep_served(struct sp_left_open open[SP_LEFT_OPEN], const char *keys,
                        const struct sp_args *line, const struct sp_report *report)
{
    for (int i = PLANS; i < SP_LEFT_OPEN; i++) {
        const enum sp_option_id option = served[i - PLANS].option;
        const struct sp_entry *const value = sp_find(report, key_of(i));
        const bool given = line->given_at[SP_O_from] || line->given_at[option] ||
                           (option == SP_O_expert_weights && line->given_at[SP_O_weights]);
        if (given || !value || value->kind != SP_VALUE_TEXT || sp_is_listed(keys, key_of(i), '\0'))
            continue;
        open[i].is_chosen = true;
        keep_choice(&open[i], value->text);
    }
}

void sp_keep_choices(struct sp_left_open open[SP_LEFT_OPEN], const char *keys,
                     const struct sp_args *line, const struct sp_report *report)
{
    if (report)
        keep_served(open, keys, line, report);
    for (int i = 0; report && i < PLANS; i++) {
        const char *const key = key_of(i);
        char value[96], from[96];
        snprintf(value, sizeof value, "resolved.%s.value", key);
        snprintf(from, sizeof from, "resolved.%s.from", key);
        const struct sp_entry *const origin = sp_find(report, from), *const chosen =
                                                                         sp_find(report, value);
        if (!origin || sp_is_listed(keys, key, '\0'))
            continue;
        const bool is_given = strcmp(origin->text, sp_origin_names[SP_ORIGIN_GIVEN]) == 0;
        const bool is_chosen =
            i < INPUTS ? !is_given : strcmp(origin->text, sp_origin_names[SP_ORIGIN_CHOSEN]) == 0;
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
        while (i < SP_LEFT_OPEN && strcmp(item, key_of(i)) != 0)
            i++;
        if (i == SP_LEFT_OPEN)
            return false;
    }
    return true;
}

void sp_note_choices(const struct sp_left_open open[SP_LEFT_OPEN], const char *keys, FILE *notes)
{
    const char *before = "scaleplan: rows differ in settings left open, give them to compare:";
    for (int i = 0; i < SP_LEFT_OPEN && !are_settings(keys); i++) {
        if (!open[i].differs || !open[i].is_chosen)
            continue;
        fprintf(notes, "%s --%s (%s)", before, option_of(i), open[i].values);
        before = ",";
    }
    if (*before == ',')
        fputc('\n', notes);
}
