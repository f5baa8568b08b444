/* The machines of a search: a table of their best plans, the lead of the best, and prices. */
#include "cli/search_machine_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/plan_table.h"
#include "cli/search_limits.h"
#include "study/plan_text.h"

/* The plans found for a machine, listed or not: the points of a comparison. */
static void put_points(struct sp_report *r, const struct sp_found *found, size_t n, int machine)
{
    struct sp_plan *const all = sp_must(calloc(n + 1, sizeof *all));
    for (size_t i = 0; i < n; i++)
        all[i] = found[i].plan;
    struct sp_short_name *const names = sp_names_of_plans(all, n);
    for (size_t i = 0; i < n; i++) {
        char scope[64];
        snprintf(scope, sizeof scope, "machines.%d.plans.%zu", machine, i);
        sp_scope(r, scope);
        sp_put_text(r, SP_Q_SEARCH_NAME, "%s", names[i].text);
        sp_put(r, SP_Q_SEARCH_M_STEP, found[i].step_s);
        sp_put(r, SP_Q_SEARCH_M_MEMORY, found[i].bytes);
    }
    free(names);
    free(all);
}

/* A machine and its best plan. */
struct machine_rows {
    const struct sp_candidate *c;
    const struct sp_price *price;
    double devices, step_s, run_step_s, mfu, device_bytes;
    bool is_expected; /* run_step_s: it ranks the plans */
    double batch, seq, batch_tokens, tokens, budget;
    double usd_per_step, usd_of_run; /* by run_step_s */
    double days_of_run, deadline;
    bool has_budget, has_deadline, has_cheapest;
    double least_usd_per_step, cheapest_devices, cheapest_step_s, cheapest_usd_per_h;
    double value, least; /* of the goal: its own, and that of the best machine */
    double lead;         /* least difference of ln(value) at which that order is not a tie */
    bool is_compared, is_best, tie;
};

#define SP_PART search_machine
#define SP_PART_OF struct machine_rows
#include "answer/put_rows.h"

static void read_comparison(const struct sp_search *s, int machine, struct machine_rows *m)
{
    const int cheapest = sp_cheapest_of(s), best = sp_best_machine_but(s, -1);
    m->has_cheapest = s->machines > 1 && cheapest >= 0;
    if (m->has_cheapest) {
        const struct sp_candidate *const c = s->machine[cheapest];
        m->cheapest_devices = (double)(sp_chips(&c->base.hw) + c->base.left_idle);
        m->cheapest_step_s = sp_best_run_step_of(s, cheapest);
        m->cheapest_usd_per_h = c->base.problem.price.usd_per_h;
        m->least_usd_per_step = sp_cost_of_step(c, m->cheapest_step_s);
    }
    m->value = sp_machine_value(s, machine);
    m->is_compared = s->machines > 1 && best >= 0 && !isnan(m->value);
    if (!m->is_compared)
        return;
    m->least = sp_machine_value(s, best);
    m->is_best = machine == best;
    if (m->is_best)
        return;
    m->lead = sp_machines_lead(s, machine, best);
    m->tie = sp_is_tie(m->value, m->least, m->lead);
}

static struct machine_rows read_machine(const struct sp_searching *s, int i)
{
    const struct sp_candidate *const c = s->of.machine[i];
    const struct sp_found *const best = sp_best_of(&s->of, i);
    struct machine_rows m = {.c = c,
                             .price = &c->base.problem.price,
                             .devices = (double)(sp_chips(&c->base.hw) + c->base.left_idle),
                             .step_s = sp_best_step_of(&s->of, i),
                             .run_step_s = sp_best_run_step_of(&s->of, i),
                             .is_expected = best && s->of.grounded,
                             .mfu = NAN,
                             .device_bytes = best ? best->bytes : NAN,
                             .batch = (double)c->base.plan.batch,
                             .seq = (double)c->base.plan.seq,
                             .tokens = s->args->value.tokens,
                             .budget = s->args->value.budget,
                             .deadline = s->args->value.days};
    if (best)
        m.mfu = sp_rates_on(&s->of, i, m.step_s).mfu;
    m.batch_tokens = sp_batch_tokens(m.batch, m.seq);
    m.usd_per_step = sp_cost_of_step(c, m.run_step_s);
    m.usd_of_run = sp_cost_of_steps(m.tokens, m.batch_tokens, m.usd_per_step);
    m.has_budget = !isnan(m.budget);
    m.has_deadline = !isnan(m.deadline) && !isnan(m.step_s);
    m.days_of_run = sp_days_of_steps(m.tokens, m.batch_tokens, m.run_step_s);
    read_comparison(&s->of, i, &m);
    return m;
}

static const struct sp_price *price_of(const void *search, int i)
{
    return &((const struct sp_search *)search)->machine[i]->base.problem.price;
}

/* The price of each machine. */
static void note_prices(struct sp_searching *s)
{
    for (int i = 0; i < s->of.machines; i++) {
        char words[160];
        sp_price_text(price_of(&s->of, i), words, sizeof words);
        sp_line(s->report, "%s %s per device-hour: %s", i == 0 ? "prices    " : "          ",
                s->of.machine[i]->hw, words);
    }
    if (s->args->given.tokens && s->of.problem.goal != SP_GOAL_COST) /* else the lead says it */
        sp_stand_in(s->report, SP_BOTH);
    sp_note_prices(s->report, &s->of, s->of.machines, price_of);
}

