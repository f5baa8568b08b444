/* The layers of each stage with which a plan's step is the shortest: a dynamic programme over cut
 * points. */
#include <math.h>
#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "core/plan/stages.h"
#include "core/require.h"
#include "core/search/makespan.h"
#include "core/smooth.h"
#include "core/step/step_internal.h"

enum { MOST_LAYERS = 256, MOST_COSTS = 4096, HEAVIEST = 4, MOST_STATES = 1 << 16 };

/* Sums in another order differ by this share. */
#define ROUNDING 1e-12

/* Steps that differ by less are equal: memory decides. */
#define AS_FAST 1e-9

/* A stage of some layers, at any place between the ends. */
struct cost {
    struct sp_stage_kind kind;
    struct sp_one_stage one;
    struct sp_kind_time time;
    struct sp_kind_memory memory;
    double update_s; /* time of the rest of the step, after the longest pipeline that counts */
};

/* A way to cut the first `at` layers into stages. */
struct state {
    struct sp_makespan makespan;
    double update_s;         /* the longest of its stages: time after the longest pipeline */
    int32_t before;          /* the way without the last stage */
    int16_t at;              /* layers of all its stages */
    int16_t n, of[HEAVIEST]; /* stages that no other stage outweighs in every part; n above
                                HEAVIEST: more than fit into the list */
};

struct sp_layout_room {
    int16_t cost_at[MOST_LAYERS + 1][MOST_LAYERS + 1];  /* by first layer and size; 0: none yet */
    int16_t apart_at[MOST_LAYERS + 1][MOST_LAYERS + 1]; /* of the stage with modules apart */
    int16_t first_at[MOST_LAYERS + 1], last_at[MOST_LAYERS + 1];
    int costs; /* the first one is not used */
    struct cost cost[MOST_COSTS];
    struct sp_rest rest[SP_OWN_STAGES + 1]
                       [MOST_LAYERS + 1];         /* least values of the remaining stages */
    int32_t from[SP_OWN_STAGES][MOST_LAYERS + 2]; /* states of each cut point */
    int32_t states;
    struct state state[MOST_STATES];
};

size_t sp_layout_room_bytes(void)
{
    return sizeof(struct sp_layout_room);
}

/* A search among layouts. */
struct cutting {
    struct sp_step_inputs in;
    const struct sp_prepared *time;
    const struct sp_prepared_memory *held;
    struct sp_layout_room *room;
    struct sp_built built;
    int64_t stages, layers, alike, chunk; /* layers of a usual chunk */
    double most_bytes;
    double longest_s; /* pipelines that take longer do not count */
    double sends_s;   /* least that sends add */
    double than_s;    /* steps that are not shorter do not count */
    bool apart;       /* modules for further tokens are on the stage before the last */
    bool full;        /* room ran out: nothing is proven */
};

static bool is_last(const struct cutting *c, int64_t stage)
{
    return stage == c->stages - 1;
}

/* Whether the stage has the modules that are apart. */
static bool has_modules(const struct cutting *c, int64_t stage)
{
    return c->apart && stage == c->stages - 2;
}

/* Fewest layers of a stage: each chunk has one, except the one before the loss, one with modules
 * and, if stages have one chunk, the one after the input table. */
static int64_t least_layers(const struct cutting *c, int64_t stage)
{
    const int64_t v = c->in.plan->vpp;
    const bool bare = is_last(c, stage) || has_modules(c, stage) || (stage == 0 && v == 1);
    return (v - 1) * c->chunk + !bare;
}

/* The most layers of a stage: none comes after the modules. */
static int64_t most_layers(const struct cutting *c, int64_t stage)
{
    return c->apart && is_last(c, stage) ? least_layers(c, stage) : c->layers;
}

static int16_t *place_of(const struct cutting *c, int64_t stage, int64_t from, int64_t until)
{
    struct sp_layout_room *const r = c->room;
    if (stage == 0)
        return &r->first_at[until];
    if (is_last(c, stage))
        return &r->last_at[until - from];
    if (has_modules(c, stage))
        return &r->apart_at[from < c->alike ? from : c->alike][until - from];
    return &r->cost_at[from < c->alike ? from : c->alike][until - from];
}

