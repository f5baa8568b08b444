/* Ranks the plans of all machines of a search, and sums their outcomes. */
#include "study/search_machines.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

struct sp_candidate *sp_add_machine(struct sp_search *s)
{
    if (s->machines == SP_MAX_MACHINES)
        return NULL;
    struct sp_candidate **const m = &s->machine[s->machines++];
    *m = sp_must(calloc(1, sizeof **m));
    return *m;
}

/* The limits' own question, of the machine's problem. */
static bool admits(const struct sp_plan *plan, const void *context)
{
    const struct sp_candidate *const m = context;
    return m->admits->admits(&m->base, plan, m->admits->context);
}

bool sp_open_machine(const struct sp_search *s, struct sp_candidate *m, struct sp_error *error)
{
    const int64_t devices = sp_chips(&m->base.hw);
    if (m->asked.devices == 0) {
        m->asked = (struct sp_variant){devices, m->base.plan.batch};
        m->least_devices = devices - m->base.problem.idle;
    }
    if (!sp_space_of(&m->base, &s->limits, &m->space, error))
        return false;
    if (s->robust)
        sp_make_robust(m);
    m->space.objective = s->problem.goal == SP_GOAL_MEMORY ? SP_LEAST_MEMORY : SP_LEAST_STEP;
    m->space.ground = s->grounded ? &m->ground : NULL;
    m->admits = &s->limits;
    m->space.admits = s->limits.admits ? admits : NULL;
    m->space.context = m;
    return true;
}

struct sp_candidate *sp_open_variant(const struct sp_search *s, const struct sp_candidate *m,
                                     const struct sp_variant *variant)
{
    struct sp_error ignored = {0};
    struct sp_candidate *const other = sp_must(malloc(sizeof *other));
    *other = *m;
    sp_copy_planned(&other->base, &m->base);
    other->base.plan.batch = variant->batch;
    other->base.left_idle = m->asked.devices - variant->devices;
    other->base.problem.machine = other->hw;
    const bool same = sp_chips(&m->base.hw) == variant->devices;
    const bool exists = same || sp_take_devices(&other->base.hw, variant->devices);
    if (!same && exists)
        sp_name_machine(&other->base.hw, m->hw, other->hw, sizeof other->hw);
    if (exists && sp_open_machine(s, other, &ignored))
        return other;
    free(other);
    return NULL;
}

double sp_worth_of(const struct sp_search *s, const struct sp_candidate *m)
{
    if (m->result.best.n == 0)
        return INFINITY;
    const double value = m->result.best.found[0].value;
    return s->problem.goal == SP_GOAL_DEVICES  ? (double)sp_chips(&m->base.hw)
           : s->problem.goal == SP_GOAL_MEMORY ? value
                                               : value / (double)m->base.plan.batch;
}

double sp_value_worth(const struct sp_search *s, const struct sp_variant *variant, double worth)
{
    return s->problem.goal == SP_GOAL_DEVICES  ? INFINITY
           : s->problem.goal == SP_GOAL_MEMORY ? worth
                                               : worth * (double)variant->batch;
}

/* Takes the result of a variant if that is better than all before it. Both know the counts of
 * all. */
static void take_better(struct sp_search *s, int machine, struct sp_candidate *other)
{
    struct sp_candidate *const m = s->machine[machine];
    const bool better = sp_worth_of(s, other) < sp_worth_of(s, m);
    struct sp_candidate *const kept = better ? other : m, *const left = better ? m : other;
    sp_add_counts(&kept->result.counts, &left->result.counts);
    kept->result.elapsed_s += left->result.elapsed_s;
    kept->result.partial = kept->result.partial || left->result.partial;
    kept->variants = m->variants + 1;
    s->machine[machine] = kept;
    free(left);
}

/* Searches the other variants of a machine whose own was searched, each for a plan better than
 * the best before it. */
