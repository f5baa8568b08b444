/* The table of a search's plans. */
#include "cli/plan_table.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/plan_fields.h"
#include "study/plan_text.h"

/* Columns of the table; a field has one if plans differ in it. */
static const struct {
    const char *column;
    enum sp_plan_field_id field; /* SP_PLAN_FIELDS: always */
    const char *same;            /* the column where plans do not differ; NULL: none */
} plan_columns[] = {
    {":, ", SP_PLAN_FIELDS, NULL},
    {"dp: dp, tp: tp, ", SP_PLAN_FIELDS, NULL},
    {"+dispatch: dispatch, ", SP_FIELD_DISPATCH, NULL},
    {"+moe_overlap: overlap, ", SP_FIELD_MOE_OVERLAP, NULL},
    {"+cp_kind: cp by, ", SP_FIELD_CP_KIND, NULL},
    {"+tp_axes: tp's axes, ", SP_FIELD_TP_AXES, NULL},
    {"+sequence_parallel: sp, ", SP_FIELD_SP, NULL},
    {"pp: pp, vpp: vpp, cp: cp, ", SP_PLAN_FIELDS, NULL},
    {"ep: ep, ", SP_FIELD_EP, "+ep: ep, "},
    {"+etp: etp, ", SP_FIELD_ETP, NULL},
    {"zero, ", SP_FIELD_ZERO, "+zero, "},
    {"+shards: over, micro_batch: micro, +schedule, ", SP_PLAN_FIELDS, NULL},
    {"+placement, ", SP_FIELD_PLACEMENT, NULL},
    {"remat, ", SP_PLAN_FIELDS, NULL},
    {"+recompute_modules: and, ", SP_FIELD_MODULES, NULL},
    {"+offload, ", SP_FIELD_OFFLOAD, NULL},
};
static const char last_columns[] =
    "step_s: step, mfu, +mfu_causal: MFU causal, memory.device_bytes: memory, +waits_for";

static bool differ_in(const struct sp_ranked *all, size_t n, enum sp_plan_field_id field)
{
    char first[SP_PLAN_TEXT] = "", other[SP_PLAN_TEXT] = "";
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!sp_has_effect(&all[i].found->plan, field))
            continue;
        sp_format_plan(&all[i].found->plan, &sp_plan_fields[field], any ? other : first);
        if (any && strcmp(first, other) != 0)
            return true;
        any = true;
    }
    return false;
}

/* One machine needs no column. */
void sp_put_plan_table(struct sp_searching *s, const struct sp_ranked *all, size_t n)
{
    char columns[512] = "";
    for (size_t i = 0; i < sizeof plan_columns / sizeof *plan_columns; i++) {
        const bool is_there =
            plan_columns[i].field == SP_PLAN_FIELDS || differ_in(all, n, plan_columns[i].field);
        const char *const column = is_there ? plan_columns[i].column : plan_columns[i].same;
        if (column)
            sp_append(columns, sizeof columns, "%s%s", column,
                      i == 0 && s->of.machines > 1 ? "machine, devices, " : "");
    }
    sp_list_table(s->report, "plans", "%s%s%s", columns, s->of.grounded ? SP_RANKED_BY : "",
                  last_columns);
}
