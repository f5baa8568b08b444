/* Ties: leads smaller than the error of the difference. */
#include <math.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "study/search_machines.h"

bool sp_ranks_time(const struct sp_search *s)
{
    return !s->run.front && s->problem.goal != SP_GOAL_DEVICES && s->problem.goal != SP_GOAL_MEMORY;
}

static enum sp_tier tier_of(const struct sp_candidate *m, const struct sp_plan *plan)
{
    return sp_tier_of(&m->base.model, &m->base.hw.chip, plan);
}

/* Half-width of the 80 % range of a plan's ln(step) on a machine. */
static double range_of(const struct sp_candidate *m, const struct sp_plan *plan)
{
    struct sp_step_inputs in = sp_inputs_of(&m->base);
    in.plan = plan;
    return sp_range_of(&in);
}

/* Least lead (of the logarithm) between two plans that is not a tie. */
static double lead_between(const struct sp_search *s, int machine, const struct sp_plan *plan,
                           int other, const struct sp_plan *than)
{
    const struct sp_candidate *const m = s->machine[machine], *const o = s->machine[other];
    return machine == other ? fmax(sp_lead_log(tier_of(m, plan)), sp_lead_log(tier_of(o, than)))
                            : sp_machines_lead_log(range_of(m, plan), range_of(o, than));
}

double sp_plans_lead_log(const struct sp_planned *one, const struct sp_planned *other)
{
    const struct sp_step_inputs in = sp_inputs_of(one), than = sp_inputs_of(other);
    const bool shared = strcmp(one->hw.name, other->hw.name) == 0 &&
                        sp_chips(&one->hw) == sp_chips(&other->hw) &&
                        strcmp(one->profile.name, other->profile.name) == 0;
    return shared ? fmax(sp_lead_log(sp_tier_of(in.model, &in.hw->chip, in.plan)),
                         sp_lead_log(sp_tier_of(than.model, &than.hw->chip, than.plan)))
                  : sp_machines_lead_log(sp_range_of(&in), sp_range_of(&than));
}

bool sp_ties_with_first(const struct sp_search *s, const struct sp_ranked *all, size_t at)
{
    const struct sp_ranked *const one = &all[at], *const first = &all[0];
    return sp_is_tie(
        one->value, first->value,
        lead_between(s, one->machine, &one->found->plan, first->machine, &first->found->plan));
}

double sp_first_lead_log(const struct sp_search *s, const struct sp_ranked *all)
{
    return sp_lead_log(tier_of(s->machine[all[0].machine], &all[0].found->plan));
}

double sp_machine_value(const struct sp_search *s, int machine)
{
    const struct sp_candidate *const m = s->machine[machine];
    const double step = sp_best_run_step_of(s, machine) * sp_asked_over_taken(m);
    return s->problem.goal == SP_GOAL_COST ? sp_cost_of_step(m, step) : step;
}

int sp_best_machine_but(const struct sp_search *s, int one)
{
    int best = -1;
    for (int i = 0; i < s->machines; i++)
        if (i != one && !isnan(sp_machine_value(s, i)) &&
            (best < 0 || sp_machine_value(s, i) < sp_machine_value(s, best)))
            best = i;
    return best;
}

double sp_machines_lead(const struct sp_search *s, int one, int other)
{
    return lead_between(s, one, &sp_best_of(s, one)->plan, other, &sp_best_of(s, other)->plan);
}

struct sp_machine_lead sp_lead_of_best_machine(const struct sp_search *s)
{
    struct sp_machine_lead lead = {.best = sp_best_machine_but(s, -1), .second = -1};
    if (lead.best >= 0)
        lead.second = sp_best_machine_but(s, lead.best);
    if (lead.second < 0)
        return lead;
    lead.apart_log = log(sp_machine_value(s, lead.second) / sp_machine_value(s, lead.best));
    lead.least_log = sp_machines_lead(s, lead.best, lead.second);
    lead.is_tie = lead.apart_log < lead.least_log;
    return lead;
}
