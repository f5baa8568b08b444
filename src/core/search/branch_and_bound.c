/* Branch and bound over one group of plans. */
#include <math.h>

#include <scaleplan/estimate.h>

#include "core/search/search_internal.h"
#include "core/step/step_internal.h"
#include "core/require.h"

/* The search of a group. */
struct looking {
    const struct sp_search_space *space;
    const struct sp_search_rule *rule;
    struct sp_best *best;
    struct sp_search_counts *counts;
    uint64_t group;
    struct sp_plan plan;
    struct sp_step_inputs in;
    struct sp_rank_layers layers;
    struct sp_prepared time;
    struct sp_prepared_memory memory;
    int policy;
    bool chooses;    /* of each plan what is kept, recomputed or moved (sp_choose_kept) */
    double beside_s; /* => 24 */
    double doubt;    /* sp_doubt of the split; 1 before it is known */
};

/* Begins the search of a group, whose layers, times and memory are not yet computed: most groups
 * are empty, and clearing 130 kB takes longer than finding that out. */
static void begin(struct looking *l, const struct sp_search_space *space, uint64_t group,
                  const struct sp_search_rule *rule)
{
    l->space = space;
    l->rule = rule;
    l->best = NULL;
    l->counts = NULL;
    l->group = group;
    l->policy = 0;
    l->chooses = false;
    l->beside_s = 0;
    l->doubt = 1;
}

/* One split into stages. */
struct splitting {
    const struct sp_split_space *split;
    const struct sp_stage_map *map;
    struct sp_staged staged;
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    uint64_t leaf; /* of its first plan */
    struct sp_sharding sharding[SP_SHARDINGS];
};

void sp_add_counts(struct sp_search_counts *counts, const struct sp_search_counts *other)
{
    counts->total += other->total;
    counts->evaluated += other->evaluated;
    counts->no_memory += other->no_memory;
    counts->by_memory += other->by_memory;
    counts->by_time += other->by_time;
}

/* The value that a plan must not exceed. */
static double limit_of(const struct looking *l)
{
    const struct sp_best *const b = l->best;
    const double own = b->n == b->wanted && b->n > 0 ? b->found[b->n - 1].value : INFINITY;
    return fmin(own, l->rule->limit);
}

/* The longest step that may be the fastest, or the simplest of sufficient speed: both are wanted
 * with `ground`. */
static double longest_besides_s(const struct looking *l)
{
    const struct sp_best *const b = l->best;
    if (!l->space->ground)
        return 0;
    const double least = fmin(l->rule->least, b->n_simple > 0 ? b->simple[0].value : INFINITY);
    const double fastest =
        fmin(l->rule->fastest, b->fastest.step_s > 0 ? b->fastest.step_s : INFINITY);
    return fmax(fastest, SP_SIMPLER * least / l->doubt);
}

static bool is_wanted_besides(const struct looking *l, double step_s)
{
    return step_s <= longest_besides_s(l);
}

/* Lower bound of bytes over all plans of the split with l->plan's schedule: the most sharded ZeRO
 * stage, without gathered layers, and for a choice without activations and optimizer. The last
 * stage has fewer buffers for sends with more micro-batches in flight, so a schedule with more of
 * them may need less memory: none are counted. */
static double least_bytes(const struct looking *l, const struct splitting *s)
{
    struct sp_plan plan = l->plan;
    struct sp_kind_memory kinds[SP_STAGE_KINDS];
    struct sp_stage_memory m;
    for (int i = 0; i < s->map->kinds; i++) {
        kinds[i] = s->kinds[i];
        kinds[i].gathered = kinds[i].whole = kinds[i].flat = 0;
        kinds[i].sent = kinds[i].last ? 0 : kinds[i].sent;
        if (l->chooses)
            kinds[i].kept = kinds[i].peak = 0;
    }
    if (l->chooses && l->space->open.kept.optimizer_parts > 0)
        plan.optimizer_away = 1;
    plan.zero = s->split->most_zero;
    plan.shards = s->split->most_shards;
    sp_fullest_prepared(l->in.precision, &plan, l->in.framework, s->map, kinds, &m);
    return (double)m.device;
}

