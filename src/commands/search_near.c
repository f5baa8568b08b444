/* search --near and --explain-rejects: one plan against its neighbours, and against the best. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "base/list.h"
#include "base/suggest.h"
#include "cli/plan_fields.h"
#include "commands/neighbours.h"
#include "commands/search_report.h"
#include "commands/step_report.h"

extern const struct sp_command sp_cmd_step;

/* One KEY=VALUE of a plan. Its keys are the fields that a search varies: what makes the problem
 * (model, machine, batch, framework, imbalance of the experts) is the search's own. */
static bool take_pair(const char *option, char *pair, struct sp_args *args, struct sp_error *error)
{
    char *const equals = strchr(pair, '=');
    if (!equals || equals == pair || pair[0] == '-')
        return sp_fail(error, SP_INPUT,
                       "--%s: \"%s\" is not KEY=VALUE, such as tp=8,pp=16,remat=full", option,
                       sp_safe(pair));
    *equals = '\0';
    struct sp_nearest nearest = {.wanted = pair};
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        if (sp_plan_fields[i].of_problem)
            continue;
        if (strcmp(sp_plan_fields[i].name, pair) == 0)
            return args->given_at[sp_option_of_field(i)]
                       ? sp_fail(error, SP_INPUT, "--%s: %s is given twice", option, pair)
                       : sp_take_text(args, sp_option_of_field(i), equals + 1, error);
        sp_nearest_offer(&nearest, sp_plan_fields[i].name);
    }
    return sp_fail(error, SP_INPUT, "--%s: \"%s\" is no part of a plan%s", option, sp_safe(pair),
                   sp_nearest_hint(&nearest));
}

/* The plan that the user named ("tp=8,pp=16,remat=full"), as `step` would make it. What cannot be
 * read is an `error`; what is no plan has its reason in `invalid`. */
static bool load_plan(struct sp_searching *s, const char *option, const char *plan,
                      struct sp_planned *planned, struct sp_error *invalid, struct sp_error *error)
{
    struct sp_args args = {0};
    char step[] = "step", *words[] = {step, NULL};
    char pair[512];
    /* the machine and the model are loaded: they may have come from standard input */
    *planned = s->machine[0]->base;
    planned->inferred[0] = '\0';
    if (strlen(plan) >= sizeof pair)
        return sp_fail(error, SP_INPUT, "--%s: too long", option);
    bool ok = sp_parse_command(&sp_cmd_step, 1, words, &args, error);
    for (const char *rest = plan; ok && sp_next_item(&rest, pair, sizeof pair);)
        ok = take_pair(option, pair, &args, error);
    planned->counts_sequences = true; /* the batch is the problem's */
    return ok && sp_plan_on(&args, planned, invalid);
}

static void put_neighbours(struct sp_searching *s, const struct sp_step_inputs *in,
                           const struct sp_neighbour *near, size_t n, const struct sp_estimate *e)
{
    struct sp_row rows[SP_MAX_NEIGHBOURS] = {0};
    static const struct sp_column columns[] = {
        {"change", "change", true},
        {"gain_pct", "gain %", false},
        {"tie", "tie", true},
        {"step_s", "step", false},
        {"device_bytes", "memory", false},
        {"memory_change_bytes", "more", false},
        {"fits", "fits", true},
    };
    for (size_t i = 0; i < n; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "near.%zu", i);
        sp_scope(s->report, rows[i].prefix);
        sp_put_neighbour(s->report, in, &near[i], e);
        sp_put(s->report, SP_Q_NEAR_MEMORY_CHANGE, near[i].device_bytes - (double)e->memory.device);
        sp_put_bool(s->report, SP_Q_NEAR_FITS,
                    near[i].device_bytes <= s->machine[0]->space.most_bytes);
    }
    sp_scope(s->report, "");
    sp_line(s->report, " ");
    sp_table(s->report, columns, sizeof columns / sizeof *columns, rows, n);
}

void sp_put_named_plan(struct sp_searching *s, const struct sp_planned *planned,
                       const struct sp_estimate *e)
{
    char rest[SP_PLAN_REST];
    sp_plan_rest(&planned->plan, &planned->framework.framework, planned->hw.slices, rest,
                 sizeof rest);
    sp_scope(s->report, "plan");
    sp_put_step(s->report, planned, e);
    sp_scope(s->report, "");
    if (!s->listed)
        sp_put(s->report, SP_Q_SEARCH_LIMIT, s->machine[0]->space.most_bytes);
    sp_line(s->report,
            "plan       {plan.model} on {plan.machine}: dp {plan.dp} tp {plan.tp} pp {plan.pp} vpp "
            "{plan.vpp} cp {plan.cp} ep {plan.ep}%s, ZeRO {plan.zero} over {plan.shards}, "
            "{plan.schedule}, micro-batch {plan.micro_batch}, recompute {plan.remat}: step "
            "{plan.time.step_s}, MFU {plan.mfu}, {plan.memory.device_bytes} of {most_bytes}",
            rest);
}

