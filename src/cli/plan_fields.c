/* The fields of a plan at the command line: code that knows options, reports or words of them. */
#include "cli/plan_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SP_PLAN_FIELD(id, ...) [SP_FIELD_##id] = SP_Q_STEP_##id,
const enum sp_quantity_id sp_plan_rows[SP_PLAN_FIELDS] = {
#include <scaleplan/plan_fields.def>

#include "base/text.h"
};
#undef SP_PLAN_FIELD

static void put_field(struct sp_report *r, const struct sp_plan *plan, int i)
{
    char text[SP_PLAN_TEXT];
    if (!sp_takes(r, sp_plan_rows[i]))
        return;
    switch (sp_plan_fields[i].kind) {
    case SP_PLAN_WHOLE:
    case SP_PLAN_LEVEL:
    case SP_PLAN_REAL:
        sp_put(r, sp_plan_rows[i], sp_plan_value(plan, &sp_plan_fields[i]));
        return;
    case SP_PLAN_SWITCH:
        sp_put_bool(r, sp_plan_rows[i], sp_plan_value(plan, &sp_plan_fields[i]) != 0);
        return;
    default:
        sp_format_plan(plan, &sp_plan_fields[i], text);
        if (text[0])
            sp_put_text(r, sp_plan_rows[i], "%s", text);
        else
            sp_put_null(r, sp_plan_rows[i]);
    }
}

void sp_put_fields(struct sp_report *r, const struct sp_plan *plan)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        put_field(r, plan, i);
}

/* Whether the field is a setting that `step` chooses if it is not given (sp_resolve_settings).
 */
static bool is_setting(enum sp_plan_field_id field)
{
    return field == SP_FIELD_MICRO || field == SP_FIELD_DISPATCH || field == SP_FIELD_MOE_OVERLAP ||
           field == SP_FIELD_CP_KIND;
}

/* Whether the rest of the plan, or the framework, determines the field. */
static bool follows(const struct sp_plan *p, const struct sp_model *model,
                    const struct sp_framework *f, int64_t slices, enum sp_plan_field_id field)
{
    const struct sp_plan usual = {.execution = f->execution};
    switch (field) {
    case SP_FIELD_SHARDS:
        return p->zero == 0 || p->shards == sp_default_shards(p, slices);
    case SP_FIELD_ETP:
        return p->etp == sp_usual_etp(model, p->tp, p->ep);
    case SP_FIELD_DTYPE: /* --precision has one */
        return true;
    case SP_FIELD_DISPATCH:
    case SP_FIELD_MOE_OVERLAP:
    case SP_FIELD_CUDA_GRAPH:
    case SP_FIELD_FP8_RECIPE:
    case SP_FIELD_ATTENTION_KERNEL:
    case SP_FIELD_DP_OVERLAP:
    case SP_FIELD_LOGITS:
    case SP_FIELD_DROPOUT:
    case SP_FIELD_CP_KIND:
    case SP_FIELD_CAPACITY:
        return sp_plan_value(p, &sp_plan_fields[field]) ==
               sp_plan_value(&usual, &sp_plan_fields[field]);
    default:
        return false;
    }
}

/* The field's value as its option takes it, if it differs from the usual one; else "". */
static void format_unusual(const struct sp_plan *plan, const struct sp_model *model,
                           const struct sp_framework *framework, int64_t slices,
                           enum sp_plan_field_id field, char out[SP_PLAN_TEXT])
{
    const char *const fallback = sp_plan_fields[field].fallback;
    sp_format_plan(plan, &sp_plan_fields[field], out);
    if ((fallback && strcmp(out, fallback) == 0) || !sp_has_effect(plan, field) ||
        follows(plan, model, framework, slices, field))
        out[0] = '\0';
}

void sp_plan_words(const struct sp_plan *plan, const struct sp_model *model,
                   const struct sp_framework *framework, int64_t slices, struct sp_words *words)
{
    for (enum sp_plan_field_id i = 0; i < SP_PLAN_FIELDS; i++) {
        char text[SP_PLAN_TEXT];
        format_unusual(plan, model, framework, slices, i, text);
        if (is_setting(i) && sp_has_effect(plan, i))
            sp_format_plan(plan, &sp_plan_fields[i], text);
        if (text[0])
            sp_add_option(words, sp_plan_fields[i].name, text);
    }
}

void sp_plan_rest(const struct sp_plan *plan, const struct sp_model *model,
                  const struct sp_framework *framework, int64_t slices, char *out, size_t size)
{
    out[0] = '\0';
    for (enum sp_plan_field_id i = 0; i < SP_PLAN_FIELDS; i++) {
        char text[SP_PLAN_TEXT];
        format_unusual(plan, model, framework, slices, i, text);
        if (text[0] && !sp_plan_fields[i].in_line)
            sp_append(out, size, ", %s %s", sp_plan_fields[i].name, text);
    }
}

void sp_chosen_words(const struct sp_planned *p, char out[SP_PLAN_REST])
{
    out[0] = '\0';
    for (enum sp_plan_field_id i = 0; i < SP_PLAN_FIELDS; i++) {
        char text[SP_PLAN_TEXT];
        sp_format_plan(&p->plan, &sp_plan_fields[i], text);
        const bool is_none =
            text[0] == '\0' || (i == SP_FIELD_OFFLOAD && !p->plan.recompute.offload);
        if (p->origin[i] == SP_ORIGIN_CHOSEN && !is_none)
            sp_append(out, SP_PLAN_REST, "%s--%s %s", out[0] ? " " : "", sp_plan_fields[i].name,
                      text);
    }
}
