/* The budget and the deadline of a search, against each machine's best plan. */
#include "cli/search_limits.h"

#include <math.h>
#include <stdio.h>

/* How many tokens --budget buys on each machine; at which price, if no other line says it. */
static void note_budget(struct sp_searching *s)
{
    const double budget = s->args->value.budget, tokens = s->args->value.tokens;
    char key[64], price[160] = " at ";
    sp_price_text(&s->of.machine[0]->base.problem.price, price + 4, sizeof price - 4);
    for (int i = 0; i < s->of.machines && !isnan(budget); i++) {
        snprintf(key, sizeof key, "machines.%d.tokens_for_budget", i);
        const double bought = sp_entry_number(sp_find(s->report, key));
        if (isnan(bought)) /* no plan */
            continue;
        sp_line(s->report, "%s %s: %s buy %s tokens without failures%s",
                i == 0 ? "budget    " : "          ", s->of.machine[i]->hw,
                sp_human_text(budget, SP_USD), sp_human_text(bought, SP_TOKENS),
                bought >= tokens      ? ", enough"
                : !isnan(tokens)      ? ", too few"
                : s->of.machines == 1 ? price
                                      : "");
    }
}

/* Whether each machine's run ends within --days. */
static void note_deadline(struct sp_searching *s)
{
    const double most = s->args->value.days;
    for (int i = 0; i < s->of.machines && !isnan(most); i++) {
        char key[64];
        snprintf(key, sizeof key, "machines.%d.days", i);
        const double days = sp_entry_number(sp_find(s->report, key));
        if (!isnan(days))
            sp_line(s->report, "%s %s: %s without failures, %s the %s of --days",
                    i == 0 ? "deadline  " : "          ", s->of.machine[i]->hw,
                    sp_human_text(days, SP_DAYS), days <= most ? "within" : "beyond",
                    sp_human_text(most, SP_DAYS));
    }
}

/* Whether a limit of machine i is known to be kept. */
static bool keeps(const struct sp_report *r, int i, const char *limit)
{
    char key[64];
    snprintf(key, sizeof key, "machines.%d.%s", i, limit);
    return sp_says_yes(r, key);
}

/* Whether some machine's best plan keeps all limits of the run, which --check judges. */
static void judge_limits(struct sp_searching *s)
{
    const bool budget = !isnan(s->args->value.budget), days = !isnan(s->args->value.days);
    bool met = false;
    for (int i = 0; i < s->of.machines; i++)
        met = met || ((!budget || keeps(s->report, i, "within_budget")) &&
                      (!days || keeps(s->report, i, "within_days")));
    if ((budget || days) && !isnan(s->args->value.tokens))
        sp_put_bool(s->report, SP_Q_SEARCH_LIMITS, met);
}

void sp_note_limits(struct sp_searching *s)
{
    judge_limits(s);
    note_budget(s);
    note_deadline(s);
}