static void time_stage(const struct cutting *c, struct cost *cost)
{
    const struct sp_plan *const p = c->in.plan;
    sp_time_of_kind(c->time, &cost->kind, &cost->time);
    const struct sp_passes passes = sp_passes_of(&c->in, &cost->time);
    cost->one = (struct sp_one_stage){passes.forward, passes.backward, 0};
    if (!sp_schedules[p->schedule].exact)
        cost->one.idle = sp_idle_per_stage(p, sp_plan_microbatches(p), &passes);
    cost->update_s = sp_update_s(&c->in, &cost->time, c->longest_s);
}

/* Layers from `from` to before `until` as a stage; NULL: there is no room. */
static const struct cost *cost_of(struct cutting *c, int64_t stage, int64_t from, int64_t until)
{
    struct sp_layout_room *const r = c->room;
    int16_t *const at = place_of(c, stage, from, until);
    struct sp_stage_map map;
    if (*at > 0)
        return &r->cost[*at];
    c->full |= r->costs == MOST_COSTS;
    if (c->full)
        return NULL;
    *at = (int16_t)r->costs++;
    struct cost *const cost = &r->cost[*at];
    sp_kind_between(c->in.model, from, until, stage == 0, is_last(c, stage), &cost->kind);
    if (c->apart)
        sp_put_modules_apart(c->in.model, has_modules(c, stage), &cost->kind);
    map.kinds = 1;
    map.kind[0] = cost->kind;
    sp_memory_of_kinds(c->in.framework, c->held, &map, &cost->memory);
    time_stage(c, cost);
    return cost;
}

static double both(const struct cost *cost)
{
    return cost->one.forward + cost->one.backward;
}

static bool fits(const struct cutting *c, const struct cost *cost, int64_t stage)
{
    return (double)sp_memory_at_stage(c->in.precision, c->in.plan, c->in.framework, &cost->memory,
                                      stage)
               .device <= c->most_bytes;
}

/* Whether a stage alone takes too long; more layers take longer. */
static bool is_too_long(const struct cutting *c, const struct cost *cost)
{
    return (double)c->built.microbatches * both(cost) > c->longest_s;
}

/* Computes, from the last stage backwards, the least values of every continuation. */
static void look_ahead(struct cutting *c)
{
    const struct sp_rest none = {INFINITY, INFINITY};
    const int64_t p = c->stages, L = c->layers;
    for (int64_t at = 0; at <= L; at++)
        c->room->rest[p][at] = at == L ? (struct sp_rest){0, 0} : none;
    for (int64_t stage = p - 1; stage >= 0 && !c->full; stage--)
        for (int64_t at = 0; at <= L; at++) {
            struct sp_rest *const rest = &c->room->rest[stage][at];
            *rest = none;
            if (stage == 0 && at > 0)
                continue;
            const int64_t most = at + most_layers(c, stage);
            for (int64_t to = at + least_layers(c, stage); to <= L && to <= most; to++) {
                const struct sp_rest *const behind = &c->room->rest[stage + 1][to];
                if (isinf(behind->sum))
                    continue;
                const struct cost *const cost = cost_of(c, stage, at, to);
                if (!cost || is_too_long(c, cost))
                    break;
                if (!fits(c, cost, stage))
                    continue;
                const struct sp_rest one = sp_put_in_front(&c->built, stage, &cost->one, behind);
                rest->sum = sp_smaller(rest->sum, one.sum);
                rest->peak = sp_smaller(rest->peak, one.peak);
            }
        }
}

/* Whether a stage updates its weights no sooner than another, whatever the pipeline. */
static bool is_heavier(const struct cost *a, const struct cost *b)
{
    const struct sp_kind_weights *const m = &a->time.weights, *const o = &b->time.weights;
    const struct sp_orthogonal *const x = &a->time.orthogonal, *const y = &b->time.orthogonal;
    return m->trained.dense >= o->trained.dense && m->trained.experts >= o->trained.experts &&
           m->held.dense >= o->held.dense && m->held.experts >= o->held.experts &&
           x->dense >= y->dense && x->experts >= y->experts && x->largest >= y->largest;
}

