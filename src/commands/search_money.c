/* search: what plans cost on the machines of --hw. */
#include <math.h>

#include <scaleplan/training.h>

#include "commands/search_report.h"

double sp_cost_of_step(const struct sp_candidate *m, double step_s)
{
    return (double)sp_chips(&m->base.hw) * step_s / 3600 * m->price.usd_per_h;
}

void sp_put_list_price(struct sp_report *r, const struct sp_price *price)
{
    sp_put_price(r, price, SP_Q_SEARCH_M_PRICE, SP_Q_SEARCH_M_PRICE_YEAR,
                 SP_Q_SEARCH_M_PRICE_SOURCE);
}

/* The price of each machine; list prices of different years are no comparison. */
void sp_note_prices(struct sp_searching *s)
{
    const struct sp_price *const first = &s->machine[0]->price;
    bool alike = true;
    for (int i = 0; i < s->machines; i++) {
        const struct sp_price *const price = &s->machine[i]->price;
        char words[160];
        sp_price_text(price, words, sizeof words);
        sp_line(s->report, "%s %s a device-hour: %s", i == 0 ? "prices    " : "          ",
                s->machine[i]->hw, words);
        alike = alike && price->is_typed == first->is_typed && price->year == first->year;
    }
    if (!alike)
        sp_note(s->report, "the prices are not of one year and kind, so the costs do not compare "
                           "the machines: give what you pay, --price MACHINE=USD,MACHINE=USD");
}

const struct sp_found *sp_best_of(const struct sp_searching *s, int machine)
{
    const struct sp_search_result *const r = &s->machine[machine]->result;
    if (s->run.front)
        return r->front.n > 0 ? r->front.found : NULL;
    return r->best.n > 0 ? r->best.found : NULL;
}

double sp_best_step_of(const struct sp_searching *s, int machine)
{
    const struct sp_found *const best = sp_best_of(s, machine);
    return best ? best->step_s : NAN;
}

/* The machine on which a step costs least; -1 where no price is known. */
int sp_cheapest_of(const struct sp_searching *s)
{
    int cheapest = -1;
    double least = INFINITY;
    for (int i = 0; i < s->machines; i++) {
        const double cost = sp_cost_of_step(s->machine[i], sp_best_step_of(s, i));
        if (cost < least) {
            least = cost;
            cheapest = i;
        }
    }
    return cheapest;
}

/* A machine's cost beside the cheapest one's, and beside --budget. */
void sp_put_bargain(struct sp_searching *s, int machine, int cheapest, double step, double run)
{
    struct sp_report *const r = s->report;
    const struct sp_candidate *const m = s->machine[machine];
    const double budget = s->args->value.budget, cost = sp_cost_of_step(m, step);
    if (s->machines > 1 && cheapest >= 0) {
        const struct sp_candidate *const c = s->machine[cheapest];
        const double other = sp_best_step_of(s, cheapest);
        sp_put(r, SP_Q_SEARCH_M_COST_RATIO, cost / sp_cost_of_step(c, other));
        sp_put(r, SP_Q_SEARCH_M_BREAK_EVEN,
               sp_break_even_usd_per_h((double)sp_chips(&m->base.hw), step,
                                       (double)sp_chips(&c->base.hw), other, c->price.usd_per_h));
    }
    sp_put(r, SP_Q_SEARCH_M_MTOKEN,
           1e6 * cost / ((double)m->base.plan.batch * (double)m->base.plan.seq));
    if (isnan(budget))
        return;
    if (isnan(run))
        sp_put_null(r, SP_Q_SEARCH_M_IN_BUDGET);
    else
        sp_put_bool(r, SP_Q_SEARCH_M_IN_BUDGET, run <= budget);
    sp_put(r, SP_Q_SEARCH_M_AFFORDED,
           budget / cost * (double)m->base.plan.batch * (double)m->base.plan.seq);
}

void sp_note_budget(struct sp_searching *s)
{
    const double budget = s->args->value.budget, tokens = s->args->value.tokens;
    for (int i = 0; i < s->machines && !isnan(budget); i++) {
        char key[64];
        snprintf(key, sizeof key, "machines.%d.tokens_for_budget", i);
        const double bought = sp_find(s->report, key)->number;
        sp_line(s->report, "%s %s: %s buy %s tokens%s", i == 0 ? "budget    " : "          ",
                s->machine[i]->hw, sp_human_text(budget, SP_USD), sp_human_text(bought, SP_TOKENS),
                isnan(tokens)      ? ""
                : bought >= tokens ? ", those of the run among them"
                                   : ", fewer than the run's");
    }
}
