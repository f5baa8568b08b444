/* Bounds of a collective on torus axes, compared with other axes. */
#include "study/torus_bounds.h"

#include <math.h>

static struct sp_torus_axes axes_of(enum sp_collective op, double V, const struct sp_torus_group *g)
{
    if (g->n == 0 || sp_torus_chips(g) <= 1)
        return (struct sp_torus_axes){NAN, NAN, NAN, NAN};
    return (struct sp_torus_axes){.pairs = sp_most_exchange_pairs(g),
                                  .bytes_per_s = sp_torus_axes_bytes_per_s(g),
                                  .gather_s = sp_torus_bandwidth_s(SP_ALL_GATHER, V, g),
                                  .time_s = sp_torus_bandwidth_s(op, V, g)};
}

struct sp_torus_bounds sp_torus_bounds(enum sp_collective op, double V,
                                       const struct sp_device_group *group)
{
    const struct sp_torus_group *const own = &group->torus, rings = sp_wrapped(*own, true),
                                       lines = sp_wrapped(*own, false);
    return (struct sp_torus_bounds){.own = axes_of(op, V, own),
                                    .rings = axes_of(op, V, &rings),
                                    .lines = axes_of(op, V, &lines),
                                    .chips = sp_torus_chips(own),
                                    .byte_s = sp_time_of_collective(op, 1, group).throughput_s};
}
