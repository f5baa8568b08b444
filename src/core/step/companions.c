/* Models that run forward alongside the trained one. */
#include <math.h>

#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>

#include "core/layers/layer_rank.h"
#include "core/require.h"

struct sp_model sp_forward_model(const struct sp_model *model)
{
    struct sp_model m = *model;
    m.tuning =
        (struct sp_tuning){.trainable = SP_TRAIN_LAST, .base_bytes = model->tuning.base_bytes};
    return m;
}

struct sp_plan sp_companion_plan(const struct sp_model *model, const struct sp_plan *plan)
{
    struct sp_plan p = *plan;
    p.recompute = sp_policies[SP_REMAT_NONE].recompute;
    if (model->moe.experts == 0)
        p.ep = p.etp = 1;
    return p;
}

/* The step inputs of a companion. */
static struct sp_step_inputs inputs_of(const struct sp_step_inputs *in,
                                       const struct sp_model *model, const struct sp_plan *plan)
{
    struct sp_step_inputs own = *in;
    own.model = model;
    own.plan = plan;
    own.layers = NULL;
    return own;
}

/* Weight bytes per device of a stage. */
static double weights_at(const struct sp_step_inputs *in, const struct sp_model *model,
                         int64_t stage)
{
    const struct sp_plan plan = sp_companion_plan(model, in->plan);
    return (double)sp_memory_of_stage(model, in->precision, &plan, in->framework, stage).params;
}

bool sp_companions_take(const struct sp_companions *companions, const struct sp_plan *of_trained,
                        int64_t devices, int64_t slices)
{
    for (int i = 0; companions && i < SP_COMPANION_ROLES; i++) {
        const struct sp_model *const model = &companions->of[i].model;
        if (companions->of[i].place == SP_COMPANION_NONE)
            continue;
        const struct sp_plan plan = sp_companion_plan(model, of_trained);
        if (sp_check_plan(model, &plan, devices, slices) != SP_PLAN_OK)
            return false;
    }
    return true;
}

/* A companion is a step with nothing trained on the same plan. Its time is part of the step but of
 * none of its components; the ideal includes it. */
void sp_cost_companions(const struct sp_step_inputs *in, struct sp_companion_cost *cost)
{
    const struct sp_companions *const companions = in->model->tuning.companions;
    *cost = (struct sp_companion_cost){{0}, {0}};
    for (int i = 0; companions && i < SP_COMPANION_ROLES; i++) {
        const struct sp_model *const model = &companions->of[i].model;
        if (companions->of[i].place == SP_COMPANION_NONE)
            continue;
        const struct sp_plan plan = sp_companion_plan(model, in->plan);
        const struct sp_step_inputs own = inputs_of(in, model, &plan);
        const bool away = companions->of[i].place == SP_COMPANION_OFFLOADED;
        const bool held = companions->of[i].place != SP_COMPANION_SHARED;
        cost->bytes[i] = held ? weights_at(in, model, 0) : 0;
        cost->forward_s[i] = sp_estimate_step(&own).step +
                             (away ? cost->bytes[i] / sp_host_bytes_per_s(&in->hw->chip) : 0);
    }
}

double sp_step_beside_s(const struct sp_step_inputs *in, double alone)
{
    struct sp_companion_cost cost;
    double step = alone;
    if (!in->model->tuning.companions)
        return alone;
    sp_cost_companions(in, &cost);
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        step += cost.forward_s[i];
    return step;
}

/* Search bounds include only the ideal time of companions, a lower bound for all plans on the same
 * devices. */
double sp_least_companions_s(const struct sp_step_inputs *in)
{
    const struct sp_companions *const companions = in->model->tuning.companions;
    double least = 0;
    for (int i = 0; companions && i < SP_COMPANION_ROLES; i++) {
        if (companions->of[i].place == SP_COMPANION_NONE)
            continue;
        const struct sp_step_inputs own = inputs_of(in, &companions->of[i].model, in->plan);
        least += sp_ideal_step_s(&own);
    }
    return least;
}

double sp_companion_flops(const struct sp_companions *companions, double tokens, double seq,
                          enum sp_flop_convention convention)
{
    double flops = 0;
    for (int i = 0; companions && i < SP_COMPANION_ROLES; i++) {
        const struct sp_model *const model = &companions->of[i].model;
        if (companions->of[i].place != SP_COMPANION_NONE)
            flops += convention == SP_FLOPS_6P ? 2 * sp_count_params(model).active * tokens
                                               : sp_tuned_flops(model, tokens, seq, convention);
    }
    return flops;
}

void sp_hold_companions(const struct sp_step_inputs *in, int64_t stage, struct sp_stage_memory *m)
{
    sp_require(sp_companions_take(in->model->tuning.companions, in->plan, sp_chips(in->hw),
                                  in->hw->slices),
               "the plan must pass sp_check_plan with each of the models");
    const struct sp_companions *const companions = in->model->tuning.companions;
    double held = 0, away = 0;
    for (int i = 0; i < SP_COMPANION_ROLES; i++) {
        if (companions->of[i].place == SP_COMPANION_HELD)
            held += weights_at(in, &companions->of[i].model, stage);
        else if (companions->of[i].place == SP_COMPANION_OFFLOADED) /* sequentially */
            away = fmax(away, weights_at(in, &companions->of[i].model, stage));
    }
    if (stage == in->plan->pp - 1)
        held += companions->logit_bytes * sp_shard_tokens(in->plan) / (double)in->plan->tp;
    m->buffers += llround(held + fmax(away - (double)m->activations, 0));
    sp_sum_stage_memory(in->framework, m);
}

int64_t sp_fullest_beside(const struct sp_step_inputs *in, const struct sp_stage_map *map,
                          const struct sp_kind_memory *kinds, struct sp_stage_memory *stages,
                          struct sp_stage_memory *memory)
{
    int64_t fullest = 0;
    if (!in->model->tuning.companions && !stages)
        return sp_fullest_prepared(in->precision, in->plan, in->framework, map, kinds, memory);
    for (int64_t stage = 0; stage < map->stages; stage++) {
        struct sp_stage_memory m = sp_memory_at_stage(in->precision, in->plan, in->framework,
                                                      &kinds[map->of[stage]], stage);
        if (in->model->tuning.companions)
            sp_hold_companions(in, stage, &m);
        if (stages)
            stages[stage] = m;
        if (stage == 0 || m.live > memory->live) {
            *memory = m;
            fullest = stage;
        }
    }
    return fullest;
}
