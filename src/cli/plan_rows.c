/* The rows of an estimated plan, for `step`, `search` and `merge`. */
#include "cli/plan_rows.h"

#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>

#include "base/text.h"
#include "answer/time_parts.h"

/* Values of rows that few answers show, computed only where they are put. */
static const char *shape_of(struct sp_text *room, const struct sp_planned *p)
{
    sp_shape_name(&p->hw, room->s, sizeof room->s);
    return room->s;
}

static double ideal_flops(const struct sp_step_rows *s)
{
    const struct sp_params params = sp_count_params(&s->p->model);
    const struct sp_params worked = sp_worked_params(&s->p->model, &params, (double)s->p->plan.seq);
    return sp_tuning_flops(&worked, s->batch_tokens);
}

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
        [SP_KNOWN_SOFTWARE] = ", borrowed from other chips' runs",
        [SP_KNOWN_CHIP] = ", borrowed from other frameworks' runs on this chip",
        [SP_KNOWN_NEITHER] = ", borrowed: no run of this framework or chip is known"};
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
    if (p->model.documents) {
        s->busiest = sp_busiest_replica(&in);
        s->ranks = sp_mean_document_ranks(&p->documents, (double)p->plan.cp);
    }
    if (p->plan.cp > 1) {
        s->context = sp_context_bytes(&in);
        s->goes_around = sp_works_on_blocks(&p->plan, s->f);
    }
}

void sp_say_losses(struct sp_step_rows *s)
{
    enum { SAID = 3 };
    const double ideal_s = sp_step_ideal(ideal_flops(s), s->devices, s->rates->peak_flops_per_s);
    double left[SP_TIME_PARTS];
    size_t used = 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++)
        left[i] = sp_time_part(s->t, i) - (i == 0 ? ideal_s : 0);
    for (int n = 0; n < SAID && used < sizeof s->losses; n++) {
        size_t most = 0;
        for (size_t i = 1; i < SP_TIME_PARTS; i++)
            most = left[i] > left[most] ? i : most;
        if (left[most] <= 0)
            return;
        used += (size_t)snprintf(
            s->losses + used, sizeof s->losses - used, "%s%s %s", n > 0 ? ", " : "",
            most == 0 ? "matmuls below their peak" : sp_quantity(sp_time_parts[most].id).label,
            sp_human_text(left[most], SP_SECONDS));
        left[most] = 0;
    }
    double rest = 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++)
        rest += left[i];
    if (rest > 0 && used < sizeof s->losses)
        snprintf(s->losses + used, sizeof s->losses - used, ", all else %s",
                 sp_human_text(rest, SP_SECONDS));
}

void sp_put_step_rows(struct sp_report *r, const struct sp_step_rows *s)
{
    struct sp_plan plan = s->p->plan;
    plan.dtype =
        sp_compute_dtype(&s->p->hw.chip, plan.dtype); /* the number format of the matmuls */
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

/* A setting of a plan with its value. */
struct resolved_rows {
    const char *option, *value, *from;
};

#define SP_PART step_resolved
#define SP_PART_OF struct resolved_rows
#include "answer/put_rows.h"

static void put_resolved(struct sp_report *r, enum sp_quantity_id row, const char *name,
                         const char *value, const char *from)
{
    char option[64];
    snprintf(option, sizeof option, "--%s", name);
    sp_begin_row(r, NULL, "resolved.%s", sp_quantity(row).key);
    put_step_resolved_rows(r, &(struct resolved_rows){option, value, from});
}

void sp_put_resolved(struct sp_report *r, const struct sp_args *args, const struct sp_planned *p)
{
    if (!sp_takes_scope(r, "resolved"))
        return;
    const char *const usual = sp_origin_names[SP_ORIGIN_FRAMEWORK];
    char batch[64];
    snprintf(batch, sizeof batch, "%lldx%lld", (long long)p->plan.batch, (long long)p->plan.seq);
    const struct {
        enum sp_quantity_id row;
        enum sp_option_id option;
        const char *value, *otherwise;
    } inputs[] = {
        {SP_Q_STEP_BATCH, SP_O_batch, batch, p->problem.batch.origin},
        {SP_Q_STEP_HW, SP_O_hw, p->problem.machine, NULL},
        {SP_Q_STEP_FRAMEWORK, SP_O_framework, p->framework.framework.name, "usual on the machine"},
        {SP_Q_STEP_PRECISION, SP_O_precision, p->precision.name, usual},
        {SP_Q_STEP_PROFILE, SP_O_profile, p->profile.name, "of the machine and the framework"},
    };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        put_resolved(r, inputs[i].row, sp_option_name(inputs[i].option), inputs[i].value,
                     args->given_at[inputs[i].option] || !inputs[i].otherwise
                         ? sp_origin_names[SP_ORIGIN_GIVEN]
                         : inputs[i].otherwise);
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        char value[SP_PLAN_TEXT];
        sp_format_plan(&p->plan, &sp_plan_fields[i], value);
        put_resolved(r, sp_plan_rows[i], sp_plan_fields[i].name, value,
                     sp_origin_names[p->origin[i]]);
    }
    if (args->given.details)
        sp_list_table(r, "resolved", ": value of the plan, option, value, from");
    sp_scope(r, "");
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
    struct run_rows s = {.devices = (double)(sp_chips(&p->hw) + p->left_idle),
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
    char change[96];
    bool tie, has_limit;
};

#define SP_PART search_near
#define SP_PART_OF struct near_rows
#include "answer/put_rows.h"

void sp_put_neighbour(struct sp_report *r, const struct sp_step_inputs *in,
                      const struct sp_neighbour *n, const char *with,
                      const struct sp_estimate *plan, double most_bytes)
{
    const enum sp_tier tier = sp_tier_of(in->model, &in->hw->chip, in->plan);
    struct near_rows s = {.n = n,
                          .plan = plan,
                          .most_bytes = most_bytes,
                          .tie = sp_is_tie(n->step_s, plan->time.step, sp_lead_log(tier)),
                          .has_limit = !isnan(most_bytes)};
    sp_change_text(n, "", s.change, sizeof s.change);
    sp_append(s.change, sizeof s.change, "%s", with);
    put_search_near_rows(r, &s);
}
