/* The recomputation of a plan that says none: the lightest policy that fits. */
#include <scaleplan/estimate.h>

#include "core/step/step_internal.h"
#include "core/require.h"

const struct sp_policy *sp_lightest_policy(const struct sp_step_inputs *in,
                                           const struct sp_policy *selective, double most)
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    const struct sp_policy *const lighter[] = {&sp_policies[SP_REMAT_NONE], selective};
    struct sp_plan plan = *in->plan;
    for (int i = 0; i < 2 && lighter[i]; i++) {
        struct sp_stage_memory m;
        plan.recompute = lighter[i]->recompute;
        struct sp_step_inputs tried = *in;
        tried.plan = &plan;
        sp_fullest_stage(in->model, in->precision, &plan, in->framework, &m);
        if (in->model->tuning.companions)
            sp_hold_companions(&tried, 0, &m);
        if ((double)m.device <= most)
            return lighter[i];
    }
    return &sp_policies[SP_REMAT_FULL];
}