/* Excludes plans with at least these bytes or this step time (without companions) if above the
 * limits; true if so. Bounds have a margin of 1e-9 and are compared with >, because they are summed
 * in another order. */
static bool rule_out(struct looking *l, double bytes, double alone_s, uint64_t plans)
{
    const double step_s = alone_s + l->beside_s;
    const bool step = l->space->objective == SP_LEAST_STEP;
    if (l->rule->exhaustive)
        return false;
    if (bytes > l->space->most_bytes) {
        l->counts->by_memory += plans;
        return true;
    }
    const bool good =
        l->best->front
            ? !sp_is_beaten(l->best->front, step_s, bytes) &&
                  !(l->rule->known && sp_is_beaten(l->rule->known, step_s, bytes))
            : (step ? step_s * l->doubt : bytes) <= limit_of(l) || is_wanted_besides(l, step_s);
    if (good)
        return false;
    l->counts->by_time += plans;
    return true;
}

/* Chooses the activations that the plan keeps, recomputes or moves; false if no choice makes it
 * fit. */
static bool choose(struct looking *l, struct sp_found *found)
{
    struct sp_kept_found kept;
    struct sp_step_inputs in = l->in;
    struct sp_kept_space space = l->space->open.kept;
    in.layers = &l->space->layers;
    if (!l->rule->exhaustive) /* with a margin, as for all bounds */
        space.most_s = fmax(limit_of(l) / l->doubt, longest_besides_s(l)) * (1 + 1e-9);
    found->bytes = INFINITY;
    if (!sp_choose_kept(&in, &space, l->space->most_bytes, &kept))
        return false;
    l->plan.recompute = kept.recompute;
    l->plan.optimizer_away = kept.optimizer_away;
    found->bytes = kept.device_bytes;
    found->step_s = kept.step_s;
    found->value = found->step_s * l->doubt;
    return true;
}

/* Whether the choice is one of the group's other plans, which have their own place. */
static bool is_listed(const struct sp_dimensions *open, const struct sp_plan *plan)
{
    const struct sp_recompute *const r = &plan->recompute;
    bool listed = r->modules == 0;
    for (int i = 0; i < open->n_modules; i++)
        listed |= open->modules[i] == r->modules;
    return listed && !r->offload && plan->optimizer_away == 0;
}

/* Evaluates a plan in place; false if its memory is over the limit and its time was not
 * computed. */
static bool evaluate(struct looking *l, const struct splitting *s, struct sp_found *found)
{
    struct sp_stage_memory m;
    if (l->chooses)
        return choose(l, found);
    sp_fullest_beside(&l->in, s->map, s->kinds, NULL, &m);
    found->bytes = (double)m.device;
    if (found->bytes > l->space->most_bytes && !l->rule->exhaustive)
        return false;
    const double alone = sp_estimate_staged(&l->in, &l->time, s->map, &s->staged).step;
    found->step_s = sp_step_beside_s(&l->in, alone);
    found->value = l->space->objective == SP_LEAST_MEMORY ? found->bytes : found->step_s * l->doubt;
    return true;
}

/* Evaluates one plan and keeps it if it is good. */
static void look_at_plan(struct looking *l, const struct splitting *s, uint64_t leaf)
{
    struct sp_found found = {.group = l->group, .leaf = leaf};
    const bool timed = evaluate(l, s, &found), fits = found.bytes <= l->space->most_bytes;
    l->counts->evaluated += fits;
    l->counts->no_memory += !fits;
    found.plan = l->plan;
    if (l->chooses) {
        l->plan.recompute = (struct sp_recompute){0};
        l->plan.optimizer_away = 0;
    }
    if (timed && fits && !(l->chooses && is_listed(&l->space->open, &found.plan)) &&
        (l->best->front || found.value <= limit_of(l) || is_wanted_besides(l, found.step_s)) &&
        (!l->space->admits || l->space->admits(&found.plan, l->space->context)))
        sp_keep(l->best, &found);
}

