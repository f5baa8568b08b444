/* Internals of the search: groups and splits of its space. */
#ifndef SP_SEARCH_INTERNAL_H
#define SP_SEARCH_INTERNAL_H

#include <scaleplan/search.h>

enum { SP_SHARDINGS = 3 * SP_SEARCH_LISTED + 1 };

struct sp_sharding {
    int zero;
    int64_t shards;
};

/* A group's plans with one number of stages: flows x shardings x placements, per policy. */
struct sp_split_space {
    int64_t pp, dp, cp, tp, ep, etp;
    int flows, shardings;
    int most_zero;
    int64_t most_shards;
    bool placement[2];
    uint64_t plans;
    const struct sp_flow *flow;
};

/* Lists ZeRO stages and shard groups of a split; returns their number. Listed anew per split,
 * because lists for all splits of a group would not fit on a small thread's stack. */
int sp_list_shardings(const struct sp_search_space *space, const struct sp_split_space *split,
                      struct sp_sharding list[SP_SHARDINGS]);

/* Whether a point of the front is at least as good in both and better in one. */
bool sp_is_beaten(const struct sp_front *front, double step_s, double bytes);

/* The part of a plan that a group fixes; false if the group is empty. */
bool sp_group_plan(const struct sp_search_space *space, uint64_t group, struct sp_plan *plan);

/* The group's plans with the `at`-th number of stages; false if none. */
bool sp_open_split(const struct sp_search_space *space, const struct sp_plan *group, int at,
                   struct sp_split_space *split);

/* Whether TP ranks can take whole axes of a torus; always with switches. */
bool sp_fits_whole_axes(const struct sp_hardware *hw, int64_t tp);

#endif