static void search_variants(struct sp_search *s, int machine, const struct sp_variant *list, int n,
                            bool tight)
{
    for (int i = 1; i < n; i++) {
        struct sp_candidate *const m = s->machine[machine];
        struct sp_candidate *const other = sp_open_variant(s, m, &list[i]);
        struct sp_search_run run = s->run;
        if (!other)
            continue;
        if (tight)
            other->space.most_bytes =
                sp_limit_of_search(&s->limits, &other->base, SP_VERDICT_TIGHT);
        if (m->result.best.n > 0)
            run.beat = sp_value_worth(s, &list[i], sp_worth_of(s, m));
        sp_run_search(&other->space, &run, &other->result);
        take_better(s, machine, other);
    }
}

static bool found_none(const struct sp_search_result *r)
{
    return r->best.n == 0 && r->front.n == 0 && !r->partial;
}

void sp_search_machine(struct sp_search *s, int machine)
{
    const struct sp_candidate *const asked = s->machine[machine];
    const struct sp_asked_batch *const batch = &asked->base.problem.batch;
    const struct sp_tolerance tolerance = {.least = asked->least_devices,
                                           .batch = asked->asked.batch,
                                           .asked = batch->tokens / batch->seq,
                                           .batches = sp_is_free_batch(batch),
                                           .model = &asked->base.model};
    struct sp_variant list[SP_MAX_VARIANTS];
    const int n = sp_list_variants(&asked->base.hw, &tolerance, list);
    for (int tight = 0; tight < 2; tight++) {
        struct sp_candidate *const m = s->machine[machine];
        const double most =
            sp_limit_of_search(&s->limits, &m->base, tight ? SP_VERDICT_TIGHT : SP_VERDICT_YES);
        /* a part of a search does not know the results of the others: `merge` asks again */
        if (tight && (!found_none(&m->result) || s->run.shards > 1 || m->space.most_bytes >= most))
            return;
        m->space.most_bytes = most;
        m->variants = 1;
        sp_run_search(&m->space, &s->run, &m->result);
        search_variants(s, machine, list, n, tight);
    }
}

void sp_close_search(struct sp_search *s)
{
    for (int i = 0; i < s->machines; i++) {
        free(s->machine[i]->places);
        free(s->machine[i]);
    }
    s->machines = 0;
}

void sp_finish_search(struct sp_search *s)
{
    for (int i = 0; i < s->machines; i++) {
        struct sp_best *const best = &s->machine[i]->result.best;
        if (best->grounded && best->n > 0)
            sp_put_simplest_first(best);
    }
}

const struct sp_found *sp_faster_than_first(const struct sp_search *s,
                                            const struct sp_ranked *first)
{
    const struct sp_best *const best = &s->machine[first->machine]->result.best;
    return best->grounded && best->fastest.step_s > 0 && best->fastest.step_s < first->found->step_s
               ? &best->fastest
               : NULL;
}

double sp_octaves_of(const struct sp_candidate *m, const struct sp_plan *plan)
{
    const struct sp_place place = sp_place_of(&m->base.model, &m->base.hw, plan);
    return sp_octaves_away(&m->ground, &place);
}

struct sp_rates sp_rates_on(const struct sp_search *s, int machine, double step_s)
{
    const struct sp_step_inputs in = sp_inputs_of(&s->machine[machine]->base);
    return sp_step_rates(&in, step_s, s->convention);
}

double sp_asked_over_taken(const struct sp_candidate *m)
{
    return (double)m->asked.batch / (double)m->base.plan.batch;
}

double sp_cost_of_step(const struct sp_candidate *m, double step_s)
{
    return sp_cost_usd((double)(sp_chips(&m->base.hw) + m->base.left_idle), step_s,
                       m->base.problem.price.usd_per_h);
}

const struct sp_found *sp_best_of(const struct sp_search *s, int machine)
{
    const struct sp_search_result *const r = &s->machine[machine]->result;
    if (s->run.front)
        return r->front.n > 0 ? r->front.found : NULL;
    return r->best.n > 0 ? r->best.found : NULL;
}