static void add_weights(const struct cutting *c, int16_t of, struct state *s)
{
    const struct cost *const all = c->room->cost;
    int16_t kept = 0;
    if (s->n > HEAVIEST)
        return;
    for (int i = 0; i < s->n; i++)
        if (is_heavier(&all[s->of[i]], &all[of]))
            return;
    for (int i = 0; i < s->n; i++)
        if (!is_heavier(&all[of], &all[s->of[i]]))
            s->of[kept++] = s->of[i];
    if (kept < HEAVIEST)
        s->of[kept] = of;
    s->n = (int16_t)(kept + 1);
}

/* Whether one way is at least as good as another to the same cut point, for every continuation. */
static bool is_as_good(const struct cutting *c, const struct state *one, const struct state *other)
{
    const struct cost *const all = c->room->cost;
    const double margin = ROUNDING * c->longest_s;
    for (int i = 0; i < SP_MAKESPAN_PARTS; i++)
        if (one->makespan.part[i] > other->makespan.part[i] + margin)
            return false;
    if (one->n > HEAVIEST)
        return false;
    const int listed = other->n < HEAVIEST ? other->n : HEAVIEST;
    for (int i = 0; i < one->n; i++) {
        int at = 0;
        while (at < listed && !is_heavier(&all[other->of[at]], &all[one->of[i]]))
            at++;
        if (at == listed)
            return false;
    }
    return true;
}

/* Adds a way to the cut point whose ways begin at `first`, unless an existing one is as good;
 * removes those that are no better. */
static void add_state(struct cutting *c, int32_t first, const struct state *s)
{
    struct sp_layout_room *const r = c->room;
    int32_t kept = first;
    for (int32_t i = first; i < r->states; i++)
        if (is_as_good(c, &r->state[i], s))
            return;
    for (int32_t i = first; i < r->states; i++)
        if (!is_as_good(c, s, &r->state[i]))
            r->state[kept++] = r->state[i];
    r->states = kept;
    c->full |= kept == MOST_STATES;
    if (!c->full)
        r->state[r->states++] = *s;
}

/* Least step of a way, over all continuations. */
static double least_step_s(const struct cutting *c, const struct state *s, int64_t stage,
                           double *pipeline)
{
    *pipeline = sp_least_makespan_s(&c->built, &s->makespan, &c->room->rest[stage + 1][s->at]);
    return (*pipeline + c->sends_s + s->update_s) * (1 + c->time->straggler) * (1 - ROUNDING);
}

/* Adds a stage up to layer `to` to the ways of the stage before it. */
static void extend(struct cutting *c, int64_t stage, int32_t before, int64_t to, int32_t first)
{
    struct sp_layout_room *const r = c->room;
    struct state s = {.before = -1};
    if (before >= 0)
        s = r->state[before];
    const int64_t from = s.at;
    const struct cost *const cost = cost_of(c, stage, from, to);
    double pipeline;
    if (!cost)
        return;
    sp_add_stage(&c->built, stage, &cost->one, &s.makespan);
    s.update_s = sp_larger(s.update_s, cost->update_s);
    s.before = before;
    s.at = (int16_t)to;
    add_weights(c, *place_of(c, stage, from, to), &s);
    if (least_step_s(c, &s, stage, &pipeline) < c->than_s && pipeline <= c->longest_s)
        add_state(c, first, &s);
}

/* Lists the ways to every cut point after a stage. */
static void cut_behind(struct cutting *c, int64_t stage)
{
    struct sp_layout_room *const r = c->room;
    const int64_t L = c->layers, least = least_layers(c, stage), most = most_layers(c, stage);
    for (int64_t to = 0; to <= L + 1; to++) {
        r->from[stage][to] = r->states;
        if (to > L || isinf(r->rest[stage + 1][to].sum) || c->full)
            continue;
        for (int64_t at = to - least; at >= 0 && at >= to - most; at--) {
            const bool any =
                stage == 0 ? at == 0 : r->from[stage - 1][at + 1] > r->from[stage - 1][at];
            if (!any)
                continue;
            const struct cost *const cost = cost_of(c, stage, at, to);
            if (!cost || !fits(c, cost, stage) || is_too_long(c, cost))
                continue;
            if (stage == 0)
                extend(c, stage, -1, to, r->from[stage][to]);
            for (int32_t i = r->from[stage > 0 ? stage - 1 : 0][at];
                 stage > 0 && i < r->from[stage - 1][at + 1]; i++)
                extend(c, stage, i, to, r->from[stage][to]);
        }
    }
}

