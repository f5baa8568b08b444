/* Searches all groups of a space on all cores. */
#ifndef SP_RUN_SEARCH_H
#define SP_RUN_SEARCH_H

#include <scaleplan/search.h>

struct sp_search_run {
    bool exhaustive;
    bool meshes;              /* one plan per mesh */
    bool front;               /* keep the front of step time and memory instead */
    int wanted;               /* number of plans */
    int shard, shards;        /* index of this part, from 0, and number of parts; 0, 1: all */
    int threads;              /* 0: sp_threads decides */
    bool any;                 /* stop at the first plan with a value of at most `enough` */
    double enough;            /* value */
    double beat;              /* only plans of at most this value count; 0: all */
    bool likely_alone;        /* look at probably good plans only, and count none */
    bool first_alone;         /* of a grounded search, not the fastest by the estimate alone */
    const volatile int *stop; /* stop when non-zero; or NULL */
    void (*progress)(double share, void *context); /* called now and then from one thread; or
                                                      NULL */
    void *context;
};

struct sp_search_result {
    struct sp_best best; /* empty with `front` */
    struct sp_front front;
    struct sp_search_counts counts;
    double elapsed_s;
    int threads;
    bool partial; /* stopped before the end */
};

/* Searches a space. With `any`, result->best.n says whether some plan is good enough; only that is
 * independent of the number of threads. Otherwise a seeding pass over probably good plans sets a
 * limit, then every group of this shard is searched. The result does not depend on threads; counts
 * of all shards add up to those of a single run. */
void sp_run_search(const struct sp_search_space *space, const struct sp_search_run *run,
                   struct sp_search_result *result);

#endif
