/* Batches and numbers of devices near those of a search with which its goal is met better. */
#include "study/nearby.h"

#include <math.h>
#include <stdlib.h>

/* Fewer devices than this share of the request would be another machine. */
#define FEWEST_SHARE 0.75

/* Up to this odd part that replicas leave, a machine is likely to have good plans. */
enum { SMALL_REST = 7 };

/* This many times the replicas count as many more. */
enum { MANY_MORE = 2 };

struct looking {
    const struct sp_search *of;
    const struct sp_candidate *asked;
    double tokens_per_s; /* that were found; 0: none */
    double worth;        /* of the best plan */
    bool both;           /* only at what has both fewer devices and another batch */
};

static double tokens_per_s_of(const struct sp_candidate *m)
{
    const struct sp_search_result *const r = &m->result;
    return r->best.n == 0
               ? 0
               : (double)(m->base.plan.batch * m->base.plan.seq) / r->best.found[0].step_s;
}

/* With another batch on the same devices, a plan is better by more than a trifle only if its
 * replicas or micro-batches cannot share the requested batch. */
static bool limit_replicas(const struct looking *l, struct sp_candidate *other)
{
    struct sp_degree *const dp = &other->space.dp;
    const int64_t devices = sp_chips(&other->base.hw), batch = other->base.plan.batch;
    if (devices != sp_chips(&l->asked->base.hw) || l->tokens_per_s == 0 ||
        l->of->limits.values[SP_FIELD_DP] > 0)
        return true;
    const int n = sp_list_new_replicas(devices, batch, l->asked->base.plan.batch, dp->value,
                                       SP_SEARCH_VALUES);
    dp->n = n <= SP_SEARCH_VALUES ? n : 0;
    return n > 0;
}

/* Searches a variant, or only its likely plans, for one worth naming and better than `beat`;
 * false: none. */
static bool search_variant(const struct looking *l, struct sp_candidate *other, double beat,
                           bool likely)
{
    struct sp_search_run run = l->of->run;
    run.wanted = 1;
    run.exhaustive = false;
    run.first_alone = true;
    run.likely_alone = likely;
    run.beat = isfinite(beat) ? beat : 0;
    sp_run_search(&other->space, &run, &other->result);
    if (other->result.best.n == 0 && !isfinite(l->worth) && !other->result.partial) {
        other->space.most_bytes =
            sp_limit_of_search(&l->of->limits, &other->base, SP_VERDICT_TIGHT);
        sp_run_search(&other->space, &run, &other->result);
    }
    if (other->result.best.n == 0)
        return false;
    if (other->result.best.grounded)
        sp_put_simplest_first(&other->result.best);
    return !other->result.partial && sp_worth_of(l->of, other) < l->worth &&
           tokens_per_s_of(other) > (likely ? 1 : 1 + SP_WORTH_NAMING) * l->tokens_per_s;
}

/* Keeps a variant that is better than `worth` and than the one that is kept, of likely plans if
 * only by a trifle: others may be better by more. */
static void look_at(const struct looking *l, const struct sp_variant *variant, double worth,
                    bool likely, struct sp_nearby *kept)
{
    struct sp_candidate *const other = sp_open_variant(l->of, l->asked, variant);
    const double beat = kept->at ? sp_worth_of(l->of, kept->at) : worth;
    if (!other)
        return;
    if (limit_replicas(l, other) &&
        search_variant(l, other, sp_value_worth(l->of, variant, beat), likely) &&
        (!kept->at || sp_worth_of(l->of, other) < sp_worth_of(l->of, kept->at))) {
        free(kept->at);
        kept->at = other;
        return;
    }
    free(other);
}

/* Most promising first, so that the others are soon ruled out: those that leave a small odd part,
 * and of them those with more devices, then with the smaller part, then with more replicas. */
static int by_promise(const void *a, const void *b)
{
    const struct sp_variant *const x = a, *const y = b;
    const int64_t rest_x = sp_odd_rest(x->devices, x->batch),
                  rest_y = sp_odd_rest(y->devices, y->batch);
    if ((rest_x > SMALL_REST) != (rest_y > SMALL_REST))
        return rest_x > SMALL_REST ? 1 : -1;
    if (x->devices != y->devices)
        return x->devices > y->devices ? -1 : 1;
    if (rest_x != rest_y)
        return rest_x > rest_y ? 1 : -1;
    const int64_t shares_x = sp_batch_shares(x->devices, x->batch),
                  shares_y = sp_batch_shares(y->devices, y->batch);
    return shares_x != shares_y ? (shares_x < shares_y) - (shares_x > shares_y)
                                : (x->batch > y->batch) - (x->batch < y->batch);
}

/* Whether a variant leaves a smaller odd part than the requested one, or has many more replicas. */
static bool is_promising(const struct sp_variant *one, const struct sp_variant *asked)
{
    return sp_odd_rest(one->devices, one->batch) < sp_odd_rest(asked->devices, asked->batch) ||
           sp_batch_shares(one->devices, one->batch) >=
               MANY_MORE * sp_batch_shares(asked->devices, asked->batch) ||
           sp_round_shares(one->devices, one->batch) >=
               MANY_MORE * sp_round_shares(asked->devices, asked->batch);
}

