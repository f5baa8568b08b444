/* Inputs that plans and measured runs leave open, and their effect on the step. */
#include <math.h>

#include <scaleplan/estimate.h>

#include "core/step/step_internal.h"

#define SP_UNKNOWN(id, key, spread, meaning) {key, spread, meaning},
const struct sp_unknown_info sp_unknowns[SP_UNKNOWNS] = {
#include <scaleplan/unknowns.def>
};
#undef SP_UNKNOWN

bool sp_is_open(const struct sp_step_inputs *in, enum sp_unknown unknown)
{
    const struct sp_network *const net = &in->hw->network;
    const struct sp_plan *const p = in->plan;
    const bool experts = in->model->moe.experts > 0;
    const bool open[SP_UNKNOWNS] = {
        [SP_OPEN_NETWORK] =
            net->kind == SP_SWITCHED && !net->scaleout_given && sp_plan_devices(p) > net->domain,
        [SP_OPEN_ROUTER] = experts && p->imbalance <= 1 && p->execution.capacity <= 0,
        [SP_OPEN_EXPERT_TP] = experts && p->tp > 1 && p->open_etp,
        [SP_OPEN_REMAT] = p->open_remat,
        [SP_OPEN_HOST] = net->kind == SP_SWITCHED,
        [SP_OPEN_RELEASE] = experts,
        [SP_OPEN_MACHINE] = true,
        [SP_OPEN_PUBLICATION] = true,
    };
    return open[unknown];
}

/* Logarithm of the step under another plan relative to `here`; 0 if the plan is not possible. */
static double way_to(const struct sp_step_inputs *in, const struct sp_layers *layers,
                     const struct sp_plan *plan, double here)
{
    struct sp_step_inputs other = *in;
    other.plan = plan;
    if (sp_check_plan(in->model, plan, sp_chips(in->hw), in->hw->slices) != SP_PLAN_OK)
        return 0;
    return log(sp_estimate_listed(&other, layers).step / here);
}

static double spread_at(enum sp_unknown unknown, const double *deviations)
{
    return sp_unknowns[unknown].spread * deviations[unknown];
}

/* sp_step_with_unknowns of a model whose layers are listed. */
static double step_with(const struct sp_step_inputs *inputs, const struct sp_layers *layers,
                        const double deviations[SP_UNKNOWNS])
{
    struct sp_step_inputs in = *inputs;
    struct sp_hardware hw;
    struct sp_profile profile;
    struct sp_plan plan = *in.plan;
    double moved = 0; /* of the logarithm */
    in.plan = &plan;
    if (deviations[SP_OPEN_NETWORK] != 0) {
        hw = *in.hw;
        hw.network.scaleout_bytes_per_s *= exp(spread_at(SP_OPEN_NETWORK, deviations));
        in.hw = &hw;
    }
    if (deviations[SP_OPEN_HOST] != 0) {
        profile = *in.profile;
        profile.value[SP_C_LAUNCH] *= exp(spread_at(SP_OPEN_HOST, deviations));
        in.profile = &profile;
    }
    plan.imbalance *= exp(spread_at(SP_OPEN_ROUTER, deviations));
    const double step = sp_estimate_listed(&in, layers).step;
    if (deviations[SP_OPEN_EXPERT_TP] != 0) {
        struct sp_plan divided = plan;
        divided.etp = plan.tp;
        moved += spread_at(SP_OPEN_EXPERT_TP, deviations) * way_to(&in, layers, &divided, step);
    }
    if (deviations[SP_OPEN_REMAT] != 0) {
        struct sp_plan again = plan;
        again.recompute = sp_find_policy("selective")->recompute;
        moved += spread_at(SP_OPEN_REMAT, deviations) * way_to(&in, layers, &again, step);
    }
    for (int u = SP_OPEN_RELEASE; u < SP_UNKNOWNS; u++)
        moved += spread_at((enum sp_unknown)u, deviations);
    return step * exp(moved);
}

double sp_step_with_unknowns(const struct sp_step_inputs *in, const double deviations[SP_UNKNOWNS])
{
    struct sp_layers room;
    return step_with(in, sp_layers_of(in, &room), deviations);
}

double sp_open_log(const struct sp_step_inputs *in)
{
    struct sp_layers room;
    const struct sp_layers *const layers = sp_layers_of(in, &room);
    double sum = 0;
    for (int u = 0; u < SP_OPEN_RELEASE; u++) {
        double deviations[SP_UNKNOWNS] = {0};
        if (!sp_is_open(in, (enum sp_unknown)u))
            continue;
        deviations[u] = 1;
        const double more = step_with(in, layers, deviations);
        deviations[u] = -1;
        const double part = log(more / step_with(in, layers, deviations)) / 2;
        sum += part * part;
    }
    return sqrt(sum);
}
