/* The plan that is best at the bad ends of the constants' intervals. */
#include "study/search_machines.h"

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

void sp_restate_robust(struct sp_search *s)
{
    for (int i = 0; i < s->machines && s->robust; i++) {
        struct sp_candidate *const m = s->machine[i];
        for (int k = 0; k < m->result.best.n; k++) {
            struct sp_found *const found = &m->result.best.found[k];
            found->step_s = step_under(m, &m->base.profile, &found->plan);
        }
    }
}

bool sp_find_as_estimated(const struct sp_search *s, const struct sp_ranked *best,
                          struct sp_as_estimated *found)
{
    const struct sp_candidate *const m = s->machine[best->machine];
    struct sp_search_space space = m->space;
    struct sp_search_run run = s->run;
    struct sp_search_result result;
    run.wanted = 1;
    run.shard = 0;
    run.shards = 1;
    space.in.profile = &m->base.profile;
    sp_run_search(&space, &run, &result);
    if (result.partial || result.best.n == 0)
        return false;
    found->fastest = result.best.found[0];
    found->step_at_bad_ends_s = step_under(m, &m->worst, &found->fastest.plan);
    found->is_robust_too =
        found->fastest.group == best->found->group && found->fastest.leaf == best->found->leaf;
    return true;
}