/* Lists the variants to look at after the requested one, the most promising first. */
static int list_close_by(const struct looking *l, const struct sp_tolerance *t,
                         struct sp_variant list[SP_MAX_VARIANTS])
{
    const int all = sp_list_variants(&l->asked->base.hw, t, list);
    int n = 1;
    for (int i = 1; i < all; i++)
        if (!l->both || (list[i].devices != list[0].devices && list[i].batch != list[0].batch))
            list[n++] = list[i];
    qsort(list + 1, (size_t)n - 1, sizeof *list, by_promise);
    return n;
}

/* Looks at everything that the tolerance allows: at the whole space of the most promising variant,
 * at the likely plans of the others, and at the whole space of the best of those, so that the
 * figure equals that of its own search. */
static void look_at_all(const struct looking *l, const struct sp_tolerance *t,
                        struct sp_nearby *best)
{
    struct sp_variant list[SP_MAX_VARIANTS];
    const int n = list_close_by(l, t, list);
    struct sp_nearby likely = {0};
    /* the first of a variant's plans may be that much worse than its best */
    const double worth = l->worth * SP_SIMPLER;
    if (n > 1 && is_promising(&list[1], &list[0]))
        look_at(l, &list[1], worth, false, best);
    const double known = best->at ? sp_worth_of(l->of, best->at) : l->worth;
    for (int i = best->at ? 2 : 1; i < n; i++)
        look_at(l, &list[i], known, true, &likely);
    if (likely.at) {
        const struct sp_variant other = {sp_chips(&likely.at->base.hw), likely.at->base.plan.batch};
        look_at(l, &other, worth, false, best);
    }
    free(likely.at);
}

/* Looks at fewer devices with another batch, for a variant that is better than the best of either
 * change alone. */
static void look_at_both(const struct looking *l, struct sp_tolerance *t, struct sp_close_by *found)
{
    struct looking beyond = *l;
    beyond.both = true;
    const struct sp_candidate *const alone[] = {found->batch.at, found->devices.at};
    for (int i = 0; i < 2; i++) {
        if (!alone[i])
            continue;
        beyond.tokens_per_s = fmax(beyond.tokens_per_s, tokens_per_s_of(alone[i]));
        beyond.worth = fmin(beyond.worth, sp_worth_of(l->of, alone[i]));
    }
    t->batches = true;
    look_at_all(&beyond, t, &found->both);
}

static void finish(const struct looking *l, struct sp_nearby *found)
{
    if (!found->at)
        return;
    found->step_s = found->at->result.best.found[0].step_s;
    found->gain = l->tokens_per_s > 0 ? tokens_per_s_of(found->at) / l->tokens_per_s : NAN;
}

/* Looks at TP over parts of axes where the search kept to whole ones. */
static void look_at_parts(const struct looking *l, struct sp_nearby *found)
{
    const struct sp_variant same = {sp_chips(&l->asked->base.hw), l->asked->base.plan.batch};
    if (!l->asked->space.whole_axes || sp_is_limited(&l->of->limits))
        return;
    struct sp_candidate *const other = sp_open_variant(l->of, l->asked, &same);
    if (!other)
        return;
    other->space.whole_axes = false;
    if (search_variant(l, other, sp_value_worth(l->of, &same, l->worth), false))
        found->at = other;
    else
        free(other);
}

void sp_look_close_by(const struct sp_search *s, int machine, struct sp_close_by *found)
{
    const struct sp_candidate *const m = s->machine[machine];
    const struct sp_asked_batch *const batch = &m->base.problem.batch;
    const struct looking l = {s, m, tokens_per_s_of(m), sp_worth_of(s, m), false};
    struct sp_tolerance t = {.least = sp_chips(&m->base.hw),
                             .batch = m->base.plan.batch,
                             .asked = batch->tokens / batch->seq,
                             .batches = !sp_is_free_batch(batch),
                             .model = &m->base.model,
                             .only_rounder = true};
    const bool is_free = !t.batches;
    *found = (struct sp_close_by){0};
    if (s->problem.goal == SP_GOAL_DEVICES || s->problem.goal == SP_GOAL_MEMORY || s->robust ||
        s->run.front || m->result.partial)
        return;
    look_at_all(&l, &t, &found->batch);
    if (m->base.problem.idle == 0) {
        t.batches = is_free;
        t.least = (int64_t)ceil(FEWEST_SHARE * (double)t.least);
        look_at_all(&l, &t, &found->devices);
        if (!is_free)
            look_at_both(&l, &t, found);
    }
    look_at_parts(&l, &found->parts);
    finish(&l, &found->parts);
    finish(&l, &found->batch);
    finish(&l, &found->devices);
    finish(&l, &found->both);
}

void sp_free_close_by(struct sp_close_by *found)
{
    free(found->parts.at);
    free(found->batch.at);
    free(found->devices.at);
    free(found->both.at);
}
