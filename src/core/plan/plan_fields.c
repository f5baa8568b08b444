/* The table of a plan's fields, with access by field. */
#include <math.h>

#include <scaleplan/names.h>
#include <scaleplan/plan.h>
#include <scaleplan/search.h>

#define SP_AT(member) .offset = offsetof(struct sp_plan, member)
#define SP_OVER(member) .space = offsetof(struct sp_search_space, member)
#define SP_PLAN_FIELD(id, ...) [SP_FIELD_##id] = {__VA_ARGS__},
const struct sp_plan_field sp_plan_fields[SP_PLAN_FIELDS] = {
#include <scaleplan/plan_fields.def>
};
#undef SP_PLAN_FIELD

/* Offload and modules are separate fields. */
static bool repeats_the_same(const struct sp_recompute *a, const struct sp_recompute *b)
{
    return a->qkv == b->qkv && a->core == b->core && a->out == b->out && a->up == b->up &&
           a->down == b->down && a->grouped == b->grouped && a->norms == b->norms &&
           a->spare == b->spare;
}

static double policy_of(const struct sp_recompute *recompute)
{
    for (int i = 0; i < SP_POLICIES; i++)
        if (repeats_the_same(recompute, &sp_policies[i].recompute))
            return i;
    return NAN;
}

double sp_plan_value(const struct sp_plan *plan, const struct sp_plan_field *field)
{
    const void *const at = (const char *)plan + field->offset;
    switch (field->kind) {
    case SP_PLAN_WHOLE:
        return (double)*(const int64_t *)at;
    case SP_PLAN_LEVEL:
    case SP_PLAN_NAME:
        return *(const int *)at;
    case SP_PLAN_REAL:
        return *(const double *)at;
    case SP_PLAN_SWITCH:
    case SP_PLAN_EITHER:
        return *(const bool *)at;
    case SP_PLAN_POLICY:
        return policy_of(at);
    case SP_PLAN_LIST:
        return *(const unsigned *)at;
    default:
        return NAN;
    }
}

const char *sp_plan_name(const struct sp_plan *plan, const struct sp_plan_field *field)
{
    const double value = sp_plan_value(plan, field);
    return field->names && field->kind != SP_PLAN_LIST && !isnan(value) ? field->names[(int)value]
                                                                        : NULL;
}

void sp_set_plan_value(struct sp_plan *plan, const struct sp_plan_field *field, double value)
{
    void *const at = (char *)plan + field->offset;
    const struct sp_recompute before = plan->recompute;
    switch (field->kind) {
    case SP_PLAN_WHOLE:
        *(int64_t *)at = (int64_t)value;
        return;
    case SP_PLAN_LEVEL:
    case SP_PLAN_NAME:
        *(int *)at = (int)value;
        return;
    case SP_PLAN_REAL:
        *(double *)at = value;
        return;
    case SP_PLAN_SWITCH:
    case SP_PLAN_EITHER:
        *(bool *)at = value != 0;
        return;
    case SP_PLAN_POLICY:
        plan->recompute = sp_policies[(int)value].recompute;
        plan->recompute.offload = before.offload;
        plan->recompute.modules = before.modules;
        plan->recompute.away = before.away;
        return;
    case SP_PLAN_LIST:
        *(unsigned *)at = (unsigned)value;
        return;
    default:
        return;
    }
}
