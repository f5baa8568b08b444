/* The recomputation of a plan that states none: the lightest policy that fits. */
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
    struct sp_step_inputs tried = *in;
    struct sp_layers layers;
    struct sp_rank_layers mine;
    struct sp_stage_map map;
    tried.plan = &plan;
    sp_list_model(in->model, &layers);
    sp_layers_on_rank(&layers, &plan, in->framework, &mine);
    const struct sp_stage_split split = sp_split_of(&plan, (enum sp_balance)in->framework->balance);
    sp_map_stages(in->model, &split, &map);
    for (int i = 0; i < 2 && lighter[i]; i++) {
        struct sp_prepared_memory prepared;
        struct sp_kind_memory kinds[SP_STAGE_KINDS];
        struct sp_stage_memory m;
        plan.recompute = lighter[i]->recompute;
        sp_prepare_memory(&mine, &plan, in->framework, &prepared);
        sp_memory_of_kinds(in->framework, &prepared, &map, kinds);
        sp_fullest_prepared(in->precision, &plan, in->framework, &map, kinds, &m);
        if (in->model->tuning.companions)
            sp_hold_companions(&tried, 0, &m);
        if ((double)m.device <= most)
            return lighter[i];
    }
    return &sp_policies[SP_REMAT_FULL];
}