/* Fewest decimals, at least one, at which two numbers look different. */
static int decimals_apart(double one, double other)
{
    int decimals = 1;
    while (decimals < 6 && fabs(one - other) * pow(10, decimals) < 1)
        decimals++;
    return decimals;
}

/* A lead in per cent, rounded to `decimals`; from 100 % on it is a factor. */
static const char *lead_words(int decimals, double percent, struct sp_text *room)
{
    if (percent >= 100)
        return sp_human_lead_in(room, percent);
    snprintf(room->s, sizeof room->s, "%.*f %%", decimals, percent);
    return room->s;
}

/* What a lead of a machine is in: plans are ranked by their expected steps, which are longer than
 * the estimates where no run is near. */
static const char *lead_of(const struct sp_search *of)
{
    static const char *const named[2][2] = {{"step", "expected step"}, {"cost", "expected cost"}};
    return named[of->problem.goal == SP_GOAL_COST][of->grounded];
}

/* Whether the best machine's lead is reliable. A stack without runs has the error of a borrowed one
 * (sp_range_of), which the threshold includes. */
static void note_machine_ties(struct sp_searching *s)
{
    const struct sp_search *const of = &s->of;
    const struct sp_machine_lead lead = sp_lead_of_best_machine(of);
    if (lead.second < 0)
        return;
    const struct sp_candidate *const best = of->machine[lead.best], *const second =
                                                                        of->machine[lead.second];
    const double apart = sp_percent_of_log(lead.apart_log),
                 least = sp_percent_of_log(lead.least_log);
    const int decimals = decimals_apart(apart, least);
    const bool lent = !best->base.own_profile, also = !second->base.own_profile;
    const bool unlike =
        of->problem.goal == SP_GOAL_COST && !sp_are_prices_alike(of, of->machines, price_of);
    sp_stand_in(s->report, SP_BRIEF);
    sp_line(s->report, "lead       %s is %s ahead in %s%s%s", best->hw,
            lead_words(decimals, apart, SP_ROOM), lead_of(of),
            unlike ? ", but prices differ in seller, year or kind (--price)"
                   : "; error of a lead: ",
            unlike ? "" : lead_words(decimals, least, SP_ROOM));
    sp_stand_in(s->report, SP_DETAILS);
    sp_line(s->report,
            "machines   %s is %s ahead of %s in %s; a lead of %s or more is correct in 4 cases of 5"
            "%s%s%s%s: %s",
            best->hw, lead_words(decimals, apart, SP_ROOM), second->hw, lead_of(of),
            lead_words(decimals, least, SP_ROOM),
            lent || also ? ", with the error of a borrowed stack for " : "",
            lent ? best->base.profile.name : "", lent && also ? " and " : "",
            also ? second->base.profile.name : "",
            lead.is_tie ? "a tie"
            : unlike    ? "the difference exceeds the error of the estimates, but the prices "
                          "differ in seller, year or kind"
                        : "the difference exceeds the error of the estimates");
}

/* Columns for what ranks the machines, for what days and cost stand on, and for the limits, which
 * take the place of others. */
static void put_machine_table(struct sp_searching *s)
{
    const struct sp_options_given *const given = &s->args->given;
    const char *const more = given->budget || given->days ? "+" : "";
    char prices[64] = "";
    if (given->tokens)
        snprintf(prices, sizeof prices, "price_usd_per_h: USD/h, %sprice_year: year, ", more);
    sp_list_table(s->report, "machines",
                  "hw, +devices, %sstep_s: step, +tokens_per_s, %smfu, %sdevice_bytes, %sdays, "
                  "cost_usd, %s%s+cost_ratio: cost / least, +break_even_usd_per_h, +profile",
                  s->of.grounded ? SP_RANKED_BY : "", more, given->tokens ? "+" : "", prices,
                  !given->budget  ? ""
                  : given->tokens ? "within_budget: in budget, "
                                  : "tokens_for_budget: tokens bought, ",
                  given->days ? "within_days: in time, " : "");
}

void sp_put_machines(struct sp_searching *s, const struct sp_ranked *first)
{
    for (int i = 0; i < s->of.machines; i++) {
        const struct machine_rows m = read_machine(s, i);
        const struct sp_search_result *const r = &m.c->result;
        sp_begin_row(s->report, NULL, "machines.%d", i);
        put_search_machine_rows(s->report, &m);
        if (s->of.machines > 1 && s->of.run.front)
            put_points(s->report, r->front.found, (size_t)r->front.n, i);
        else if (s->of.machines > 1)
            put_points(s->report, r->best.found, (size_t)r->best.n, i);
    }
    if (s->of.machines > 1) {
        if (first)
            sp_lead_row(s->report, (size_t)first->machine);
        if (s->of.machines <= 3) /* a row of each is the answer */
            sp_stand_in(s->report, SP_LISTED);
        put_machine_table(s);
        note_machine_ties(s);
        sp_stand_in(s->report, SP_DETAILS);
        note_prices(s);
    }
    if (s->of.machines > 1) /* the table has columns for them */
        sp_stand_in(s->report, SP_DETAILS);
    sp_scope(s->report, "");
    sp_note_limits(s);
}