/* The layers of a way's stages. */
static void stages_of(const struct cutting *c, int32_t way, struct sp_own_stages *own)
{
    const struct state *const all = c->room->state;
    *own = (struct sp_own_stages){.n = (int16_t)c->stages, .modules_apart = c->apart};
    for (int64_t stage = c->stages - 1; stage >= 0; stage--) {
        const int32_t before = all[way].before;
        own->layers[stage] = (int16_t)(all[way].at - (before < 0 ? 0 : all[before].at));
        way = before;
    }
}

/* Keeps the way with the shortest step, timed like every other plan. */
static void look_at_ways(struct cutting *c, struct sp_layout_found *found)
{
    const int64_t stage = c->stages - 1;
    for (int32_t i = c->room->from[stage][c->layers]; i < c->room->states; i++) {
        struct sp_plan plan = *c->in.plan;
        struct sp_step_inputs in = c->in;
        struct sp_stage_map map;
        struct sp_staged staged;
        struct sp_kind_memory kinds[SP_STAGE_KINDS];
        struct sp_stage_memory memory;
        stages_of(c, i, &plan.own);
        in.plan = &plan;
        const struct sp_stage_split split =
            sp_split_of(&plan, (enum sp_balance)in.framework->balance);
        sp_map_stages(in.model, &split, &map);
        sp_stage_times(&in, c->time, &map, &staged);
        const double step = sp_estimate_staged(&in, c->time, &map, &staged).step;
        if (step >= c->than_s)
            continue;
        sp_memory_of_kinds(in.framework, c->held, &map, kinds);
        sp_fullest_prepared(in.precision, &plan, in.framework, &map, kinds, &memory);
        c->than_s = step;
        *found = (struct sp_layout_found){plan.own, step, (double)memory.device};
    }
}

/* Least time that the update adds after the longest pipeline that counts: the ends have their
 * tables. */
static double least_update_s(struct cutting *c)
{
    const struct cost *const first = cost_of(c, 0, 0, least_layers(c, 0));
    const int64_t last = least_layers(c, c->stages - 1);
    const struct cost *const end = cost_of(c, c->stages - 1, c->layers - last, c->layers);
    return first && end ? sp_larger(first->update_s, end->update_s) : 0;
}

/* Looks at all layouts whose pipeline is at most this long. True if no other can be faster than the
 * best one found, or than than_s. */
static bool look_within(struct cutting *c, double longest_s, struct sp_layout_found *found)
{
    struct sp_layout_room *const r = c->room;
    c->longest_s = longest_s;
    for (int i = 1; i < r->costs; i++)
        r->cost[i].update_s = sp_update_s(&c->in, &r->cost[i].time, longest_s);
    c->sends_s =
        sp_step_around_s(&c->in, c->time, longest_s, 0) / (1 + c->time->straggler) - longest_s;
    r->states = 0;
    const double update = least_update_s(c);
    look_ahead(c);
    for (int64_t stage = 0; stage < c->stages && !c->full; stage++)
        cut_behind(c, stage);
    if (!c->full)
        look_at_ways(c, found);
    const double least_s = sp_step_around_s(&c->in, c->time, longest_s, update) *
                           sp_seen_factor(c->in.profile, c->in.model, c->in.hw, c->in.plan);
    return least_s >= c->than_s * (1 - ROUNDING);
}

/* The pipeline if all stages had the same share of the whole. s. */
static double shared_pipeline_s(const struct cutting *c)
{
    const double p = (double)c->stages;
    struct sp_stage_kind all;
    struct sp_kind_time time;
    sp_kind_between(c->in.model, 0, c->layers, true, true, &all);
    sp_time_of_kind(c->time, &all, &time);
    struct sp_passes passes = sp_passes_of(&c->in, &time);
    passes.forward /= p;
    passes.backward /= p;
    passes.weight_grad /= p;
    return (double)c->built.microbatches * (passes.forward + passes.backward) +
           (p - 1) * sp_idle_per_stage(c->in.plan, c->built.microbatches, &passes);
}

