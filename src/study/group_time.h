/* The time of a collective on a group of chips, or of a send between two, with what explains it. */
#ifndef SP_GROUP_TIME_H
#define SP_GROUP_TIME_H

#include "study/torus_bounds.h"

struct sp_group_question {
    bool sends;                   /* between two chips, in place of a collective */
    enum sp_collective op;        /* of a collective */
    double V;                     /* bytes */
    double hops, ports;           /* of a send on a torus; NAN: to the far corner, over all axes */
    double top_k;                 /* devices that an all-to-all goes to; NAN: to all */
    struct sp_device_group group; /* with the bandwidths that count */
};

struct sp_group_answer {
    struct sp_collective_time t; /* of a send: only throughput, latency and time */
    const char *bound;
    double w, T_min; /* a link, or the port of a device; a hop */
    double hops, ports, devices, one_way_share;
    double nodes, over_nodes; /* on switches; nodes is NAN inside one */
    double in_node, inner,
        node_bytes_per_s;      /* on switches: devices of a node, of its inner axis, rate */
    struct sp_torus_bounds on; /* on a torus */
    bool is_far;               /* a send leaves the node */
    double ragged_over_dense;
    struct sp_switch_bytes traffic;
    double in_network_s, gain, measured_gain; /* of an all-reduce on switches; else 0 */
};

void sp_time_on_group(const struct sp_group_question *question, struct sp_group_answer *answer);

#endif
