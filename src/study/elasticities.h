/* How strongly a goal depends on each figure of a machine. */
#ifndef SP_ELASTICITIES_H
#define SP_ELASTICITIES_H

#include "study/goal.h"

struct sp_elasticity {
    enum sp_machine_figure figure;
    double delta, elasticity, low, high; /* low, high: the goal with less and more of the figure */
    double replanned;                    /* with the best plan of both machines; NAN: not asked */
};

/* The elasticities of the figures that vary, the largest first; numbers of devices have none.
 * Returns how many. `demand` values `aimed`. */
size_t sp_find_elasticities(struct sp_aimed *aimed, const struct sp_demand *demand,
                            const bool vary[SP_FIGURES], double delta,
                            struct sp_elasticity found[SP_FIGURES]);

/* The share of a time that no peak or bandwidth explains: 1 plus their elasticities. */
double sp_rest_of_time(const struct sp_elasticity *found, size_t n);

#endif
