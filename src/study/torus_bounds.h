/* What a collective on torus axes takes, beside the same on other axes. */
#ifndef SP_TORUS_BOUNDS_H
#define SP_TORUS_BOUNDS_H

#include <scaleplan/network.h>

/* What the throughput bound is made of: as the group's axes are, if every one were a ring, and if
 * none wrapped. NAN where nothing moves. */
struct sp_torus_axes {
    double pairs;            /* sp_most_exchange_pairs */
    double bytes_per_s;      /* sp_torus_axes_bytes_per_s */
    double gather_s, time_s; /* of an all-gather, and of the collective */
};
struct sp_torus_bounds {
    struct sp_torus_axes own, rings, lines;
    double chips;  /* of the group in a slice */
    double byte_s; /* throughput bound of one byte of V, all slices counted */
};
struct sp_torus_bounds sp_torus_bounds(enum sp_collective op, double V_bytes,
                                       const struct sp_device_group *group);

#endif
