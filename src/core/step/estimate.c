/* One plan's estimate: results of step.c and plan_memory.c. */
#include <math.h>

#include <scaleplan/estimate.h>
#include <scaleplan/forms.h>

#include "core/layers/layer_flops.h"
#include "core/step/step_internal.h"
#include "core/require.h"

/* Peak per chip in the plan's number format. FLOP/s. */
static double peak_of(const struct sp_step_inputs *in)
{
    return in->hw->chip.peak_flops_per_s[sp_compute_dtype(&in->hw->chip, in->plan->dtype)];
}

static struct sp_rates rates_of(const struct sp_step_inputs *in, const struct sp_layers *layers,
                                double step_s, enum sp_flop_convention convention)
{
    const struct sp_plan *const p = in->plan;
    const double seq = (double)p->seq, tokens = (double)p->batch * seq;
    const double N = (double)sp_chips(in->hw);
    const double C = peak_of(in);
    /* devices compute scores whether or not they are counted */
    const bool causal = convention != SP_FLOPS_FULL;
    const double again = sp_recomputed_flops_of(layers, p, in->framework, causal);
    struct sp_rates rates = {
        .convention = convention,
        .active = sp_worked_params(in->model, &layers->params, seq).active,
        .peak_flops_per_s = C,
        .tokens_per_s = sp_tokens_over_time(tokens, step_s),
        .tokens_per_s_per_device = sp_step_tokens_per_s_per_device(tokens, step_s, N),
    };
    double *const model = rates.flops_by;
    for (int c = 0; c < SP_FLOP_CONVENTIONS; c++) {
        const enum sp_flop_convention by = (enum sp_flop_convention)c;
        model[c] = sp_tuned_flops_of(layers, tokens, seq, by) +
                   sp_companion_flops(in->model->tuning.companions, tokens, seq, by);
        rates.mfu_by[c] = sp_step_utilisation(model[c], step_s, N, C);
    }
    rates.model_flops = model[convention];
    /* 6P counts an embedding table as a matmul: the FLOPs beyond the scores count here too */
    rates.executed_flops =
        fmax(model[convention], model[causal ? SP_FLOPS_CAUSAL : SP_FLOPS_FULL]) + again;
    rates.flops_per_s_per_device = rates.model_flops / step_s / N;
    rates.mfu = rates.mfu_by[convention];
    rates.hfu = sp_step_utilisation(rates.executed_flops, step_s, N, C);
    return rates;
}

struct sp_rates sp_step_rates(const struct sp_step_inputs *in, double step_s,
                              enum sp_flop_convention convention)
{
    struct sp_layers room;
    return rates_of(in, sp_layers_of(in, &room), step_s, convention);
}

/* The pipeline with all stages like the first; a single stage runs its micro-batches in
 * sequence. */
static struct sp_pipeline pipeline_of(const struct sp_plan *p, const struct sp_stage_time *first)
{
    return (struct sp_pipeline){.schedule = p->pp > 1 ? p->schedule : SP_1F1B,
                                .stages = p->pp,
                                .microbatches = sp_plan_microbatches(p),
                                .chunks = p->pp > 1 ? p->vpp : 1,
                                .forward_s = first->forward,
                                .backward_s = first->backward,
                                .weight_grad_s = first->weight_grad};
}

int64_t sp_tasks_of_plan(const struct sp_plan *plan)
{
    const struct sp_pipeline pipeline = pipeline_of(plan, &(struct sp_stage_time){0});
    const int64_t n = sp_tasks_of(&pipeline);
    return n <= SP_MOST_PLAYED_TASKS ? n : 0;
}

/* The caller provides the buffer, because core does not allocate; callers that do not print this
 * time do not compute it. */
bool sp_play_plan(const struct sp_plan *plan, const struct sp_estimate *e, struct sp_task *tasks,
                  struct sp_played *played)
{
    sp_require(sp_tasks_of_plan(plan) > 0, "the plan must have tasks by sp_tasks_of_plan");
    const struct sp_stage_time *const first = &e->kind[0];
    const struct sp_pipeline pipeline = pipeline_of(plan, first);
    struct sp_stage_scale scale[SP_MAX_STAGES];
    for (int64_t s = 0; s < plan->pp; s++) {
        const struct sp_stage_time *const t = &e->kind[e->map.of[s]];
        scale[s] = (struct sp_stage_scale){
            t->forward / first->forward, t->backward / first->backward,
            first->weight_grad > 0 ? t->weight_grad / first->weight_grad : 1};
    }
    return sp_play_pipeline(&pipeline, scale, 0, tasks, played);
}

static void estimate_time(const struct sp_step_inputs *in, const struct sp_rank_layers *mine,
                          bool with_buckets, struct sp_estimate *e)
{
    struct sp_staged staged;
    struct sp_prepared prepared;
    sp_prepare_step(in, mine, &prepared);
    sp_stage_times(in, &prepared, &e->map, &staged);
    for (int i = 0; i < e->map.kinds; i++)
        e->kind[i] = sp_sharded_kind(in, &staged.kind[i]);
    e->time = sp_estimate_staged(in, &prepared, &e->map, &staged);
    const int first = e->map.of[0];
    e->buckets = (struct sp_buckets){.exist = false};
    if (with_buckets)
        e->buckets =
            sp_buckets_of(in, &staged.kind[first].weights.trained, e->kind[first].backward);
    e->compute_s =
        sp_step_work(e->time.matmul, e->time.attention, e->time.elementwise, e->time.recompute);
    e->ideal_s = prepared.ideal_s;
}