double sp_best_step_of(const struct sp_search *s, int machine)
{
    const struct sp_found *const best = sp_best_of(s, machine);
    return best ? best->step_s : NAN;
}

double sp_run_step_s(const struct sp_search *s, const struct sp_found *found)
{
    return s->grounded ? found->value : found->step_s;
}

double sp_best_run_step_of(const struct sp_search *s, int machine)
{
    const struct sp_found *const best = sp_best_of(s, machine);
    return best ? sp_run_step_s(s, best) : NAN;
}

int sp_cheapest_of(const struct sp_search *s)
{
    int cheapest = -1;
    double least = INFINITY;
    for (int i = 0; i < s->machines; i++) {
        const double cost = sp_cost_of_step(s->machine[i], sp_best_run_step_of(s, i));
        if (cost < least) {
            least = cost;
            cheapest = i;
        }
    }
    return cheapest;
}

/* The goal's value of a plan with this step. */
static double value_of(const struct sp_search *s, int machine, const struct sp_found *found,
                       double step_s)
{
    const struct sp_candidate *const m = s->machine[machine];
    const double step = step_s * sp_asked_over_taken(m);
    switch (s->problem.goal) {
    case SP_GOAL_MFU:
        return 1 / sp_rates_on(s, machine, step_s).mfu;
    case SP_GOAL_COST:
        return sp_cost_of_step(m, step);
    case SP_GOAL_DEVICES:
        return (double)sp_chips(&m->base.hw);
    case SP_GOAL_MEMORY:
        return found->bytes;
    default:
        return step;
    }
}

/* On a machine the simplest plan within SP_SIMPLER comes first, so among machines it takes the
 * place of the best of those plans. */
static struct sp_ranked rank_of(const struct sp_search *s, int machine,
                                const struct sp_found *found)
{
    const struct sp_best *const best = &s->machine[machine]->result.best;
    const bool leads = s->grounded && found == best->found;
    const double step = s->robust ? found->value : sp_run_step_s(s, found);
    const double stands_for =
        leads && best->n_simple > 0 ? fmin(step, best->simple[0].value) : step;
    return (struct sp_ranked){.machine = machine,
                              .found = found,
                              .value = value_of(s, machine, found, step),
                              .order = value_of(s, machine, found, stands_for),
                              .then = leads ? 0 : found->step_s};
}

static int by_goal(const void *a, const void *b)
{
    const struct sp_ranked *const x = a, *const y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->then != y->then)
        return x->then < y->then ? -1 : 1;
    if (x->machine != y->machine)
        return x->machine - y->machine;
    if (x->found->group != y->found->group)
        return x->found->group < y->found->group ? -1 : 1;
    return x->found->leaf < y->found->leaf ? -1 : x->found->leaf > y->found->leaf;
}

/* Whether another machine's plan beats this one in step time, memory and cost. */
static bool is_beaten_across(const struct sp_search *s, const struct sp_ranked *all, size_t n,
                             const struct sp_ranked *one)
{
    const bool cost = s->front_has_cost;
    for (size_t i = 0; i < n; i++) {
        const struct sp_ranked *const other = &all[i];
        const double mine =
            cost ? sp_cost_of_step(s->machine[one->machine], one->found->step_s) : 0;
        const double theirs =
            cost ? sp_cost_of_step(s->machine[other->machine], other->found->step_s) : 0;
        const bool no_worse = other->found->step_s <= one->found->step_s &&
                              other->found->bytes <= one->found->bytes && theirs <= mine;
        const bool better = other->found->step_s < one->found->step_s ||
                            other->found->bytes < one->found->bytes || theirs < mine;
        if (no_worse && better)
            return true;
    }
    return false;
}

/* Whether a list has a plan already. */
static bool is_among(const struct sp_found *found, const struct sp_found *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i].group == found->group && list[i].leaf == found->leaf)
            return true;
    return false;
}

