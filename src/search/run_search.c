#include "run_search.h"

#include <math.h>
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

/* What the first look leaves to find: the value that `wanted` likely plans reach. */
static double seed_limit(const struct sp_search_space *space, const struct sp_search_run *run)
{
    const struct sp_search_rule rule = {.seeding = true, .limit = INFINITY};
    struct sp_best best = {.wanted = run->wanted};
    struct sp_search_counts counts = {0};
    const uint64_t groups = sp_search_groups(space);
    for (uint64_t group = 0; group < groups && !(run->stop && *run->stop); group++)
        if (sp_is_likely_group(space, group))
            sp_search_group(space, group, &rule, &best, &counts);
    return best.n == best.wanted ? best.found[best.n - 1].value : INFINITY;
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

void sp_run_search(const struct sp_search_space *space, const struct sp_search_run *run,
                   struct sp_search_result *result)
{
    const double start = now_s();
    const struct sp_search_rule rule = {
        .exhaustive = run->exhaustive,
        .limit = run->exhaustive ? INFINITY : seed_limit(space, run),
    };
    const int64_t groups = (int64_t)sp_search_groups(space);
    *result =
        (struct sp_search_result){.best = {.wanted = run->wanted}, .threads = threads_of(run)};
#pragma omp parallel num_threads(result->threads)
    {
        struct sp_best mine = {.wanted = run->wanted};
        struct sp_search_counts counts = {0};
#pragma omp for schedule(dynamic, 8)
        for (int64_t group = run->shard; group < groups; group += run->shards) {
            if (run->stop && *run->stop) {
                result->partial = true;
                continue;
            }
            struct sp_best here = {.wanted = run->wanted};
            sp_search_group(space, (uint64_t)group, &rule, &here, &counts);
            sp_merge_best(&mine, &here);
            if (run->progress && is_first_thread())
                run->progress((double)group / (double)groups, run->context);
        }
#pragma omp critical
        {
            sp_merge_best(&result->best, &mine);
            sp_add_counts(&result->counts, &counts);
        }
    }
    result->elapsed_s = now_s() - start;
}
