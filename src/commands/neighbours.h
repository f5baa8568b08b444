/* Plans one change away from a plan. */
#ifndef SP_NEIGHBOURS_H
#define SP_NEIGHBOURS_H

#include "cli/plan_options.h"

enum { SP_MAX_NEIGHBOURS = 96 };
struct sp_neighbour {
    char change[64];      /* "tp 4, dp 16" */
    double step_s, bytes; /* of the fullest device */
};

/* All valid neighbours, the fastest first; at most SP_MAX_NEIGHBOURS. Returns how many. */
size_t sp_find_neighbours(const struct sp_planned *planned, struct sp_neighbour *out);

#endif
