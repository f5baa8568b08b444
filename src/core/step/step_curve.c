/* Weak scaling of a plan: more replicas with a constant batch each. */
#include <math.h>

#include <scaleplan/estimate.h>
#include <scaleplan/plan.h>
#include <scaleplan/step.h>

const double sp_curve_bytes = 256e6;

/* Reduces the machine to `chips` chips: part of a slice, or whole slices. */
static bool take_chips(struct sp_hardware *hw, int64_t chips)
{
    const int64_t slice = hw->chips_per_slice;
    if (chips > slice && chips % slice != 0)
        return false;
    hw->slices = chips > slice ? chips / slice : 1;
    return chips > slice || sp_take_slice(hw, chips);
}

int sp_scale_step(const struct sp_step_inputs *in, struct sp_scaled_step *points, int room)
{
    const struct sp_plan *const whole = in->plan;
    const int64_t block = whole->tp * whole->pp * whole->cp;
    int n = 0;
    for (int64_t dp = 1; dp <= whole->dp && n < room; dp *= 2) {
        struct sp_hardware hw = *in->hw;
        struct sp_plan plan = *whole;
        if (!take_chips(&hw, block * dp))
            continue;
        plan.dp = dp;
        plan.batch = whole->batch / whole->dp * dp;
        plan.shards = sp_default_shards(&plan, hw.slices);
        if (sp_check_plan(in->model, &plan, block * dp, hw.slices) != SP_PLAN_OK)
            continue;
        struct sp_step_inputs there = *in;
        there.hw = &hw;
        there.plan = &plan;
        struct sp_scaled_step *const p = &points[n++];
        const double all_reduce = sp_all_reduce_s(&there, sp_curve_bytes);
        struct sp_stage_memory memory;
        *p = (struct sp_scaled_step){
            .chips = block * dp,
            .step_s = sp_evaluate(&there, &memory),
            .all_reduce_bytes_per_s = all_reduce > 0 ? sp_curve_bytes / all_reduce : NAN,
        };
        p->device_bytes = memory.device;
        p->verdict = sp_plan_verdict(&there, (double)memory.device);
        p->efficiency = points[0].step_s / p->step_s;
    }
    return n;
}
