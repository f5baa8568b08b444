/* Several machines of --hw in `serve`, compared by their instances. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "cli/service.h"
#include "study/problem.h"
#include "study/serve_contest.h"

enum { MOST_MACHINES = 16 };

/* One machine of --hw with its instances, best first or a front. */
struct rival {
    char hw[128];
    struct sp_args args;
    struct serve f;
    struct sp_serve_point points[SP_SERVE_POINTS];
    int n;
    struct sp_error why; /* why it answers none of these requests; 0 lines: it answers them */
    const char *reason;  /* tells that the list has none of its instances; NULL: it has one */
};
#define SP_PART serve_machine
#define SP_PART_OF struct rival
#include "answer/put_rows.h"

struct contest {
    const struct sp_args *args;
    struct sp_report *report;
    struct rival *rival[MOST_MACHINES];
    int n;
    enum sp_serve_objective objective;
    bool front, estimated; /* `estimated`: of some machine */
    struct sp_serve_entry *entries;
    size_t n_entries, shown; /* of them */
};

/* The instance with the given degrees, if it is in time. */
static void take_asked(struct rival *v)
{
    const struct serve *const f = &v->f;
    const struct sp_steady y = sp_state_of_service(f);
    if (!sp_serves(f))
        return;
    v->points[0] = (struct sp_serve_point){.chips = f->service.chips,
                                           .paid_chips = f->group_chips,
                                           .replicas = f->replicas,
                                           .sequences = f->B,
                                           .tp = f->service.tp,
                                           .attention_dp = f->service.attention_dp,
                                           .tokens_per_s_per_chip =
                                               sp_share_of_instance(y.tokens_per_s, f->group_chips),
                                           .steady = y};
    v->n = 1;
}

/* A machine with a count is no larger than that; one chip without a count means any number. */
static void leave_larger(struct rival *v)
{
    int left = 0;
    for (int i = 0; i < v->n; i++)
        if (v->points[i].chips <= (double)sp_chips(&v->f.hw))
            v->points[left++] = v->points[i];
    v->n = left;
}

/* False with an error that concerns every machine; a load that only this one cannot serve is its
 * own reason. */
static bool open_machine(struct contest *c, const char *hw, const struct sp_sources *sources,
                         struct sp_error *error)
{
    if (c->n == MOST_MACHINES)
        return sp_fail(error, SP_INPUT, "--hw: more than %d machines", MOST_MACHINES);
    struct rival *const v = sp_must(calloc(1, sizeof *v));
    c->rival[c->n++] = v;
    if (!*hw || strlen(hw) >= sizeof v->hw)
        return sp_fail(error, SP_INPUT, "--hw %s: an empty or too long name in the list",
                       sp_safe(c->args->value.hw));
    snprintf(v->hw, sizeof v->hw, "%s", hw);
    v->args = *c->args;
    v->args.value.hw = v->args.text[SP_O_hw] = v->hw;
    v->f = (struct serve){.args = &v->args, .report = c->report, .textbook = sources->textbook};
    if (!sp_load_service(&v->f, sources, error))
        return false;
    if (c->objective == SP_SERVE_COST && isnan(v->f.price.usd_per_h))
        return sp_fail(error, SP_INPUT, "no price for %s: give --price", v->f.hw.name);
    const bool loaded = sp_load_sequences(&v->f, &v->why);
    if (!v->f.degrees.given)
        v->n = sp_find_serve_points(&v->f, v->points);
    if (!v->f.degrees.given && sp_is_counted(&v->f.hw, hw))
        leave_larger(v);
    if (v->f.degrees.given && loaded)
        take_asked(v);
    return true;
}

static bool open_machines(struct contest *c, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(c->args);
    const char *list = c->args->value.hw;
    const size_t size = strlen(list) + 1;
    char *const hw = sp_must(malloc(size));
    bool ok = true;
    while (ok && sp_next_item(&list, hw, size))
        ok = open_machine(c, hw, &sources, error);
    free(hw);
    const struct sp_hardware *machines[MOST_MACHINES];
    const char *specs[MOST_MACHINES];
    for (int i = 0; ok && i < c->n; i++) {
        machines[i] = &c->rival[i]->f.hw;
        specs[i] = c->rival[i]->hw;
    }
    return ok && sp_check_price(c->args, machines, specs, c->n, error);
}

