/* Plans as text: field values, changes, and short distinguishing names. */
#include "study/plan_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

/* The names of a list's bits, comma-separated. */
static void format_list(const struct sp_plan_field *f, unsigned bits, char out[SP_PLAN_TEXT])
{
    for (int i = 0; f->names[i]; i++)
        if (bits >> i & 1)
            sp_append(out, SP_PLAN_TEXT, "%s%s", out[0] ? "," : "", f->names[i]);
}

/* "7,8,8,9", with an m where modules for further tokens are apart. */
static void format_stages(const struct sp_own_stages *own, char out[SP_PLAN_TEXT])
{
    for (int s = 0; s < own->n; s++)
        sp_append(out, SP_PLAN_TEXT, "%s%d%s", s > 0 ? "," : "", own->layers[s],
                  own->modules_apart && s == own->n - 2 ? "m" : "");
}

void sp_format_plan(const struct sp_plan *plan, const struct sp_plan_field *f,
                    char out[SP_PLAN_TEXT])
{
    const char *const name = sp_plan_name(plan, f);
    const double value = sp_plan_value(plan, f);
    out[0] = '\0';
    if (f->kind == SP_PLAN_AXES && plan->tp_axes[0] > 0)
        snprintf(out, SP_PLAN_TEXT, "%dx%dx%d", plan->tp_axes[0], plan->tp_axes[1],
                 plan->tp_axes[2]);
    else if (f->kind == SP_PLAN_STAGES)
        format_stages(&plan->own, out);
    else if (f->kind == SP_PLAN_LIST)
        format_list(f, (unsigned)value, out);
    else if (name)
        snprintf(out, SP_PLAN_TEXT, "%s", name);
    else if (!isnan(value))
        sp_format_double(value, out, SP_PLAN_TEXT);
}

bool sp_has_effect(const struct sp_plan *plan, enum sp_plan_field_id field)
{
    switch (field) {
    case SP_FIELD_SP:
        return plan->tp > 1;
    case SP_FIELD_DISPATCH:
    case SP_FIELD_MOE_OVERLAP:
        return plan->ep > 1;
    case SP_FIELD_CP_KIND:
        return plan->cp > 1;
    case SP_FIELD_SCHEDULE:
        return plan->pp > 1;
    case SP_FIELD_PLACEMENT:
        return plan->pp > 1 && plan->dp * plan->cp > 1;
    default:
        return true;
    }
}

void sp_change_text(const struct sp_neighbour *n, const char *dash, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < n->changes; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[n->field[i]];
        char value[SP_PLAN_TEXT];
        sp_format_plan(&n->plan, field, value);
        sp_append(out, size, "%s%s%s %s", out[0] ? ", " : "", dash, field->name, value);
    }
}

/* The common part of every name: degrees above 1, ZeRO stage, recomputation. */
static void name_plan(const struct sp_plan *plan, char name[SP_SHORT_NAME])
{
    static const enum sp_plan_field_id degrees[] = {SP_FIELD_TP, SP_FIELD_PP, SP_FIELD_VPP,
                                                    SP_FIELD_CP, SP_FIELD_EP};
    name[0] = '\0';
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[degrees[i]];
        if (sp_plan_value(plan, field) > 1)
            sp_append(name, SP_SHORT_NAME, "%s %.0f ", field->name, sp_plan_value(plan, field));
    }
    char policy[SP_PLAN_TEXT];
    sp_format_plan(plan, &sp_plan_fields[SP_FIELD_REMAT], policy);
    sp_append(name, SP_SHORT_NAME, "zero %d, %s", plan->zero, policy);
}

/* A field's value within a name. */
struct value {
    char text[SP_PLAN_TEXT];
};

/* Adds a field to names that are still equal and differ in it. */
static void tell_apart(const struct sp_plan *plans, size_t n, enum sp_plan_field_id id,
                       struct sp_short_name *names, struct value *values, bool *adds)
{
    for (size_t i = 0; i < n; i++)
        sp_format_plan(&plans[i], &sp_plan_fields[id], values[i].text);
    for (size_t i = 0; i < n; i++) {
        adds[i] = false;
        for (size_t k = 0; k < n && !adds[i]; k++)
            adds[i] = strcmp(values[i].text, values[k].text) != 0 &&
                      strcmp(names[i].text, names[k].text) == 0;
    }
    for (size_t i = 0; i < n; i++)
        if (adds[i])
            sp_append(names[i].text, SP_SHORT_NAME, ", %s %s", sp_plan_fields[id].name,
                      values[i].text);
}

void sp_name_plans(const struct sp_plan *plans, size_t n, struct sp_short_name *names)
{
    static const enum sp_plan_field_id others[] = {
        SP_FIELD_DP,      SP_FIELD_MICRO,    SP_FIELD_SHARDS,    SP_FIELD_SP,
        SP_FIELD_ETP,     SP_FIELD_SCHEDULE, SP_FIELD_PLACEMENT, SP_FIELD_OFFLOAD,
        SP_FIELD_MODULES, SP_FIELD_TP_AXES,  SP_FIELD_DISPATCH,  SP_FIELD_MOE_OVERLAP,
        SP_FIELD_CP_KIND};
    struct value *const values = sp_must(calloc(n + 1, sizeof *values));
    bool *const adds = sp_must(calloc(n + 1, sizeof *adds));
    for (size_t i = 0; i < n; i++)
        name_plan(&plans[i], names[i].text);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        tell_apart(plans, n, others[k], names, values, adds);
    free(adds);
    free(values);
}

struct sp_short_name *sp_names_of_plans(const struct sp_plan *plans, size_t n)
{
    struct sp_short_name *const names = sp_must(calloc(n + 1, sizeof *names));
    sp_name_plans(plans, n, names);
    return names;
}
