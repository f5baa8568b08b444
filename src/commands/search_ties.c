/* search: leads that are smaller than the error of such a difference are ties. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "commands/search_report.h"

/* Whether what is ranked is an estimate of time. */
static bool ranks_time(const struct sp_searching *s)
{
    return !s->run.front && s->goal != SP_GOAL_DEVICES && s->goal != SP_GOAL_MEMORY;
}

static enum sp_tier tier_of(const struct sp_candidate *m, const struct sp_plan *plan)
{
    return sp_tier_of(&m->base.model, &m->base.hw.chip, plan);
}

/* Half of the 80 % range of a plan on a machine, of the logarithm. */
static double range_of(const struct sp_candidate *m, const struct sp_plan *plan)
{
    return sp_range_log(&m->base.profile, tier_of(m, plan));
}

/* From which lead on the order of two plans can be believed, of the logarithm. */
static double lead_between(const struct sp_searching *s, int machine, const struct sp_plan *plan,
                           int other, const struct sp_plan *than)
{
    const struct sp_candidate *const m = s->machine[machine], *const o = s->machine[other];
    return machine == other ? fmax(sp_lead_log(tier_of(m, plan)), sp_lead_log(tier_of(o, than)))
                            : sp_machines_lead_log(range_of(m, plan), range_of(o, than));
}

static bool ties_with_first(const struct sp_searching *s, const struct sp_ranked *all, size_t at)
{
    const struct sp_ranked *const one = &all[at], *const first = &all[0];
    return sp_is_tie(
        one->value, first->value,
        lead_between(s, one->machine, &one->found->plan, first->machine, &first->found->plan));
}

void sp_put_lead(struct sp_searching *s, const struct sp_ranked *all, size_t at)
{
    if (s->robust)
        sp_put(s->report, SP_Q_SEARCH_ROBUST_STEP, all[at].found->value);
    if (!ranks_time(s))
        return;
    const double apart = fabs(log(all[at].value / all[0].value));
    sp_put(s->report, SP_Q_SEARCH_BEHIND, 100 * expm1(apart));
    if (at > 0)
        sp_put_bool(s->report, SP_Q_SEARCH_TIE, ties_with_first(s, all, at));
}

/* "2, 3 and 4" of the plans that tie with the first; how many. */
static int list_ties(const struct sp_searching *s, const struct sp_ranked *all, size_t n, char *out,
                     size_t size)
{
    int ties = 0, all_of_them = 0;
    out[0] = '\0';
    for (size_t i = 1; i < n; i++)
        all_of_them += ties_with_first(s, all, i);
    for (size_t i = 1; i < n; i++) {
        const size_t used = strlen(out);
        if (!ties_with_first(s, all, i))
            continue;
        ties++;
        snprintf(out + used, size - used, "%s%zu",
                 ties == 1             ? ""
                 : ties == all_of_them ? " and "
                                       : ", ",
                 i + 1);
    }
    return ties;
}

void sp_put_ties(struct sp_searching *s, const struct sp_ranked *all, size_t n)
{
    char names[5 * SP_SEARCH_TOP * SP_MAX_MACHINES];
    if (!ranks_time(s) || n < 2)
        return;
    const int ties = list_ties(s, all, n, names, sizeof names);
    const struct sp_candidate *const m = s->machine[all[0].machine];
    sp_put(s->report, SP_Q_SEARCH_TIES, ties);
    sp_put(s->report, SP_Q_SEARCH_TIE_BELOW,
           100 * expm1(sp_lead_log(tier_of(m, &all[0].found->plan))));
    if (ties > 0)
        sp_line(s->report,
                "lead       {plans.1.behind_pct} %% over the second: less than the error of such a "
                "difference. %s %s with the first (on one machine below {tie_pct} %%)",
                names, ties > 1 ? "tie" : "ties");
    else
        sp_line(s->report,
                "lead       {plans.1.behind_pct} %% over the second: more than the error of such a "
                "difference (on one machine {tie_pct} %%)");
}

/* What machines are compared by; NAN: no plan fits. */
static double value_of(const struct sp_searching *s, int machine)
{
    const double step = sp_best_step_of(s, machine);
    return s->goal == SP_GOAL_COST ? sp_cost_of_step(s->machine[machine], step) : step;
}

/* The best machine but one, which may be -1; -1: there is none. */
static int best_but(const struct sp_searching *s, int one)
{
    int best = -1;
    for (int i = 0; i < s->machines; i++)
        if (i != one && !isnan(value_of(s, i)) && (best < 0 || value_of(s, i) < value_of(s, best)))
            best = i;
    return best;
}

static double machines_lead(const struct sp_searching *s, int one, int other)
{
    return lead_between(s, one, &sp_best_of(s, one)->plan, other, &sp_best_of(s, other)->plan);
}

void sp_put_machine_lead(struct sp_searching *s, int machine)
{
    const int best = best_but(s, -1);
    if (s->machines < 2 || best < 0 || isnan(value_of(s, machine)))
        return;
    const double mine = value_of(s, machine), least = value_of(s, best);
    sp_put(s->report, SP_Q_SEARCH_M_BEHIND, 100 * (mine / least - 1));
    if (machine != best)
        sp_put_bool(s->report, SP_Q_SEARCH_M_TIE,
                    sp_is_tie(mine, least, machines_lead(s, machine, best)));
}

void sp_note_machine_ties(struct sp_searching *s)
{
    const int best = best_but(s, -1), second = best < 0 ? -1 : best_but(s, best);
    if (second < 0)
        return;
    const double lead = machines_lead(s, best, second);
    const double apart = log(value_of(s, second) / value_of(s, best));
    sp_line(s->report,
            "machines   %s is %.1f %% ahead of %s in %s: %s between two machines (%.0f %%)%s",
            s->machine[best]->hw, 100 * expm1(apart), s->machine[second]->hw,
            s->goal == SP_GOAL_COST ? "cost" : "step time",
            apart < lead ? "less than the error" : "more than the error", 100 * expm1(lead),
            apart < lead ? ", a tie" : "");
}
