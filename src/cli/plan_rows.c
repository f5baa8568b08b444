/* The rows of an estimated plan, for `step`, `search` and `merge`. */
#include "cli/plan_rows.h"

#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>

#define SP_PART step_inputs
#define SP_PART_OF struct sp_step_rows
#include "answer/put_rows.h"

#define SP_PART step_estimate
#define SP_PART_OF struct sp_step_rows
#include "answer/put_rows.h"

void sp_read_step(const struct sp_planned *p, const struct sp_estimate *e, struct sp_step_rows *s)
{
    static const char *const borrowed[SP_KNOWN] = {
        [SP_KNOWN_STACK] = "",
        [SP_KNOWN_SOFTWARE] = ", borrowed from this framework's runs on other chips",
        [SP_KNOWN_CHIP] = ", borrowed from other frameworks' runs on such chips",
        [SP_KNOWN_NEITHER] = ", borrowed: no run of this framework or chip is known"};
    const struct sp_params params = sp_count_params(&p->model);
    const struct sp_params worked = sp_worked_params(&p->model, &params, (double)p->plan.seq);
    *s = (struct sp_step_rows){.p = p,
                               .e = e,
                               .f = &p->framework.framework,
                               .m = &e->memory,
                               .t = &e->time,
                               .rates = &e->rates,
                               .b = &e->buckets,
                               .devices = (double)sp_chips(&p->hw),
                               .batch_tokens =
                                   sp_batch_tokens((double)p->plan.batch, (double)p->plan.seq),
                               .borrowed = borrowed[p->profile.known]};
    s->dispatch_bytes = sp_dispatch_bytes(&p->plan, s->f);
    const struct sp_step_inputs in = sp_inputs_of(p);
    s->context = sp_context_bytes(&in);
    s->goes_around = p->plan.cp > 1 && sp_works_on_blocks(&p->plan, s->f);
    s->ideal_flops = sp_tuning_flops(&worked, s->batch_tokens);
    sp_shape_name(&p->hw, s->shape, sizeof s->shape);
}

void sp_put_step_rows(struct sp_report *r, const struct sp_step_rows *s)
{
    struct sp_plan plan = s->p->plan;
    plan.dtype = sp_compute_dtype(&s->p->hw.chip, plan.dtype); /* what the matmuls are done in */
    put_step_inputs_rows(r, s);
    sp_put_fields(r, &plan);
    put_step_estimate_rows(r, s);
}

void sp_put_step(struct sp_report *r, const struct sp_planned *p, const struct sp_estimate *e)
{
    struct sp_step_rows s;
    sp_read_step(p, e, &s);
    sp_put_step_rows(r, &s);
}

/* A run of a number of tokens. */
struct run_rows {
    double devices, step_s, usd_per_h, tokens, batch_tokens, usd_per_step;
};

#define SP_PART step_run
#define SP_PART_OF struct run_rows
#include "answer/put_rows.h"

void sp_put_run(struct sp_report *r, const struct sp_planned *p, double step_s, double tokens,
                double usd_per_h)
{
    struct run_rows s = {.devices = (double)sp_chips(&p->hw),
                         .step_s = step_s,
                         .usd_per_h = usd_per_h,
                         .tokens = tokens,
                         .batch_tokens =
                             sp_batch_tokens((double)p->plan.batch, (double)p->plan.seq)};
    s.usd_per_step = sp_cost_usd(s.devices, s.step_s, s.usd_per_h);
    put_step_run_rows(r, &s);
}

/* A neighbour of a plan. */
struct near_rows {
    const struct sp_neighbour *n;
    const struct sp_estimate *plan;
    double most_bytes;
    char change[64];
    bool tie, has_limit;
};

#define SP_PART search_near
#define SP_PART_OF struct near_rows
#include "answer/put_rows.h"

void sp_put_neighbour(struct sp_report *r, const struct sp_step_inputs *in,
                      const struct sp_neighbour *n, const struct sp_estimate *plan,
                      double most_bytes)
{
    const enum sp_tier tier = sp_tier_of(in->model, &in->hw->chip, in->plan);
    struct near_rows s = {.n = n,
                          .plan = plan,
                          .most_bytes = most_bytes,
                          .tie = sp_is_tie(n->step_s, plan->time.step, sp_lead_log(tier)),
                          .has_limit = !isnan(most_bytes)};
    sp_change_text(n, "", s.change, sizeof s.change);
    put_search_near_rows(r, &s);
}
