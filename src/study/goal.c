/* A goal as a function of the machine: by a fixed plan, the best plan, or closed forms. */
#include "study/goal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "base/memory.h"

bool sp_is_served(enum sp_aim_kind kind)
{
    return kind >= SP_AIM_TPOT;
}

/* Load of a strategy on a machine in closed form: of the given strategy, of the best mesh per
 * machine, or of the fixed mesh with as many replicas or shards as the chips allow. */
static double comms_over_math(const struct sp_hardware *hw, const struct sp_aimed *aim)
{
    struct sp_fit_input in = aim->fit;
    in.hw = hw;
    if (!aim->strategy)
        in.axes = 0; /* as sp_fit_best */
    const struct sp_fit_terms terms = sp_fit_terms(&in);
    const struct sp_degrees degrees = {.tp = aim->mesh.tp, .pp = aim->mesh.pp};
    const struct sp_strategy s = aim->strategy ? sp_fit_strategy(&in, &terms, aim->strategy_kind)
                                 : aim->replan
                                     ? sp_fit_quietest(&in, &terms)
                                     : sp_fit_mesh(&in, &terms, aim->mesh.kind, &degrees, true);
    return s.exists ? s.comms_over_math : aim->replan ? INFINITY : NAN;
}

/* The plan on a machine of another size, with other replicas. False if they do not divide the batch
 * or the plan is invalid there. */
static bool take_chips(const struct sp_planned *held, struct sp_planned *p)
{
    const int64_t was = sp_chips(&held->hw), is = sp_chips(&p->hw);
    const int64_t others = was / p->plan.dp;
    const bool whole = p->plan.shards == sp_default_shards(&held->plan, held->hw.slices);
    if (was == is)
        return true;
    p->plan.dp = is / others;
    if (p->plan.dp * others != is)
        return false;
    memset(p->plan.tp_axes, 0, sizeof p->plan.tp_axes);
    if (whole)
        p->plan.shards = sp_default_shards(&p->plan, p->hw.slices);
    return sp_check_plan(&p->model, &p->plan, is, p->hw.slices) == SP_PLAN_OK;
}

bool sp_follows_chip(const struct sp_aimed *aim)
{
    return aim->power_prior || !aim->planned.own_profile;
}

/* Expected values of the constants on a machine. A measured kernel says nothing about another chip,
 * so with the power prior its share of the peak does not count. */
static void expect(const struct sp_planned *p, bool by_power, struct sp_profile *profile)
{
    struct sp_hardware hw = p->hw;
    if (by_power)
        memset(hw.chip.kernels.matmul, 0, sizeof hw.chip.kernels.matmul);
    *profile = p->profile;
    sp_expect_constants(&hw, &p->framework.framework, profile);
}

/* Moves the constants by the change of the chip's expected values. */
static void move_constants(const struct sp_planned *held, bool by_power, struct sp_planned *p)
{
    struct sp_profile before, after;
    expect(held, by_power, &before);
    expect(p, by_power, &after);
    for (int c = 0; c < SP_CONSTANTS; c++)
        p->profile.value[c] = sp_constant_in_bounds(c, held->profile.value[c] * after.expected[c] /
                                                           before.expected[c]);
}

/* A search of the goal's machine; sp_close_search and free() it. */
static struct sp_search *open_search(const struct sp_aimed *aim, const struct sp_planned *p)
{
    struct sp_search *const search = sp_must(calloc(1, sizeof *search));
    search->limits = aim->limits;
    search->run = (struct sp_search_run){.wanted = 1, .shards = 1, .first_alone = true};
    if (aim->kind == SP_AIM_FITS) {
        search->problem.goal = SP_GOAL_MEMORY;
        search->limits.most_bytes = INFINITY;
    }
    search->grounded = sp_ranks_time(search);
    struct sp_candidate *const m = sp_add_machine(search);
    sp_copy_planned(&m->base, p);
    m->ground = aim->ground;
    return search;
}

bool sp_find_best_plan(const struct sp_aimed *aim, struct sp_planned *p, bool *is_empty)
{
    struct sp_search *const search = open_search(aim, p);
    struct sp_error ignored = {0};
    bool found = sp_open_machine(search, search->machine[0], &ignored);
    if (found) {
        sp_search_machine(search, 0);
        sp_finish_search(search);
    }
    const struct sp_candidate *const m = search->machine[0];
    found = found && m->result.best.n > 0;
    if (found) {
        sp_copy_planned(p, &m->base);
        p->plan = m->result.best.found[0].plan;
        p->problem.machine = NULL; /* it was the candidate's */
    }
    if (is_empty)
        *is_empty = !found && sp_has_no_plan(search);
    sp_close_search(search);
    free(search);
    return found;
}