/* A part of a search lists what the whole may need besides: its simplest plans and the fastest. */
static void add_beside(const struct sp_search *s, int machine, struct sp_ranked *all, size_t *n)
{
    const struct sp_best *const best = &s->machine[machine]->result.best;
    if (!best->grounded || s->run.shards == 1)
        return;
    for (int k = 0; k <= best->n_simple; k++) {
        const struct sp_found *const found = k < best->n_simple ? &best->simple[k] : &best->fastest;
        const bool twice = k == best->n_simple && is_among(found, best->simple, best->n_simple);
        if (found->step_s > 0 && !twice && !is_among(found, best->found, best->n))
            all[(*n)++] = rank_of(s, machine, found);
    }
}

struct sp_ranked *sp_rank_plans(const struct sp_search *s, size_t *n)
{
    size_t room = 1;
    for (int i = 0; i < s->machines; i++)
        room += (size_t)(s->run.front ? s->machine[i]->result.front.n
                                      : s->machine[i]->result.best.n + SP_SEARCH_SIMPLE + 1);
    struct sp_ranked *const all = sp_must(calloc(room, sizeof *all));
    *n = 0;
    for (int i = 0; i < s->machines; i++) {
        const struct sp_search_result *const r = &s->machine[i]->result;
        const int count = s->run.front ? r->front.n : r->best.n;
        for (int k = 0; k < count; k++)
            all[(*n)++] = rank_of(s, i, s->run.front ? &r->front.found[k] : &r->best.found[k]);
        add_beside(s, i, all, n);
    }
    size_t kept = 0;
    for (size_t i = 0; i < *n && s->run.front && s->machines > 1; i++)
        if (!is_beaten_across(s, all, *n, &all[i]))
            all[kept++] = all[i];
    if (s->run.front && s->machines > 1)
        *n = kept;
    qsort(all, *n, sizeof *all, by_goal);
    return all;
}

void sp_thin_out(struct sp_ranked *all, size_t n, size_t wanted)
{
    for (size_t i = 0; i < wanted; i++)
        all[i] = all[wanted > 1 ? i * (n - 1) / (wanted - 1) : 0];
}

struct sp_search_sum sp_sum_up(const struct sp_search *s)
{
    struct sp_search_sum sum = {0};
    for (int i = 0; i < s->machines; i++) {
        const struct sp_search_result *const r = &s->machine[i]->result;
        sp_add_counts(&sum.counts, &r->counts);
        sum.elapsed_s += r->elapsed_s;
        sum.threads = r->threads > sum.threads ? r->threads : sum.threads;
        sum.partial = sum.partial || r->partial;
        sum.front_is_full = sum.front_is_full || r->front.full;
    }
    sum.is_proven = !sum.partial && !sum.front_is_full && s->run.shards == 1;
    return sum;
}

struct sp_least sp_least_memory(const struct sp_search *s)
{
    const struct sp_candidate *const m = s->machine[0];
    struct sp_search_space space = m->space;
    struct sp_search_run run = s->run;
    struct sp_search_result least;
    run.front = false;
    run.wanted = 1;
    run.shard = 0;
    run.shards = 1;
    space.most_bytes = INFINITY;
    space.objective = SP_LEAST_MEMORY;
    space.ground = NULL;
    sp_run_search(&space, &run, &least);
    return (struct sp_least){least.partial, least.best.n > 0 ? least.best.found[0].bytes : NAN};
}

bool sp_has_no_plan(const struct sp_search *s)
{
    const struct sp_least least = sp_least_memory(s);
    return isnan(least.bytes) && !least.partial;
}

double sp_ranking_step_s(const struct sp_search *s, const struct sp_plan *plan, double step_s)
{
    return s->grounded ? step_s * sp_doubt(sp_octaves_of(s->machine[0], plan)) : step_s;
}

int sp_count_ahead(const struct sp_search *s, const struct sp_plan *plan, double step_s)
{
    const struct sp_best *const list = &s->machine[0]->result.best;
    const double value = sp_ranking_step_s(s, plan, step_s);
    int ahead = 0;
    for (int i = 0; i < list->n; i++)
        ahead += list->found[i].value < value;
    return ahead;
}
