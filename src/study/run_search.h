/* A search over all groups of a space, by all cores. */
#ifndef SP_RUN_SEARCH_H
#define SP_RUN_SEARCH_H

#include <scaleplan/search.h>

struct sp_search_run {
    bool exhaustive;
    bool meshes;              /* at most one plan of each mesh */
    bool front;               /* of step time and memory, in place of the list */
    int wanted;               /* plans */
    int shard, shards;        /* this part of the groups, from 0, and all parts; 0, 1: all */
    int threads;              /* 0: as sp_threads decides */
    bool any;                 /* the first plan of at most `enough` will do: no list, no proof */
    double enough;            /* value */
    const volatile int *stop; /* turns non-zero when the user has had enough; or NULL */
    void (*progress)(double share, void *context); /* now and then, from one thread; or NULL */
    void *context;
};

struct sp_search_result {
    struct sp_best best; /* with `front`, its list stays empty */
    struct sp_front front;
    struct sp_search_counts counts;
    double elapsed_s;
    int threads;
    bool partial; /* stopped before the end */
};

/* Searches a space. With `any`, whether some plan is good enough: result->best.n says so, and only
 * that does not depend on the number of threads. Otherwise it seeds a limit with the plans that are
 * likely good, then looks through every group of this shard. The result depends neither on the
 * number of threads nor on how groups fall on them; the counts of all shards add up to those of one
 * run. */
void sp_run_search(const struct sp_search_space *space, const struct sp_search_run *run,
                   struct sp_search_result *result);

#endif
