/* Divides the groups of a search among threads and merges the results. */
#include "study/run_search.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "host/parallel.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A thread's plans: of all its groups, and of the current one. */
struct keeping {
    struct sp_best mine, here;
    struct sp_front fronts[]; /* of either, in a search for a front */
};

static struct keeping *new_keeping(const struct sp_search_run *run, bool grounded)
{
    struct keeping *const k = sp_must(
        calloc(1, sizeof *k + (run->front ? 2 * sizeof *k->fronts : 0))); /* they are large */
    k->mine.wanted = k->here.wanted = run->wanted;
    k->mine.meshes = k->here.meshes = run->meshes;
    k->mine.grounded = k->here.grounded = grounded;
    k->mine.front = run->front ? &k->fronts[0] : NULL;
    k->here.front = run->front ? &k->fronts[1] : NULL;
    return k;
}

/* A search, or its seeding pass. */
struct searching {
    const struct sp_search_space *space;
    const struct sp_search_run *run;
    struct sp_search_rule rule;
    int64_t groups;
    atomic_bool found, partial; /* found: any one plan suffices; partial: stopped early */
    struct sp_front first;      /* of the seeding pass */
    struct keeping *of[SP_MAX_THREADS];
    struct sp_search_counts counts[SP_MAX_THREADS];
};

static bool is_stopped(struct searching *s)
{
    if (!s->run->stop || !*s->run->stop)
        return false;
    atomic_store(&s->partial, true);
    return true;
}

static void look_at_group(struct searching *s, int64_t group, struct keeping *k,
                          struct sp_search_counts *counts)
{
    k->here.n = k->here.n_simple = 0; /* the list is not shortened: most groups are empty */
    k->here.fastest.step_s = 0;
    if (k->here.front)
        k->here.front->n = 0;
    sp_search_group(s->space, (uint64_t)group, &s->rule, &k->here, counts);
    sp_merge_best(&k->mine, &k->here);
    if (s->run->any && k->here.n > 0)
        atomic_store(&s->found, true);
}

/* The place of a number below `n` in an order without pattern, so that parts of a search have equal
 * work: the last digits of a group's number decide whether it is empty. A Feistel network of four
 * rounds on the next even number of bits, repeated until below n (Black and Rogaway 2002, "Ciphers
 * with arbitrary finite domains", section 4). */
static uint64_t shuffled(uint64_t at, uint64_t n)
{
    int half = 1;
    while ((uint64_t)1 << 2 * half < n)
        half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = at >> half, right = at & mask;
        for (uint64_t round = 0; round < 4; round++) {
            const uint64_t mixed = (right + round) * 0x9e3779b97f4a7c15 >> 32;
            const uint64_t next = left ^ (mixed & mask);
            left = right;
            right = next;
        }
        at = left << half | right;
    } while (at >= n);
    return at;
}

/* The group at a place of a part; the whole keeps the order, in which neighbours share work. */
static int64_t group_at(const struct searching *s, int64_t i)
{
    const int64_t at = s->run->shard + i * s->run->shards;
    return s->run->shards == 1 ? at : (int64_t)shuffled((uint64_t)at, (uint64_t)s->groups);
}

/* One thread's part of the search. */
static void look(struct sp_share *share, void *context)
{
    struct searching *const s = context;
    struct keeping *const k = s->of[share->thread] = new_keeping(s->run, s->space->ground);
    struct sp_search_counts counts = {0}; /* per thread, to avoid contention */
    int64_t from, to;
    while (sp_take(share, &from, &to) && !atomic_load(&s->found) && !is_stopped(s)) {
        for (int64_t i = from; i < to; i++)
            look_at_group(s, group_at(s, i), k, &counts);
        if (s->run->progress && share->thread == 0)
            s->run->progress((double)(to * s->run->shards) / (double)s->groups, s->run->context);
    }
    s->counts[share->thread] = counts;
}

/* A thread's part of the seeding pass: the probably good plans of all groups. It only sets a limit
 * from which each group starts anew, so that counts do not depend on threads or shards. */
static void look_ahead(struct sp_share *share, void *context)
{
    struct searching *const s = context;
    struct keeping *const k = s->of[share->thread] = new_keeping(s->run, s->space->ground);
    struct sp_search_counts ignored = {0};
    int64_t from, to;
    while (sp_take(share, &from, &to) && !is_stopped(s))
        for (int64_t group = from; group < to; group++)
            if (sp_is_likely_group(s->space, (uint64_t)group))
                sp_search_group(s->space, (uint64_t)group, &s->rule, &k->mine, &ignored);
}

/* Merges the threads' results; `counts` may be NULL. */
static void gather(struct searching *s, struct sp_best *best, struct sp_search_counts *counts)
{
    for (int i = 0; i < SP_MAX_THREADS && s->of[i]; i++) {
        sp_merge_best(best, &s->of[i]->mine);
        if (counts)
            sp_add_counts(counts, &s->counts[i]);
        free(s->of[i]);
        s->of[i] = NULL;
    }
}

/* Facts known before any plan is looked at. */
static struct sp_search_rule first_rule(const struct sp_search_run *run)
{
    const double beat = run->beat > 0 ? run->beat : INFINITY;
    return (struct sp_search_rule){.exhaustive = run->exhaustive,
                                   .limit = run->any ? run->enough : beat,
                                   .least = beat,
                                   .fastest = run->first_alone ? 0 : INFINITY};
}

/* The seeding pass: the value that `wanted` probably good plans reach, or a first front. `best`
 * gets them. */
static void seed(struct searching *s, int threads, struct sp_best *best)
{
    *best = (struct sp_best){.wanted = s->run->wanted,
                             .meshes = s->run->meshes,
                             .grounded = s->space->ground,
                             .front = s->run->front ? &s->first : NULL};
    const struct sp_search_rule first = first_rule(s->run);
    s->rule = first;
    s->rule.seeding = true;
    sp_parallel(threads, s->groups, 8, look_ahead, s);
    gather(s, best, NULL);
    s->rule = (struct sp_search_rule){
        .limit = fmin(first.limit, best->n > 0 && best->n == best->wanted
                                       ? best->found[best->n - 1].value
                                       : INFINITY),
        .least = fmin(first.least, best->n_simple > 0 ? best->simple[0].value : INFINITY),
        .fastest = fmin(first.fastest, best->fastest.step_s > 0 ? best->fastest.step_s : INFINITY),
        .known = best->front,
    };
}

void sp_run_search(const struct sp_search_space *space, const struct sp_search_run *run,
                   struct sp_search_result *result)
{
    const double start = now_s();
    struct searching *const s = sp_must(calloc(1, sizeof *s));
    s->space = space;
    s->run = run;
    s->groups = (int64_t)sp_search_groups(space);
    *result = (struct sp_search_result){
        .best = {.wanted = run->wanted, .meshes = run->meshes, .grounded = space->ground},
        .threads = sp_threads(run->threads),
    };
    if (run->front)
        result->best.front = &result->front;
    struct sp_best likely = {0};
    if (!run->exhaustive && !run->any)
        seed(s, result->threads, &likely);
    else
        s->rule = first_rule(run);
    if (run->likely_alone) {
        result->best = likely;
        result->partial = s->partial;
        free(s);
        return;
    }
    sp_parallel(result->threads, (s->groups - run->shard + run->shards - 1) / run->shards, 8, look,
                s);
    gather(s, &result->best, &result->counts);
    result->partial = s->partial;
    free(s);
    result->elapsed_s = now_s() - start;
}
