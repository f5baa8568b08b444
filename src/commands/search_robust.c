/* search --robust: the choice that stands where the estimate's constants turn out badly. */
#include <stdlib.h>

#include "commands/search_report.h"

void sp_make_robust(struct sp_candidate *m)
{
    sp_worsen_constants(&m->base.profile, &m->worst);
    m->space.in.profile = &m->worst;
}

static double step_under(const struct sp_candidate *m, const struct sp_profile *profile,
                         const struct sp_plan *plan)
{
    struct sp_step_inputs in = sp_inputs_of(&m->base);
    struct sp_stage_memory memory;
    in.profile = profile;
    in.plan = plan;
    return sp_evaluate(&in, &memory);
}

void sp_restate_robust(struct sp_searching *s)
{
    for (int i = 0; i < s->machines && s->robust; i++) {
        struct sp_candidate *const m = s->machine[i];
        for (int k = 0; k < m->result.best.n; k++) {
            struct sp_found *const found = &m->result.best.found[k];
            found->step_s = step_under(m, &m->base.profile, &found->plan);
        }
    }
}

void sp_put_robust(struct sp_searching *s, const struct sp_ranked *best)
{
    struct sp_candidate *const m = s->machine[best->machine];
    struct sp_search_space space = m->space;
    struct sp_search_run run = s->run;
    struct sp_search_result as_estimated;
    struct sp_words words;
    run.wanted = 1;
    run.shard = 0;
    run.shards = 1;
    space.in.profile = &m->base.profile;
    sp_run_search(&space, &run, &as_estimated);
    if (as_estimated.partial || as_estimated.best.n == 0)
        return;
    const struct sp_found *const fastest = &as_estimated.best.found[0];
    const double bad_end = step_under(m, &m->worst, &fastest->plan);
    sp_step_words(s, m, fastest, &words);
    char *const line = sp_shell_line(&words);
    sp_put_text(s->report, SP_Q_SEARCH_ROBUST_FASTEST, "scaleplan %s", line);
    free(line);
    sp_free_words(&words);
    sp_put(s->report, SP_Q_SEARCH_ROBUST_COSTS, 100 * (best->found->step_s / fastest->step_s - 1));
    sp_put(s->report, SP_Q_SEARCH_ROBUST_SAVES, 100 * (1 - best->found->value / bad_end));
    sp_line(s->report,
            "robust     ranked by the step with every constant at the bad end of its 80 %% "
            "interval, {plans.0.robust_step_s} for the first");
    if (fastest->group == best->found->group && fastest->leaf == best->found->leaf)
        sp_line(s->report, "           it is the fastest as estimated, too");
    else
        sp_line(s->report,
                "           against the fastest as estimated it costs {robust.costs_pct} %% if the "
                "estimate is right and saves {robust.saves_pct} %% at the bad end; that one: "
                "{robust.fastest!}");
}