/* Plans that are probably good, which the seeding pass searches. */
static bool is_likely(const struct sp_split_space *split, const struct sp_sharding *sharding)
{
    return sharding->shards == split->dp * split->cp;
}

/* Searches the shardings of one schedule and placement. */
static void look_at_flow(struct looking *l, const struct splitting *s, uint64_t leaf)
{
    const struct sp_split_space *const split = s->split;
    /* more recomputation may fill a gap with weight gradients: for a choice only the work is
     * known */
    const bool fills = l->chooses && sp_schedules[l->plan.schedule].splits_weight;
    if (!l->rule->exhaustive &&
        rule_out(l, least_bytes(l, s),
                 fills ? 0 : sp_least_flow_s(&l->in, &l->time, s->map, &s->staged),
                 (uint64_t)split->shardings))
        return;
    for (int z = 0; z < split->shardings; z++, leaf++) {
        if (l->rule->seeding && !is_likely(split, &s->sharding[z]))
            continue;
        l->plan.zero = s->sharding[z].zero;
        l->plan.shards = s->sharding[z].shards;
        look_at_plan(l, s, leaf);
    }
}

static void look_at_split(struct looking *l, struct splitting *s)
{
    const struct sp_split_space *const split = s->split;
    uint64_t leaf = s->leaf;
    sp_list_shardings(l->space, split, s->sharding);
    for (int inside = 0; inside < 2; inside++) {
        if (!split->placement[inside])
            continue;
        l->plan.stages_inside = inside;
        for (int f = 0; f < split->flows; f++) {
            l->plan.schedule = split->flow[f].schedule;
            l->plan.vpp = split->flow[f].vpp;
            s->staged.hop_s = sp_stage_hop_s(&l->in);
            look_at_flow(l, s, leaf);
            leaf += (uint64_t)split->shardings;
        }
    }
}

/* sp_doubt of the group's plans with the split's stages. */
static double doubt_of(const struct looking *l)
{
    const struct sp_ground *const ground = l->space->ground;
    if (!ground || l->space->objective != SP_LEAST_STEP)
        return 1;
    const struct sp_place place = sp_place_of(l->in.model, l->in.hw, &l->plan);
    return sp_doubt(sp_octaves_away(ground, &place));
}

/* Computes the bounds of a split, then searches its plans. The distance from measured runs comes
 * last: most splits are ruled out without it. */
static void bound_split(struct looking *l, struct splitting *s)
{
    l->plan.pp = s->split->pp;
    l->plan.dp = s->split->dp;
    l->plan.schedule = SP_1F1B; /* no schedule has fewer micro-batches in flight */
    l->plan.vpp = 1;
    l->doubt = 1;
    sp_memory_of_kinds(l->in.framework, &l->memory, s->map, s->kinds);
    const double bytes = l->rule->exhaustive ? 0 : least_bytes(l, s);
    if (rule_out(l, bytes, 0, s->split->plans))
        return;
    sp_stage_times(&l->in, &l->time, s->map, &s->staged);
    const double least_s = sp_least_staged_s(&l->in, &l->time, s->map, &s->staged);
    if (rule_out(l, bytes, least_s, s->split->plans))
        return;
    l->doubt = doubt_of(l);
    if (l->doubt > 1 && rule_out(l, bytes, least_s, s->split->plans))
        return;
    look_at_split(l, s);
}

/* Number of plans of n splits under one policy. */
static uint64_t plans_of(const struct sp_split_space *splits, int n)
{
    uint64_t plans = 0;
    for (int i = 0; i < n; i++)
        plans += splits[i].plans;
    return plans;
}

