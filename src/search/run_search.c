/* Shares the groups of a search among threads and joins what they keep. */
#include "search/run_search.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first look: the value that `wanted` likely plans reach, or a first front. */
static void seed(const struct sp_search_space *space, const struct sp_search_run *run,
                 struct sp_front *front, struct sp_search_rule *rule)
{
    const struct sp_search_rule seeding = {.seeding = true, .limit = INFINITY};
    struct sp_best best = {
        .wanted = run->wanted, .meshes = run->meshes, .front = run->front ? front : NULL};
    struct sp_search_counts counts = {0};
    const uint64_t groups = sp_search_groups(space);
    for (uint64_t group = 0; group < groups && !(run->stop && *run->stop); group++)
        if (sp_is_likely_group(space, group))
            sp_search_group(space, group, &seeding, &best, &counts);
    rule->limit = best.n == best.wanted ? best.found[best.n - 1].value : INFINITY;
    rule->known = run->front ? front : NULL;
}

static int threads_of(const struct sp_search_run *run)
{
#ifdef _OPENMP
    return run->threads > 0 ? run->threads : omp_get_max_threads();
#else
    return run->threads > 0 ? 1 : 1;
#endif
}

static bool is_first_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num() == 0;
#else
    return true;
#endif
}

/* Set by the thread that finds what one plan is enough for. */
static bool is_set(const int *flag)
{
    int value;
#pragma omp atomic read
    value = *flag;
    return value != 0;
}

static void set(int *flag)
{
#pragma omp atomic write
    *flag = 1;
}

/* What a thread keeps: of all its groups, and of the one at work. On the heap, because some C
 * libraries start threads with a stack of 128 kB. */
struct keeping {
    struct sp_best mine, here;
    struct sp_front fronts[2]; /* of either */
};

static struct keeping *new_keeping(const struct sp_search_run *run)
{
    struct keeping *const k = calloc(1, sizeof *k);
    if (!k)
        abort();
    k->mine.wanted = k->here.wanted = run->wanted;
    k->mine.meshes = k->here.meshes = run->meshes;
    k->mine.front = run->front ? &k->fronts[0] : NULL;
    k->here.front = run->front ? &k->fronts[1] : NULL;
    return k;
}

/* One thread's share of the groups. */
static void work(const struct sp_search_space *space, const struct sp_search_run *run,
                 const struct sp_search_rule *rule, int *found, struct sp_search_result *result)
{
    const int64_t groups = (int64_t)sp_search_groups(space);
    struct sp_search_counts counts = {0};
    struct keeping *const k = new_keeping(run);
    bool partial = false;
#pragma omp for schedule(dynamic, 8)
    for (int64_t group = run->shard; group < groups; group += run->shards) {
        if (run->any && is_set(found))
            continue;
        if (run->stop && *run->stop) {
            partial = true;
            continue;
        }
        k->here.n = 0; /* what lies beyond is not read: groups are many, most of them empty */
        if (k->here.front)
            k->here.front->n = 0;
        sp_search_group(space, (uint64_t)group, rule, &k->here, &counts);
        sp_merge_best(&k->mine, &k->here);
        if (run->any && k->here.n > 0)
            set(found);
        if (run->progress && is_first_thread())
            run->progress((double)group / (double)groups, run->context);
    }
#pragma omp critical
    {
        sp_merge_best(&result->best, &k->mine);
        sp_add_counts(&result->counts, &counts);
        result->partial = result->partial || partial;
    }
    free(k);
}

void sp_run_search(const struct sp_search_space *space, const struct sp_search_run *run,
                   struct sp_search_result *result)
{
    const double start = now_s();
    struct sp_front *const first = run->front ? calloc(1, sizeof *first) : NULL;
    struct sp_search_rule rule = {.exhaustive = run->exhaustive,
                                  .limit = run->any ? run->enough : INFINITY};
    int found = 0;
    if (run->front && !first)
        abort();
    *result = (struct sp_search_result){
        .best = {.wanted = run->wanted, .meshes = run->meshes},
        .threads = threads_of(run),
    };
    if (run->front)
        result->best.front = &result->front;
    if (!run->exhaustive && !run->any)
        seed(space, run, first, &rule);
#pragma omp parallel num_threads(result->threads)
    work(space, run, &rule, &found, result);
    free(first);
    result->elapsed_s = now_s() - start;
}
