/* The limits of a search: --fix, --only, --max-..., --headroom. */
#include "cli/space_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "base/suggest.h"

/* Characters of --fix and --only. */
enum { LONGEST_LIST = 512 };

/* The value named by a text: a whole number, or the index of a name. */
static bool read_value(const char *where, const struct sp_plan_field *field, const char *text,
                       int64_t *value, struct sp_error *error)
{
    double number;
    int found;
    if (field->names) {
        if (!sp_find_choice(where, field->name, field->names, text, &found, error))
            return false;
        *value = found;
        return true;
    }
    if (!sp_parse_number(text, &number) || *sp_unit_of_number(text) || number < 1 || number > 1e9 ||
        number != floor(number))
        return sp_fail(error, SP_INPUT, "--%s%s: \"%s\" is not a whole number from 1 to 1e9", where,
                       field->name, sp_safe(text));
    *value = (int64_t)number;
    return true;
}

/* The comma-separated values of `list` and no others. */
static bool take_values(const char *where, enum sp_plan_field_id field, const char *list,
                        struct sp_space_limits *limits, struct sp_error *error)
{
    char text[LONGEST_LIST];
    int64_t value = 0;
    while (sp_next_item(&list, text, sizeof text)) {
        if (!read_value(where, &sp_plan_fields[field], text, &value, error))
            return false;
        if (!sp_allow_value(limits, field, value))
            return sp_fail(error, SP_INPUT, "--%s%s: more than %d values", where,
                           sp_plan_fields[field].name, SP_SEARCH_VALUES);
    }
    return true;
}

/* The dimension of that name; SP_PLAN_FIELDS with an error. */
static enum sp_plan_field_id find_dimension(const char *where, const char *key,
                                            struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = key};
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const struct sp_plan_field *const f = &sp_plan_fields[i];
        if (f->space == 0)
            continue;
        if (strcmp(f->name, key) == 0)
            return (enum sp_plan_field_id)i;
        sp_nearest_offer(&nearest, f->name);
    }
    sp_fail(error, SP_INPUT, "--%s\"%s\" is not a dimension of a plan%s", where, sp_safe(key),
            sp_nearest_hint(&nearest));
    return SP_PLAN_FIELDS;
}

/* Restricts one dimension to some values, once. */
static bool restrict_to(struct sp_space_limits *limits, const char *option, const char *key,
                        const char *list, struct sp_error *error)
{
    char where[16];
    snprintf(where, sizeof where, "%s: ", option);
    const enum sp_plan_field_id field = find_dimension(where, key, error);
    if (field == SP_PLAN_FIELDS)
        return false;
    if (limits->values[field] > 0)
        return sp_fail(error, SP_INPUT, "--%s%s is given twice", where, key);
    return take_values(where, field, list, limits, error);
}

/* "pp=4": a key with its values; cuts the text in two. */
static bool take_pair(struct sp_space_limits *limits, const char *option, char *pair,
                      struct sp_error *error)
{
    char *const equals = strchr(pair, '=');
    if (!equals)
        return sp_fail(error, SP_INPUT, "--%s: \"%s\" is not KEY=VALUE", option, sp_safe(pair));
    *equals = '\0';
    return restrict_to(limits, option, pair, equals + 1, error);
}

/* "pp=4,zero=1" of --fix: each key has one value. "zero=1,3" of --only: one key, several values. */
static bool take_pairs(struct sp_space_limits *limits, const char *option, const char *text,
                       bool several, struct sp_error *error)
{
    char pair[LONGEST_LIST];
    bool ok = true;
    if (strlen(text) >= sizeof pair)
        return sp_fail(error, SP_INPUT, "--%s: too long", option);
    snprintf(pair, sizeof pair, "%s", text);
    if (several)
        return take_pair(limits, option, pair, error);
    while (ok && sp_next_item(&text, pair, sizeof pair))
        ok = take_pair(limits, option, pair, error);
    return ok;
}

bool sp_space_limits_of(const struct sp_args *args, struct sp_space_limits *limits,
                        struct sp_error *error)
{
    const char *const moved = args->value.offload_modules;
    *limits = (struct sp_space_limits){.any = args->given.any,
                                       .moves = moved,
                                       .most_bytes = args->value.max_memory,
                                       .headroom = args->value.headroom};
    if (moved && strcmp(moved, "auto") != 0)
        return sp_fail(error, SP_INPUT, "--offload-modules: \"%s\" is not auto", sp_safe(moved));
    for (int i = 0; i < args->n_repeated; i++) {
        const enum sp_option_id id = args->repeated_id[i];
        if (id == SP_O_set_var)
            continue; /* a name from the script of --from */
        if (!take_pairs(limits, sp_option_name(id), args->repeated[i], id == SP_O_only, error))
            return false;
    }
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (sp_plan_fields[i].most && args->given_at[sp_option_of_most(i)])
            limits->most[i] = (int64_t)sp_number_at(args, sp_option_of_most(i));
    return true;
}