/* Searches all splits of the group under one policy. */
static void look_at_policy(struct looking *l, const struct sp_split_space *splits, const int *at,
                           int n)
{
    struct splitting s;
    const uint64_t plans = plans_of(splits, n);
    l->plan.pp = splits[0].pp;
    l->plan.dp = splits[0].dp;
    l->doubt = 1;
    sp_prepare_step(&l->in, &l->layers, &l->time);
    if (rule_out(l, 0, sp_least_step_s(&l->in, &l->time), plans))
        return;
    sp_prepare_memory(&l->layers, &l->plan, l->in.framework, &l->memory);
    s.leaf = (uint64_t)l->policy * 2 * plans + (l->plan.recompute.offload ? plans : 0);
    for (int i = 0; i < n; i++) {
        s.split = &splits[i];
        s.map = &l->space->maps[at[i]];
        bound_split(l, &s);
        s.leaf += splits[i].plans;
    }
}

/* Opens the group's splits; returns their number. */
static int open_group(struct looking *l, struct sp_split_space *splits, int *at)
{
    int n = 0;
    if (!sp_group_plan(l->space, l->group, &l->plan))
        return 0;
    for (int i = 0; i < l->space->n_pp; i++)
        if (sp_open_split(l->space, &l->plan, i, &splits[n]))
            at[n++] = i;
    l->in = l->space->in;
    l->in.plan = &l->plan;
    if (n > 0)
        sp_layers_on_rank(&l->space->layers, &l->plan, l->in.framework, &l->layers);
    return n;
}

bool sp_recompute_at(const struct sp_dimensions *open, const struct sp_plan *plan, int at,
                     struct sp_recompute *recompute)
{
    const bool of_modules = at >= SP_POLICIES;
    const int policy = of_modules ? (int)SP_REMAT_NONE : at;
    *recompute = sp_policies[policy].recompute;
    recompute->modules = of_modules ? open->modules[at - SP_POLICIES] : 0;
    return open->policy[policy] && at < SP_POLICIES + open->n_modules &&
           sp_may_recompute(plan, recompute);
}

/* Number of a group's ways to recompute, each with and without offload, and the choice. */
static uint64_t policies_of(const struct sp_search_space *space, const struct sp_plan *group)
{
    struct sp_recompute ignored;
    uint64_t policies = 0;
    for (int i = 0; i < SP_WAYS_TO_RECOMPUTE; i++)
        policies += sp_recompute_at(&space->open, group, i, &ignored);
    return policies * (uint64_t)(space->open.offload[0] + space->open.offload[1]) +
           space->open.chooses_kept;
}

/* Excludes a whole group by its time without recomputation and offload: a policy adds work and
 * copies, and at most as much overlap of the exchange. */
static bool rule_out_group(struct looking *l, const struct sp_split_space *splits, int n)
{
    const uint64_t plans = plans_of(splits, n) * policies_of(l->space, &l->plan);
    l->counts->total += plans;
    if (l->rule->exhaustive || plans == 0)
        return plans == 0;
    l->plan.pp = splits[0].pp;
    l->plan.dp = splits[0].dp;
    l->plan.recompute = (struct sp_recompute){0};
    l->beside_s = sp_least_companions_s(&l->in) * (1 - 1e-9); /* summed in another order */
    sp_prepare_step(&l->in, &l->layers, &l->time);
    return rule_out(l, 0, sp_least_step_s(&l->in, &l->time), plans);
}

/* Nothing is recomputed or moved: the step is the least of all choices. */
static void begin_choice(struct looking *l)
{
    l->chooses = true;
    l->plan.recompute = (struct sp_recompute){0};
}

