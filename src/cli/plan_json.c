/* Reads plans in JSON as options. */
#include "cli/plan_json.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/plan_fields.h"

const struct sp_plan_input sp_plan_inputs[] = {
    {SP_Q_STEP_MODEL, "model"},
    {SP_Q_STEP_HW, "hw"},
    {SP_Q_STEP_SEQ, "seq"},
    {SP_Q_STEP_TOKENS, "batch"},
    {SP_Q_STEP_FRAMEWORK, "framework"},
    {SP_Q_STEP_PRECISION, "precision"},
    {SP_Q_STEP_PROFILE, "profile"},
    {SP_Q_STEP_CONVENTION, "convention"},
};
const size_t sp_n_plan_inputs = sizeof sp_plan_inputs / sizeof *sp_plan_inputs;

/* Quantities of `step` and of a plan of `search`, and the members of lists in them. */
static const struct {
    enum sp_quantity_id first, last;
} results[] = {
    {SP_Q_STEP_MODEL, SP_Q_STEP_B_HIDDEN},         {SP_Q_TUNING_WHAT, SP_Q_STEP_O_LATER_AT},
    {SP_Q_STEP_R_MEMORY, SP_Q_STEP_R_STRAIN},      {SP_Q_SEARCH_WAITS, SP_Q_SEARCH_NAME},
    {SP_Q_STEP_LAUNCH_FORMAT, SP_Q_STEP_RUN_COST},
};
static const char *const lists[] = {"stages", "fixes",     "better",  "curve",
                                    "sends",  "moments",   "matmuls", "against",
                                    "notes",  "scaleplan", "resolved"};

/* Whether a key is the first part of a quantity's, such as "memory" of "memory.fits". */
static bool begins(const char *quantity, const char *key)
{
    const size_t n = strlen(key);
    return strncmp(quantity, key, n) == 0 && (quantity[n] == '\0' || quantity[n] == '.');
}

static bool is_result(const char *key)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i], key) == 0)
            return true;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        for (enum sp_quantity_id id = results[i].first; id <= results[i].last; id++) {
            const struct sp_quantity_info row = sp_quantity(id);
            if (begins(row.key, key) || (row.old_key && begins(row.old_key, key)))
                return true;
        }
    return false;
}

/* The option for a key of a report; NULL: the key is not an input. */
static const char *option_of_key(const char *key)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (strcmp(sp_quantity(sp_plan_rows[i]).key, key) == 0)
            return sp_plan_fields[i].name;
    for (size_t i = 0; i < sp_n_plan_inputs; i++)
        if (strcmp(sp_quantity(sp_plan_inputs[i].row).key, key) == 0)
            return sp_plan_inputs[i].option;
    return NULL;
}

static bool refuse(const struct sp_args *args, const char *key, struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = key};
    for (size_t i = 0; i < args->n_options; i++)
        sp_nearest_offer(&nearest, args->options[i].name);
    if (nearest.distance > 0 && option_of_key(key) && sp_option_taken(args, SP_O_fix))
        return sp_fail(error, SP_INPUT, "%s: `search` chooses it; {\"fix\": \"%s=...\"} fixes it",
                       sp_safe(key), option_of_key(key));
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        sp_nearest_offer(&nearest, sp_quantity(sp_plan_rows[i]).key);
    return sp_fail(error, SP_INPUT, "%s: unknown key%s", sp_safe(key), sp_nearest_hint(&nearest));
}

static bool take(struct sp_args *args, enum sp_option_id id, const cJSON *value,
                 struct sp_error *error)
{
    if (cJSON_IsNumber(value))
        return sp_take_number(args, id, value->valuedouble, error);
    if (cJSON_IsString(value))
        return sp_take_text(args, id, value->valuestring, error);
    if (cJSON_IsBool(value))
        return sp_take_text(args, id, cJSON_IsTrue(value) ? "on" : "off", error);
    return sp_fail(error, SP_INPUT, "--%s: expected a number, text, true or false",
                   sp_option_name(id));
}

/* Takes a member of a plan. A report is a plan too: its inputs are read by their keys, its results
 * are skipped, both by a list. Any other key is an error, because a misspelled input taken for a
 * result would silently change nothing. An option's own name overrides the report's key, so that a
 * line can be edited by adding to it. */
bool sp_take_member(struct sp_args *args, const cJSON *plan, const cJSON *member,
                    struct sp_error *error)
{
    const char *const key = member->string;
    const struct sp_option *option = sp_option_named(args, key);
    const bool is_named = option && strcmp(option->name, key) == 0, /* the usual */
        is_report = cJSON_GetObjectItemCaseSensitive(plan, "machine") != NULL;
    const char *const input = is_named && !is_report ? key : option_of_key(key);
    const char *const name = input ? input : key;
    if (!is_named)
        option = sp_option_named(args, name);
    if (key[0] == '$')
        return true;
    /* "shape" is an option, the model's, and a result, the machine's: a report names its machine */
    if (!input && (!option || is_report) && is_result(key))
        return true;
    if (!option || option->kind == SP_FLAG)
        return refuse(args, key, error);
    if (strcmp(name, key) != 0 &&
        (cJSON_IsNull(member) || cJSON_GetObjectItemCaseSensitive(plan, name) != NULL))
        return true;
    return take(args, option->id, member, error);
}
