/* Changes that would make a plan better, or make it fit, each with its result when typed. */
#include "cli/better.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <scaleplan/estimate.h>

#include "cli/plan_options.h"
#include "cli/plan_rows.h"
#include "study/plan_text.h"

/* A plan whose neighbours are the plans that the command gives with their change. */
struct better {
    const struct sp_args *args;
    const struct sp_planned *p;
    struct sp_repertoire runs;
};

static struct better better_of(const struct sp_args *args, const struct sp_planned *p)
{
    return (struct better){args, p, sp_repertoire_of(p, false)};
}

static bool settle_as_typed(void *of, struct sp_neighbour *changed)
{
    const struct better *const s = of;
    return sp_plan_changed(s->args, s->p, &s->runs, changed);
}

/* ", --framework NAME" if the change would also change the framework, whose default depends on ZeRO
 * 3; else "". */
static const char *kept_framework(const struct better *s, const struct sp_neighbour *n,
                                  struct sp_text *out)
{
    const bool crosses = (n->plan.zero == 3) != (s->p->plan.zero == 3);
    if (!crosses || s->args->given.framework)
        return "";
    snprintf(out->s, sizeof out->s, ", --framework %s", s->p->framework.framework.name);
    return out->s;
}

static size_t find_neighbours(struct better *s, struct sp_neighbour near[SP_MAX_NEIGHBOURS])
{
    const struct sp_settling settling = {settle_as_typed, s};
    const struct sp_step_inputs in = sp_inputs_of(s->p);
    return sp_find_neighbours(&in, &s->runs, &settling, near);
}

/* Improvements: neighbours that fit and are faster (or fit at all). */
void sp_put_better(struct sp_report *r, const struct sp_args *args, const struct sp_planned *p,
                   const struct sp_estimate *e)
{
    enum { SHOWN = 5 };
    struct better s = better_of(args, p);
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    const struct sp_step_inputs in = sp_inputs_of(p);
    const size_t all = find_neighbours(&s, near);
    int found = 0;
    for (size_t i = 0; i < all; i++) {
        struct sp_text with;
        if (near[i].verdict == SP_VERDICT_NO || (e->fits && near[i].step_s >= e->time.step) ||
            found++ >= SHOWN)
            continue;
        sp_begin_row(r, NULL, "better.%d", found - 1);
        sp_put_neighbour(r, &in, &near[i], kept_framework(&s, &near[i], &with), e, NAN);
    }
    if (found > 0) {
        sp_list_table(r, "better", "change: better, gain_pct, tie, step_s, device_bytes: memory");
    } else {
        sp_line(r, " ");
        sp_line(r, "better     no plan one change away fits and is faster");
    }
    sp_put(r, SP_Q_STEP_LAUNCH_BETTER, found);
    sp_stand_in(r, SP_DETAILS);
    sp_line(r, "`scaleplan search` looks at all plans, `search --near` at all neighbours");
    sp_stand_in(r, SP_BOTH);
}

/* How much longer than estimated a plan is likely to take, because it is unlike measured runs. */
static double doubt_of(const struct sp_planned *p, const struct sp_plan *plan,
                       const struct sp_ground *ground)
{
    const struct sp_place place = sp_place_of(&p->model, &p->hw, plan);
    return sp_doubt(sp_octaves_away(ground, &place));
}

/* Whether a neighbour is faster than the plan's own `step_s` only in the estimate: it is further
 * from measured runs, and the expected error cancels its gain. */
static bool is_far(const struct better *s, const struct sp_neighbour *near, double step_s)
{
    struct sp_error ignored = {0};
    const struct sp_sources sources = sp_sources_of(s->args);
    struct sp_ground ground = {0};
    struct sp_place *const places =
        sp_load_places((enum sp_network_kind)s->p->hw.network.kind, &sources, &ground.n, &ignored);
    ground.places = places;
    const bool far = ignored.lines == 0 && near->step_s * doubt_of(s->p, &near->plan, &ground) >=
                                               step_s * doubt_of(s->p, &s->p->plan, &ground);
    free(places);
    return far;
}

/* The fastest neighbour in a line. */
void sp_say_better(struct sp_report *r, const struct sp_args *args, const struct sp_planned *p,
                   const struct sp_estimate *e)
{
    struct better s = better_of(args, p);
    struct sp_neighbour near[SP_MAX_NEIGHBOURS];
    const size_t n = find_neighbours(&s, near);
    size_t i = 0;
    char change[64];
    struct sp_text with;
    while (i < n && near[i].verdict == SP_VERDICT_NO)
        i++;
    if (i == n || near[i].step_s >= e->time.step) {
        sp_line(r, "better     no single change is faster; `scaleplan search` looks at every plan");
        return;
    }
    const double lead = sp_lead_log(sp_tier_of(&p->model, &p->hw.chip, &p->plan));
    sp_change_text(&near[i], "--", change, sizeof change);
    sp_line(r, "better     %s%s: %s%s; `scaleplan search` looks at every plan", change,
            kept_framework(&s, &near[i], &with), sp_human_text(near[i].step_s, SP_SECONDS),
            is_far(&s, &near[i], e->time.step)              ? ", but no run like it is known"
            : sp_is_tie(near[i].step_s, e->time.step, lead) ? ", within the error of the estimate"
                                                            : "");
}

/* Changes that make a plan fit, the fastest first. */
void sp_put_fixes(struct sp_report *r, const struct sp_args *args, const struct sp_planned *p)
{
    struct better s = better_of(args, p);
    struct sp_neighbour fix[SP_MAX_FIXES];
    const struct sp_settling settling = {settle_as_typed, &s};
    const struct sp_step_inputs in = sp_inputs_of(p);
    const size_t n = sp_find_fixes(&in, &s.runs, &settling, fix);
    for (size_t i = 0; i < n; i++) {
        char change[64];
        struct sp_text with;
        sp_change_text(&fix[i], "--", change, sizeof change);
        sp_begin_row(r, NULL, "fixes.%zu", i);
        sp_put_text(r, SP_Q_STEP_FIX, "%s%s", change, kept_framework(&s, &fix[i], &with));
        sp_put(r, SP_Q_STEP_FIX_STEP, fix[i].step_s);
        sp_put(r, SP_Q_STEP_FIX_DEVICE, fix[i].device_bytes);
    }
    if (n > 0)
        sp_list_table(r, "fixes", "change: to fit, step_s, device_bytes: memory");
    else
        sp_note(r,
                "no single change of recomputation, ZeRO stage, micro-batch, tp, pp or cp that %s "
                "supports makes it fit",
                p->framework.framework.name);
}