/* The goal's value in an estimate. */
static double value_of(const struct sp_aimed *aim, const struct sp_planned *p,
                       const struct sp_estimate *e)
{
    const struct sp_place place = sp_place_of(&p->model, &p->hw, &p->plan);
    const double doubt = /* of plans that are searched, as in sp_run_step_s */
        aim->searched || aim->replan ? sp_doubt(sp_octaves_away(&aim->ground, &place)) : 1;
    const double run_s = doubt * aim->planned.problem.tokens / e->rates.tokens_per_s;
    switch (aim->kind) {
    case SP_AIM_FITS:
        return (double)e->memory.device / e->limit_bytes;
    case SP_AIM_DAYS:
        return run_s / 86400;
    case SP_AIM_COST:
        return (double)(sp_chips(&p->hw) + p->left_idle) * run_s / 3600 *
               p->hw.chip.price_usd_per_h;
    case SP_AIM_MFU:
        return e->rates.mfu;
    case SP_AIM_TOKENS:
        return e->rates.tokens_per_s;
    default:
        return e->time.step;
    }
}

double sp_aimed_value(const struct sp_hardware *hw, void *context)
{
    const struct sp_aimed *const aim = context;
    struct sp_estimate e;
    if (aim->kind == SP_AIM_COMPUTE_BOUND)
        return comms_over_math(hw, aim);
    if (sp_is_served(aim->kind))
        return aim->value_of_service(hw, aim->service);
    struct sp_planned p = aim->planned;
    p.hw = *hw;
    if (sp_follows_chip(aim))
        move_constants(&aim->planned, aim->power_prior, &p);
    const bool known = aim->searched && hw == aim->hw; /* the plan is already its best */
    if (aim->replan && !known ? !sp_find_best_plan(aim, &p, NULL) : !take_chips(&aim->planned, &p))
        return !aim->replan ? NAN : aim->at_least ? 0 : INFINITY;
    const struct sp_step_inputs in = sp_inputs_of(&p);
    sp_estimate_parts(&in, aim->convention, SP_WITH_RATES, NULL, &e);
    return value_of(aim, &p, &e);
}

void sp_close_chips(struct sp_chips_found *found)
{
    free(found->exact.at);
    free(found->fewer.at);
    if (found->search)
        sp_close_search(found->search);
    free(found->search);
}

void sp_find_chips(const struct sp_aimed *aim, double target, struct sp_need *need,
                   struct sp_chips_found *found)
{
    struct sp_error ignored = {0};
    *found = (struct sp_chips_found){.exact.value = NAN};
    const bool fits = aim->kind == SP_AIM_FITS && target == 1;
    if (aim->is_typed || aim->hw->slices > 1 ||
        (aim->kind != SP_AIM_STEP && aim->kind != SP_AIM_DAYS && !fits))
        return;
    struct sp_search *const search = found->search = open_search(aim, &aim->planned);
    struct sp_problem *const asked = &search->machine[0]->base.problem;
    asked->max_step_s = aim->kind == SP_AIM_STEP ? target : NAN;
    asked->days = aim->kind == SP_AIM_DAYS ? target : NAN;
    search->problem.goal = SP_GOAL_STEP; /* of whatever fits, not the least memory at any size */
    search->limits.most_bytes = aim->limits.most_bytes;
    const bool is_open = sp_open_machine(search, search->machine[0], &ignored);
    if (is_open && fits)
        sp_find_fitting(search, &found->exact);
    else if (is_open) {
        sp_find_size(search, SP_FIND_DEVICES, &found->exact);
        sp_find_worth_fewer(&found->exact, &found->fewer);
    }
    if (!isnan(found->exact.value)) {
        need->needed = found->exact.value;
        need->factor = sp_needed_factor(need->needed, need->now);
        need->reachable = true;
    }
}

void sp_look_close_by_goal(const struct sp_aimed *aim, struct sp_close_by *found,
                           struct sp_emptied *why)
{
    struct sp_error ignored = {0};
    struct sp_search *const search = open_search(aim, &aim->planned);
    *found = (struct sp_close_by){0};
    if (sp_open_machine(search, search->machine[0], &ignored)) {
        sp_search_machine(search, 0);
        sp_finish_search(search);
        sp_look_close_by(search, 0, found);
        if (aim->is_empty)
            *why = sp_why_empty(search, 0, found);
    }
    sp_close_search(search);
    free(search);
}

void sp_find_peaks(struct sp_aimed *aim, bool peaks[SP_DTYPES])
{
    const bool replan = aim->replan;
    aim->replan = false;
    const double now = sp_aimed_value(aim->hw, aim);
    for (int d = 0; d < SP_DTYPES; d++) {
        const enum sp_machine_figure peak = (enum sp_machine_figure)(SP_FIGURE_PEAK + d);
        struct sp_hardware other;
        if (sp_with_figure(aim->hw, peak, sp_figure_value(peak, aim->hw) / 1000, &other) &&
            fabs(sp_aimed_value(&other, aim) / now - 1) > 1e-9)
            peaks[d] = true;
    }
    aim->replan = replan;
}
