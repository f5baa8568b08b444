/* Inside of the search: groups and splits of its space. */
#ifndef SP_SEARCH_INTERNAL_H
#define SP_SEARCH_INTERNAL_H

#include <scaleplan/search.h>

enum { SP_SHARDINGS = 3 * SP_SEARCH_LISTED + 1 };

struct sp_sharding {
    int zero;
    int64_t shards;
};

/* A group's plans on one number of stages: flows x shardings x placements of them, for each policy.
 */
struct sp_split_space {
    int64_t pp, dp, cp, tp, ep, etp;
    int flows, shardings;
    int most_zero;
    int64_t most_shards;
    bool placement[2];
    uint64_t plans;
    const struct sp_flow *flow;
};

/* ZeRO stages and shard groups of a split; how many. They are listed anew for each split that is
 * looked at: lists of all splits of a group would not fit on the stack of a small thread. */
int sp_list_shardings(const struct sp_search_space *space, const struct sp_split_space *split,
                      struct sp_sharding list[SP_SHARDINGS]);

/* Whether a point of the front is as good in both and better in one. */
bool sp_is_beaten(const struct sp_front *front, double step_s, double bytes);

/* The part of the plan that a group fixes; false when it is none of the space. */
bool sp_group_plan(const struct sp_search_space *space, uint64_t group, struct sp_plan *plan);

/* The group's plans on the `at`th number of stages; false when there are none. */
bool sp_open_split(const struct sp_search_space *space, const struct sp_plan *group, int at,
                   struct sp_split_space *split);

#endif