void sp_search_group(const struct sp_search_space *space, uint64_t group,
                     const struct sp_search_rule *rule, struct sp_best *best,
                     struct sp_search_counts *counts)
{
    sp_require(group < sp_search_groups(space), "the group must be below sp_search_groups");
    struct sp_split_space splits[SP_SEARCH_SPLITS];
    struct looking l;
    int at[SP_SEARCH_SPLITS];
    begin(&l, space, group, rule);
    l.best = best;
    l.counts = counts;
    const int n = open_group(&l, splits, at);
    if (rule_out_group(&l, splits, n))
        return;
    for (l.policy = 0; l.policy < SP_WAYS_TO_RECOMPUTE && n > 0; l.policy++)
        for (int offload = 0; offload < 2; offload++) {
            l.plan.schedule = space->flow[0][0].schedule; /* the last policy's search changed it */
            if (!space->open.offload[offload] ||
                !sp_recompute_at(&space->open, &l.plan, l.policy, &l.plan.recompute))
                continue;
            l.plan.recompute.offload = offload;
            look_at_policy(&l, splits, at, n);
        }
    if (!space->open.chooses_kept || n == 0)
        return;
    l.policy = SP_POLICIES + space->open.n_modules;
    begin_choice(&l);
    look_at_policy(&l, splits, at, n);
}

/* Evaluates plan `leaf` of a split, counted from its first. */
static void evaluate_leaf(struct looking *l, struct splitting *s, uint64_t leaf,
                          struct sp_found *found)
{
    const struct sp_split_space *const split = s->split;
    const uint64_t z = leaf % (uint64_t)split->shardings;
    leaf /= (uint64_t)split->shardings;
    const struct sp_flow *const flow = &split->flow[leaf % (uint64_t)split->flows];
    const bool second = leaf / (uint64_t)split->flows > 0;
    l->plan.stages_inside = second || !split->placement[0];
    l->plan.pp = split->pp;
    l->plan.dp = split->dp;
    l->plan.schedule = flow->schedule;
    l->plan.vpp = flow->vpp;
    sp_list_shardings(l->space, split, s->sharding);
    l->plan.zero = s->sharding[z].zero;
    l->plan.shards = s->sharding[z].shards;
    sp_prepare_step(&l->in, &l->layers, &l->time);
    sp_prepare_memory(&l->layers, &l->plan, l->in.framework, &l->memory);
    sp_memory_of_kinds(l->in.framework, &l->memory, s->map, s->kinds);
    sp_stage_times(&l->in, &l->time, s->map, &s->staged);
    l->doubt = doubt_of(l);
    evaluate(l, s, found);
    found->plan = l->plan;
}

bool sp_plan_at(const struct sp_search_space *space, uint64_t group, uint64_t leaf,
                struct sp_found *found)
{
    static const struct sp_search_rule everything = {.exhaustive = true};
    struct sp_split_space splits[SP_SEARCH_SPLITS];
    struct looking l;
    int at[SP_SEARCH_SPLITS] = {0};
    begin(&l, space, group, &everything);
    if (group >= sp_search_groups(space))
        return false;
    const int n = open_group(&l, splits, at);
    const uint64_t plans = plans_of(splits, n);
    const uint64_t ways = 2 * (uint64_t)(SP_POLICIES + space->open.n_modules);
    if (plans == 0 || leaf / plans >= ways + space->open.chooses_kept)
        return false;
    l.policy = (int)(leaf / plans / 2);
    sp_recompute_at(&space->open, &l.plan, l.policy,
                    &l.plan.recompute); /* a closed one has its places */
    l.plan.recompute.offload = leaf / plans % 2;
    if (leaf / plans == ways)
        begin_choice(&l);
    uint64_t rest = leaf % plans;
    int i = 0;
    for (; rest >= splits[i].plans; i++)
        rest -= splits[i].plans;
    struct splitting s = {.split = &splits[i], .map = &space->maps[at[i]]};
    *found = (struct sp_found){.group = group, .leaf = leaf};
    evaluate_leaf(&l, &s, rest, found);
    return true;
}
