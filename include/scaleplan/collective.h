/* Time of one collective on torus axes or on a hierarchy of switches. V is the whole array that the
 * group gathers, reduces or exchanges, after division by every other axis that shards it. */
#ifndef SCALEPLAN_COLLECTIVE_H
#define SCALEPLAN_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

enum sp_collective {
    SP_ALL_GATHER,
    SP_REDUCE_SCATTER,
    SP_ALL_REDUCE,
    SP_ALL_TO_ALL,
    SP_COLLECTIVES
};

/* A group on torus axes. */
struct sp_torus_group {
    int n;             /* axes it runs on, 1 to 3 */
    int64_t length[3]; /* chips along each */
    bool wraps[3];     /* a ring, or a line */
    double link_bytes_per_s, hop_latency_s;
};

/* Throughput-bound time. s. All-gather and reduce-scatter V / (sum of the axes' bandwidths), where
 * a ring moves 2w and a line w X / (X-1); all-reduce twice that; all-to-all a quarter on rings,
 * half of the all-gather on lines. Scaling book, "Sharding". */
double sp_torus_bandwidth_s(enum sp_collective op, double V_bytes,
                            const struct sp_torus_group *group);

/* Bytes that cross one link of a one-way ring of X chips: V (X-1)/X for a gather or reduce-scatter,
 * twice that for an all-reduce, half of it for an all-to-all. Scaling book, "Sharding",
 * question 10. */
double sp_one_way_ring_link_bytes(enum sp_collective op, double V_bytes, double X);

/* Latency-bound time: T_min times ceil(X/2) hops on a ring or X-1 on a line, summed over the axes;
 * an all-reduce goes twice. s. Scaling book, "Sharding". */
double sp_torus_latency_s(enum sp_collective op, const struct sp_torus_group *group);

/* Bytes of one hop below which its latency is longer than its transfer: w T_min. Same source. */
double sp_latency_threshold_bytes(double link_bytes_per_s, double hop_latency_s);

/* Sending `bytes` between two chips over `ports` links at once: bytes / (ports w); the first byte
 * arrives after hops T_min. s. Scaling book, "TPUs", question 5. */
double sp_send_s(double bytes, double ports, double link_bytes_per_s);

/* Hops between opposite corners of a torus slice: half a ring, a whole line less one. */
int64_t sp_corner_hops(const struct sp_torus_group *group);

/* A group on two levels of switches: `devices` in all, nodes of `domain`. */
struct sp_switch_group {
    double devices, domain;
    double domain_bytes_per_s; /* W_gpu: one device's egress */
    double node_bytes_per_s;   /* W_node: one node's egress */
    double inner;              /* Y: degree of an inner axis that shards the array too; 1 without */
};

/* What each level takes. s. */
struct sp_switch_time {
    double node_s, cross_s; /* exact, with (n-1)/n */
    double rough_s;         /* the longer of both with (n-1)/n dropped */
    double node_rate,
        cross_rate; /* bytes/s of V that each level carries; INFINITY where it is not used */
};

/* Levels of a collective: V (D-1)/(D W_gpu) inside a node, V (M-1)/(M W_node) across M nodes; the
 * levels work as one pipeline, so the slower one is the time. An inner axis of Y divides the node's
 * part by min(Y, D) and multiplies the other by D / max(D, Y). All-reduce twice; all-to-all a
 * further 1/D inside a node, 1/M across. Scaling book, "GPUs". */
struct sp_switch_time sp_switch_collective(enum sp_collective op, double V_bytes,
                                           const struct sp_switch_group *group);

/* Time of a collective whose bandwidth falls with its size: at `half_bytes` it reaches half of the
 * peak, t (1 + half / V). s. Shape as in the scaling book's measurements, "GPUs" (150 GB/s at 58 MB
 * of about 370). */
double sp_derated_s(double time_s, double V_bytes, double half_bytes);

/* All-reduce that the switch adds up (SHARP): V / W_gpu. s. Scaling book, "GPUs", question 4.2. */
double sp_in_network_all_reduce_s(double V_bytes, double domain_bytes_per_s);

/* Share of a dense all-gather's bytes that a ragged all-to-all to k of Z devices moves: min(k/Z, 1)
 * (Z-1)/Z, and with the expected number of distinct devices (1 - ((Z-1)/Z)^k) (Z-1)/Z. Scaling
 * book, "GPUs", appendix. */
double sp_ragged_share(double k, double Z);
double sp_ragged_share_exact(double k, double Z);

#endif