/* Finds the shortest step, with pipelines that exceed the evenly shared one by more and more. */
static void find_fastest(struct cutting *c, struct sp_layout_found *found)
{
    static const double over[] = {1.01, 1.03, 1.08, 1.2, 1.5, 2, 4, 16, 1e3};
    const double shared = shared_pipeline_s(c);
    for (size_t i = 0; i < sizeof over / sizeof *over && !c->full; i++)
        if (look_within(c, over[i] * shared, found))
            return;
}

/* The least memory that such a step needs. */
static void find_leanest(struct cutting *c, struct sp_layout_found *found)
{
    const double longest = c->longest_s, as_fast = found->step_s * (1 + AS_FAST);
    for (struct sp_layout_found less = *found; !c->full;) {
        c->most_bytes = less.device_bytes - 1;
        c->than_s = as_fast;
        less.own.n = 0;
        look_within(c, longest, &less);
        if (less.own.n == 0 || c->full)
            return;
        *found = less;
    }
}

/* The best layout with modules for further tokens at one place. */
static enum sp_layout_outcome find(const struct sp_step_inputs *in,
                                   const struct sp_rank_layers *mine, bool apart, double most_bytes,
                                   double than_s, struct sp_layout_room *room,
                                   struct sp_layout_found *found)
{
    struct sp_prepared time;
    struct sp_prepared_memory held;
    const struct sp_plan *const p = in->plan;
    sp_prepare_step(in, mine, &time);
    sp_prepare_memory(mine, p, in->framework, &held);
    memset(room->cost_at, 0, sizeof room->cost_at);
    memset(room->apart_at, 0, sizeof room->apart_at);
    memset(room->first_at, 0, sizeof room->first_at);
    memset(room->last_at, 0, sizeof room->last_at);
    room->costs = 1;
    struct cutting c = {.in = *in,
                        .time = &time,
                        .held = &held,
                        .room = room,
                        .built = {p->schedule, p->pp, sp_plan_microbatches(p)},
                        .stages = p->pp,
                        .layers = in->model->layers,
                        .alike = sp_alike_from(in->model),
                        .chunk = (2 * in->model->layers + p->pp * p->vpp) / (2 * p->pp * p->vpp),
                        .most_bytes = most_bytes,
                        .than_s = than_s,
                        .apart = apart};
    *found = (struct sp_layout_found){.step_s = than_s};
    find_fastest(&c, found);
    if (found->own.n > 0 && !c.full)
        find_leanest(&c, found);
    return c.full ? SP_LAYOUT_UNKNOWN : found->own.n > 0 ? SP_LAYOUT_FOUND : SP_LAYOUT_NONE;
}

enum sp_layout_outcome sp_find_layout(const struct sp_step_inputs *in, double most_bytes,
                                      double than_s, struct sp_layout_room *room,
                                      struct sp_layout_found *found)
{
    struct sp_layers listed;
    struct sp_rank_layers mine;
    struct sp_plan plan = *in->plan;
    struct sp_step_inputs of = *in;
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    if (plan.pp < 2)
        return SP_LAYOUT_NONE;
    if (plan.pp > SP_OWN_STAGES || in->model->layers > MOST_LAYERS || in->model->tuning.companions)
        return SP_LAYOUT_UNKNOWN;
    plan.first_layers = plan.last_layers = 0;
    plan.own = (struct sp_own_stages){0};
    of.plan = &plan;
    sp_layers_on_rank(sp_layers_of(in, &listed), &plan, in->framework, &mine);
    const enum sp_layout_outcome one = find(&of, &mine, false, most_bytes, than_s, room, found);
    if (one == SP_LAYOUT_UNKNOWN || in->model->mtp_layers == 0 || plan.pp < 3)
        return one;
    struct sp_layout_found beside;
    const double as_fast = one == SP_LAYOUT_FOUND ? found->step_s * (1 + AS_FAST) : than_s;
    plan.own.modules_apart = true;
    const enum sp_layout_outcome other = find(&of, &mine, true, most_bytes, as_fast, room, &beside);
    if (other == SP_LAYOUT_FOUND &&
        (one != SP_LAYOUT_FOUND || beside.step_s < found->step_s * (1 - AS_FAST) ||
         beside.device_bytes < found->device_bytes))
        *found = beside;
    return other == SP_LAYOUT_NONE ? one : other;
}
