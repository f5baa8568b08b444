/* Bounds of a collective on torus axes, compared with other axes. */
#ifndef SP_TORUS_BOUNDS_H
#define SP_TORUS_BOUNDS_H

#include <scaleplan/network.h>

/* Parts of the throughput bound: with the group's axes, with all rings, and with no wraparound. NAN
 * if nothing moves. */
struct sp_torus_axes {
    double pairs;            /* sp_most_exchange_pairs */
    double bytes_per_s;      /* sp_torus_axes_bytes_per_s */
    double gather_s, time_s; /* all-gather; this collective */
};
struct sp_torus_bounds {
    struct sp_torus_axes own, rings, lines;
    double chips;  /* group's chips per slice */
    double byte_s; /* throughput bound per byte of V over all slices */
};
struct sp_torus_bounds sp_torus_bounds(enum sp_collective op, double V_bytes,
                                       const struct sp_device_group *group);

#endif