bool sp_report_near(struct sp_searching *s, const char *plan, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    struct sp_estimate e;
    if (!load_plan(s, "near", plan, &planned, error, error))
        return false;
    sp_estimate_planned(&planned, s->convention, &e);
    sp_put_named_plan(s, &planned, &e);
    sp_note_batch(s->report, &planned);
    const struct sp_step_inputs in = sp_inputs_of(&planned);
    const struct sp_repertoire runs = sp_repertoire_of(&planned, s->args->given.any);
    sp_answer_is(s->report, "near");
    put_neighbours(s, &in, near, sp_find_neighbours(&in, &runs, near), &e);
    return true;
}

/* Where the plan spends more than the best one. */
static void put_losses(struct sp_searching *s, const struct sp_step_time *mine,
                       const struct sp_planned *best)
{
    struct sp_row rows[SP_TIME_PARTS] = {0};
    static const struct sp_column columns[] = {{NULL, "component", true},
                                               {"loss_s", "beyond the best", false}};
    const struct sp_step_inputs in = sp_inputs_of(best);
    const struct sp_step_time theirs = sp_estimate_step(&in);
    for (size_t i = 0; i < SP_TIME_PARTS; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "losses.%s", sp_time_parts[i].name);
        snprintf(rows[i].label, sizeof rows[i].label, "%s", sp_time_parts[i].name);
        sp_scope(s->report, rows[i].prefix);
        sp_put(s->report, SP_Q_REJECT_PART, sp_time_part(mine, i) - sp_time_part(&theirs, i));
    }
    sp_scope(s->report, "");
    sp_line(s->report, " ");
    sp_table(s->report, columns, sizeof columns / sizeof *columns, rows, SP_TIME_PARTS);
}

static void compare_with_best(struct sp_searching *s, const struct sp_plan *plan,
                              const struct sp_step_time *mine)
{
    struct sp_planned best;
    struct sp_candidate *const m = s->machine[0];
    s->run.front = false;
    s->run.meshes = false; /* every plan ahead counts */
    s->run.wanted = SP_SEARCH_TOP;
    sp_search_machine(s, 0);
    const struct sp_best *const list = &m->result.best;
    int ahead = 0;
    while (ahead < list->n && list->found[ahead].step_s < mine->step)
        ahead++;
    sp_put(s->report, SP_Q_REJECT_RANK, ahead);
    if (m->result.partial)
        sp_note(s->report, "stopped early: plans that were not looked at may be ahead of it too");
    if (ahead == 0 && m->result.partial) {
        sp_put_text(s->report, SP_Q_REJECT_VERDICT, "not known: the search was interrupted");
        sp_line(s->report, "verdict    {verdict}");
        return;
    }
    if (ahead == 0) {
        sp_put_text(s->report, SP_Q_REJECT_VERDICT, "not rejected: no plan of the space is faster");
        sp_line(s->report, "verdict    {verdict}");
        return;
    }
    sp_planned_of(&m->base, &list->found[0], &best);
    const bool tie = sp_is_tie(mine->step, list->found[0].step_s,
                               sp_lead_log(sp_tier_of(&m->base.model, &m->base.hw.chip, plan)));
    sp_put_text(s->report, SP_Q_REJECT_VERDICT,
                "fits, but %.2f %% slower than the best plan%s; %s%d plans are ahead of it",
                100 * (mine->step / list->found[0].step_s - 1),
                tie ? ", which is less than the error of such a difference: a tie" : "",
                ahead == SP_SEARCH_TOP ? "at least " : "", ahead);
    sp_put_bool(s->report, SP_Q_REJECT_TIE, tie);
    sp_put(s->report, SP_Q_REJECT_BEHIND, 100 * (mine->step / list->found[0].step_s - 1));
    struct sp_words words;
    sp_step_words(s, m, &list->found[0], &words);
    sp_put_command(s->report, &words);
    sp_line(s->report, "verdict    {verdict}");
    if (!s->from)
        sp_line(s->report, "best       {command!}");
    put_losses(s, mine, &best);
}

void sp_judge_plan(struct sp_searching *s, const struct sp_plan *plan, const struct sp_estimate *e)
{
    const double most = s->machine[0]->space.most_bytes;
    const double bytes = (double)e->memory.device;
    if (bytes <= most) {
        compare_with_best(s, plan, &e->time);
        return;
    }
    char over[32];
    sp_human(bytes - most, SP_BYTES, over, sizeof over);
    sp_put_text(s->report, SP_Q_REJECT_VERDICT,
                "does not fit: %s a device too much (--near shows "
                "what would make it fit)",
                over);
    sp_line(s->report, "verdict    {verdict}");
}

bool sp_report_reject(struct sp_searching *s, const char *plan, struct sp_error *error)
{
    struct sp_planned planned;
    struct sp_error why = {0};
    struct sp_estimate e;
    if (!load_plan(s, "explain-rejects", plan, &planned, &why, error)) {
        if (why.lines == 0)
            return false;
        sp_put_text(s->report, SP_Q_REJECT_VERDICT, "invalid: %s", why.text);
        sp_line(s->report, "verdict    {verdict}");
        return true;
    }
    sp_estimate_planned(&planned, s->convention, &e);
    sp_put_named_plan(s, &planned, &e);
    sp_judge_plan(s, &planned.plan, &e);
    return true;
}