/* Adds the companions' forward passes to the step. */
static void add_companions(const struct sp_step_inputs *in, struct sp_estimate *e)
{
    sp_cost_companions(in, &e->companions);
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        e->time.step += e->companions.forward_s[i];
}

enum sp_verdict sp_plan_verdict(const struct sp_step_inputs *in, double device)
{
    return sp_memory_verdict(in->framework->memory_residual, device,
                             sp_capacity_bytes(&in->hw->chip));
}

static void estimate_memory(const struct sp_step_inputs *in, const struct sp_rank_layers *mine,
                            bool with_stages, struct sp_estimate *e)
{
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    struct sp_prepared_memory prepared;
    sp_prepare_memory(mine, in->plan, in->framework, &prepared);
    sp_memory_of_kinds(in->framework, &prepared, &e->map, kinds);
    e->fullest = sp_fullest_beside(in, &e->map, kinds, with_stages ? e->stage : NULL, &e->memory);
    e->capacity_bytes = sp_capacity_bytes(&in->hw->chip);
    const double residual = in->framework->memory_residual, device = (double)e->memory.device;
    e->limit_bytes = sp_most_bytes(residual, e->capacity_bytes, SP_VERDICT_TIGHT);
    e->over_bytes = sp_step_bytes_over(device, e->limit_bytes);
    e->verdict = sp_plan_verdict(in, device);
    e->fits = e->verdict != SP_VERDICT_NO;
    e->oom_odds = sp_oom_odds(in->framework, (double)e->memory.device, e->capacity_bytes);
}

double sp_step_on_stages_s(const struct sp_step_inputs *in, const struct sp_rank_layers *mine,
                           const struct sp_stage_map *map)
{
    struct sp_prepared prepared;
    struct sp_staged staged;
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    sp_prepare_step(in, mine, &prepared);
    sp_stage_times(in, &prepared, map, &staged);
    return sp_step_beside_s(in, sp_estimate_staged(in, &prepared, map, &staged).step);
}

double sp_evaluate(const struct sp_step_inputs *in, struct sp_stage_memory *memory)
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    struct sp_layers room;
    struct sp_stage_map map;
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    struct sp_rank_layers mine;
    struct sp_prepared_memory held;
    sp_layers_on_rank(sp_layers_of(in, &room), in->plan, in->framework, &mine);
    const struct sp_stage_split split =
        sp_split_of(in->plan, (enum sp_balance)in->framework->balance);
    sp_map_stages(in->model, &split, &map);
    sp_prepare_memory(&mine, in->plan, in->framework, &held);
    sp_memory_of_kinds(in->framework, &held, &map, kinds);
    sp_fullest_beside(in, &map, kinds, NULL, memory);
    return sp_step_on_stages_s(in, &mine, &map);
}

/* Rates that were not asked for. */
static struct sp_rates no_rates(enum sp_flop_convention convention)
{
    struct sp_rates rates = {convention, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, {0}, {0}};
    for (int c = 0; c < SP_FLOP_CONVENTIONS; c++)
        rates.flops_by[c] = rates.mfu_by[c] = NAN;
    return rates;
}

static void estimate_range(const struct sp_step_inputs *in, bool with_range, struct sp_estimate *e)
{
    e->range = with_range ? sp_range_of(in) : NAN;
    e->low_s = with_range ? sp_range_low(e->time.step, e->range) : NAN;
    e->high_s = with_range ? sp_range_high(e->time.step, e->range) : NAN;
}

void sp_estimate_parts(const struct sp_step_inputs *unlisted, enum sp_flop_convention convention,
                       unsigned parts, struct sp_task *tasks, struct sp_estimate *e)
{
    struct sp_layers room;
    struct sp_step_inputs listed = *unlisted;
    const struct sp_step_inputs *const in = &listed;
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    struct sp_rank_layers mine;
    listed.layers = sp_layers_of(unlisted, &room);
    sp_layers_on_rank(in->layers, in->plan, in->framework, &mine);
    const struct sp_stage_split split =
        sp_split_of(in->plan, (enum sp_balance)in->framework->balance);
    sp_map_stages(in->model, &split, &e->map);
    estimate_time(in, &mine, parts & SP_WITH_BUCKETS, e);
    estimate_memory(in, &mine, parts & SP_WITH_STAGES, e);
    e->companions = (struct sp_companion_cost){{0}, {0}};
    if (in->model->tuning.companions)
        add_companions(in, e);
    estimate_range(in, parts & SP_WITH_RANGE, e);
    e->health = sp_health_of(&e->time);
    e->rates = parts & SP_WITH_RATES ? rates_of(in, in->layers, e->time.step, convention)
                                     : no_rates(convention);
    struct sp_played played;
    const bool plays = in->plan->pp > 1 && tasks && sp_tasks_of_plan(in->plan) > 0;
    e->played_s = plays && sp_play_plan(in->plan, e, tasks, &played) ? played.makespan_s : NAN;
}

void sp_estimate(const struct sp_step_inputs *in, enum sp_flop_convention convention,
                 struct sp_task *tasks, struct sp_estimate *e)
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    sp_estimate_parts(in, convention, ~0U, tasks, e);
}