/* A rate leaves every machine the same tokens per second, so prices decide where all are known. */
static enum sp_serve_objective objective_at_rate(const struct contest *c)
{
    for (int i = 0; i < c->n; i++)
        if (isnan(c->rival[i]->f.price.usd_per_h))
            return c->objective;
    return SP_SERVE_COST;
}

static void rank(struct contest *c)
{
    struct sp_serve_rival rivals[MOST_MACHINES];
    for (int i = 0; i < c->n; i++) {
        const struct rival *const v = c->rival[i];
        rivals[i] = (struct sp_serve_rival){v->points,
                                            v->n,
                                            v->f.price.usd_per_h,
                                            v->f.service.input,
                                            v->f.service.output,
                                            v->f.instance.estimated};
        c->estimated = c->estimated || v->f.instance.estimated;
    }
    const size_t top = (size_t)c->args->value.top;
    c->n_entries = sp_rank_serving(rivals, c->n, c->objective, c->front, &c->entries);
    c->shown = c->n_entries < top ? c->n_entries : top;
}

static const char *why_not(const struct rival *v)
{
    return v->n > 0              ? "others beat all of its instances"
           : v->why.lines > 0    ? v->why.text
           : !v->f.holds_weights ? "it does not hold the weights"
                                 : "no instance serves the requests in time";
}

static const struct sp_price *price_of(const void *contest, int i)
{
    return &((const struct contest *)contest)->rival[i]->f.price;
}

/* Each machine with its best instance, or why it has none. */
static void put_machines(struct sp_report *r, const struct contest *c)
{
    for (int i = 0; i < c->n; i++) {
        struct rival *const v = c->rival[i];
        size_t best = 0;
        while (best < c->n_entries && c->entries[best].machine != i)
            best++;
        v->reason = best < c->n_entries ? NULL : why_not(v);
        sp_begin_row(r, "", "machines.%d", i);
        put_serve_machine_rows(r, v);
        if (v->reason)
            sp_drop_row(r); /* say_why says it */
        else
            sp_put_serve_point(&v->f, c->entries[best].point);
    }
    sp_scope(r, "");
    sp_note_prices(r, c, c->n, price_of);
}

static void say_why(struct sp_report *r, const struct contest *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->rival[i]->reason)
            sp_line(r, "%s: %s", c->rival[i]->hw, c->rival[i]->reason);
}

static void put_points(struct sp_report *r, const struct contest *c)
{
    for (size_t i = 0; i < c->shown; i++) {
        const struct sp_serve_entry *const e =
            &c->entries[sp_shown_point((int)i, (int)c->shown, (int)c->n_entries, c->front)];
        sp_begin_row(r, "", "points.%zu", i);
        sp_put_text(r, SP_Q_SERVE_POINT_HW, "%s", c->rival[e->machine]->hw);
        sp_put_serve_point(&c->rival[e->machine]->f, e->point);
    }
    sp_scope(r, "");
}

/* Closed forms look better beside estimates than they are. */
static void note_closed_forms(struct sp_report *r, const struct contest *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->rival[i]->n > 0 && !c->rival[i]->f.instance.estimated)
            sp_note(r,
                    "%s has only closed forms, which no engine reaches: it is ranked after the "
                    "estimates",
                    c->rival[i]->hw);
}

#define SP_PART serve_contest
#define SP_PART_OF struct contest
#include "answer/put_rows.h"

bool sp_compare_serving(const struct sp_args *args, struct sp_report *report,
                        struct sp_error *error)
{
    static const enum sp_option_id of_one[] = {SP_O_disaggregate, SP_O_replicas, SP_O_step_time,
                                               SP_NO_OPTION};
    struct contest c = {.args = args, .report = report};
    for (int i = 0; of_one[i] != SP_NO_OPTION; i++)
        if (args->given_at[of_one[i]])
            return sp_fail(error, SP_USAGE, "--%s needs one machine; --hw names several",
                           sp_option_name(of_one[i]));
    c.front = args->given.front;
    c.objective = c.front ? SP_SERVE_LATENCY : (enum sp_serve_objective)args->value.objective;
    const bool ok = open_machines(&c, error) && sp_check_slo(&c.rival[0]->f, error);
    if (ok) {
        if (args->given.rate && !args->given.objective && !c.front)
            c.objective = objective_at_rate(&c);
        rank(&c);
        put_serve_contest_rows(report, &c);
    }
    free(c.entries);
    for (int i = 0; i < c.n; i++)
        free(c.rival[i]);
    return ok;
}
