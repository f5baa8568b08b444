/* Changes of a plan as words and quantities. */
#include "commands/neighbours.h"

#include <stdio.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "cli/plan_fields.h"

void sp_change_text(const struct sp_neighbour *n, const char *dash, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < n->changes; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[n->field[i]];
        char value[SP_PLAN_TEXT];
        const size_t used = strlen(out);
        sp_format_plan(&n->plan, field, value);
        snprintf(out + used, size - used, "%s%s%s %s", used ? ", " : "", dash, field->name, value);
    }
}

void sp_put_neighbour(struct sp_report *r, const struct sp_step_inputs *in,
                      const struct sp_neighbour *n, const struct sp_estimate *plan)
{
    const enum sp_tier tier = sp_tier_of(in->model, &in->hw->chip, in->plan);
    char change[64];
    sp_change_text(n, "", change, sizeof change);
    sp_put_text(r, SP_Q_NEAR_CHANGE, "%s", change);
    sp_put(r, SP_Q_NEAR_STEP, n->step_s);
    sp_put(r, SP_Q_NEAR_GAIN, 100 * (1 - n->step_s / plan->time.step));
    sp_put_bool(r, SP_Q_NEAR_TIE, sp_is_tie(n->step_s, plan->time.step, sp_lead_log(tier)));
    sp_put(r, SP_Q_NEAR_MEMORY, n->device_bytes);
}
