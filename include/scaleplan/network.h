/* What communication takes: collectives on tori and switches, sharded products. */
#ifndef SCALEPLAN_NETWORK_H
#define SCALEPLAN_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/machine.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Collectives ==
 *
 * Time of one collective on torus axes or on a hierarchy of switches. V is the whole array that the
 * group gathers, reduces or exchanges, after division by every other axis that shards it.
 */

/* A group on torus axes. */
struct sp_torus_group {
    int n;             /* axes it runs on, 1 to 3 */
    int64_t length[3]; /* chips along each */
    bool wraps[3];     /* a ring, or a line */
    double link_bytes_per_s, hop_latency_s;
};

/* Chips of the group: the product of its axes. The group must have at most three axes. */
double sp_torus_chips(const struct sp_torus_group *group);

/* Bandwidth of the group's axes together, 2w a ring and w N / (N-1) a line, N the chips of the
 * group: see sp_axes_bytes_per_s. bytes/s. Scaling book, "Sharding". */
double sp_torus_axes_bytes_per_s(const struct sp_torus_group *group);

/* Shares V/N of a chip, N chips in the group, that an all-to-all sends each way over the busiest
 * link of an axis of X chips, when each pair takes the shortest way and both ways share what is
 * half a ring away: floor(X^2/4) pairs of positions cross the middle of a line, half as many each
 * way a link of a ring, and of all that a chip holds 1/X goes to each position: X/4 on a line and
 * X/8 on a ring of even X. Scaling book, "Sharding", the bisection of a torus. */
double sp_exchange_pairs(int64_t length, bool wraps);

/* Of the axis of a group where it is largest: its links are busy longest. */
double sp_most_exchange_pairs(const struct sp_torus_group *group);

/* Times that V crosses the network: 2 of an all-reduce, which scatters sums and gathers them, 1 of
 * the others. */
double sp_collective_passes(enum sp_collective op);

/* Traffic over that of an all-gather on a ring that sends one way: 2 of an all-reduce, half of an
 * all-to-all. Scaling book, "Sharding", question 10. */
double sp_one_way_ring_share(enum sp_collective op);

/* The group with all of its axes rings, or all lines. */
struct sp_torus_group sp_wrapped(struct sp_torus_group group, bool wraps);

/* Throughput-bound time. s. All-gather and reduce-scatter V over the axes' bandwidths together;
 * all-reduce twice that. All-to-all V / (N w) times sp_exchange_pairs of the axis where it is
 * largest: V max(A,B,C) / (4 N W_ici) with W_ici = 2w on rings, by dimension-ordered routing as by
 * bisection. Scaling book, "Sharding". */
double sp_torus_bandwidth_s(enum sp_collective op, double bytes,
                            const struct sp_torus_group *group);

/* Hops one after the other: see sp_torus_latency_s. */
double sp_torus_hops(enum sp_collective op, const struct sp_torus_group *group);

/* Latency-bound time: T_min times ceil(X/2) hops on a ring or X-1 on a line, summed over the axes;
 * an all-reduce goes twice. s. Scaling book, "Sharding". */
double sp_torus_latency_s(enum sp_collective op, const struct sp_torus_group *group);

/* Hops between opposite corners of a torus slice: half a ring, a whole line less one. */
int64_t sp_corner_hops(const struct sp_torus_group *group);

/* A group on two levels of switches: `devices` in all, nodes of `domain`. */
struct sp_switch_group {
    double devices, domain;
    double domain_bytes_per_s; /* W_gpu: one device's egress */
    double node_bytes_per_s;   /* W_node: one node's egress */
    double inner;              /* Y: degree of an inner axis that shards the array too; 1 without */
};

/* Nodes of the group, at least one. */
double sp_group_nodes(const struct sp_switch_group *group);

/* What each level takes. s. */
struct sp_switch_time {
    double node_s, cross_s; /* exact, with (n-1)/n */
    double spine_s;         /* between scalable units; 0 within one */
    double rough_s;         /* the longest of them with (n-1)/n dropped */
    double node_rate, cross_rate,
        spine_rate; /* bytes/s of V that each level carries; INFINITY where it is not used */
};

/* Levels of a collective: V (D-1)/(D W_gpu) inside a node, V (M-1)/(M W_node) across M nodes; the
 * levels work as one pipeline, so the slower one is the time. An inner axis of Y divides the node's
 * part by min(Y, D) and multiplies the other by D / max(D, Y). All-reduce twice; all-to-all V
 * (M-1)/(M^2 W_node) across M nodes, and inside a node what stays there, V (D-1)/(N^2 W_gpu) for N
 * devices in all. Scaling book, "GPUs". */
struct sp_switch_time sp_switch_collective(enum sp_collective op, double bytes,
                                           const struct sp_switch_group *group);

/* Times of a collective on switches of three levels: units of `unit_devices` devices behind links
 * of `unit_bytes_per_s` into the spine (NAN or 0: no third level). Nodes then count within a unit,
 * and units above it. Scaling book, "GPUs": nodes 514, leaves 413, spine 17,100 GB/s in an H100
 * SuperPOD. */
struct sp_switch_time sp_unit_collective(enum sp_collective op, double bytes,
                                         const struct sp_switch_group *group, double unit_devices,
                                         double unit_bytes_per_s);

/* Throughput-bound time of the levels: the slowest. s. */
double sp_switch_bound_s(const struct sp_switch_time *time);

/* Bytes into and out of the switch of one node when it multicasts and adds up; NAN where the
 * textbook says nothing. Of `devices` = group->devices, D in a node: all-gather V in, V D out (V
 * (D-1) in one node alone); reduce-scatter the reverse; all-reduce V D both ways (one node);
 * all-to-all V (D-1)/D both ways (one node). Scaling book, "GPUs", questions 4.1 and 4.2. */
struct sp_switch_bytes {
    double in, out;
};
struct sp_switch_bytes sp_node_switch_bytes(enum sp_collective op, double bytes,
                                            const struct sp_switch_group *group);

/* Times that V crosses it: 2 of an all-reduce, 1/S of an all-to-all over S slices, 1 of the others.
 */
double sp_dcn_passes(enum sp_collective op, double slices);

/* Time over the data-centre network of a collective that spans S slices, `chips` of each taking
 * part with W_dcn bytes/s: V / (chips W_dcn); all-reduce twice, all-to-all over S. s; 0 for one
 * slice. Scaling book, "Training", several pods. */
double sp_dcn_s(enum sp_collective op, double bytes, double slices, double chips,
                double dcn_bytes_per_s);

/* A group of devices of a machine as a collective sees it: on a torus its axes in each of the
 * slices, on switches its nodes and scalable units. */
struct sp_device_group {
    bool switched;
    struct sp_torus_group torus;
    double slices;          /* that the group spans, with the same axes in each */
    double dcn_bytes_per_s; /* W_dcn: one chip's egress between them */
    struct sp_switch_group nodes;
    double unit_devices, unit_bytes_per_s; /* see sp_unit_collective; 0: no third level */
    double ragged_to;     /* devices that each sends to, of all; 0: all of them. all-to-all only */
    double hop_latency_s; /* of a level of the tree over switches; NAN: not known */
};

/* The group on this machine without axes or devices: its links, domains and latencies. */
struct sp_device_group sp_group_on(const struct sp_hardware *hw);

/* Gives a group on switches its third level: units of so many nodes, behind links of `bytes_per_s`,
 * or as fast as their nodes together (NAN). */
void sp_set_units(struct sp_device_group *group, double nodes, double bytes_per_s);

/* All devices of a machine on switches, with the scalable units of its fabric where it has one. */
struct sp_device_group sp_machine_group(const struct sp_hardware *hw);

/* Devices of the group, all slices together. */
double sp_group_devices(const struct sp_device_group *group);

/* What a collective on a group takes. s. */
struct sp_collective_time {
    double ici_s, dcn_s;                 /* torus: on its axes, and between slices */
    struct sp_switch_time dense, levels; /* switches: before and after `ragged_to` */
    double throughput_s;                 /* of the slowest of them */
    double hops, latency_s;              /* one after the other; NAN: not known */
    double time_s;                       /* the longer of throughput and latency */
};

/* The closed forms above, put together: on a torus the axes and the data-centre network work as one
 * pipeline (sp_torus_bandwidth_s, sp_dcn_s) and hops add up (sp_torus_hops); on switches the levels
 * do (sp_unit_collective), and the hops are those of a tree of all devices, log2 (N / Y), twice for
 * an all-reduce. A ragged all-to-all of k of N takes k/N of each level. Scaling book, "Sharding"
 * and "GPUs". */
struct sp_collective_time sp_time_of_collective(enum sp_collective op, double bytes,
                                                const struct sp_device_group *group);

/* Its time_s alone. */
double sp_collective_s(enum sp_collective op, double bytes, const struct sp_device_group *group);

/* Time of an all-reduce over X devices in place of the group's own, X a real number: on axes of the
 * same kind (rings stay rings, lines stay lines, several grow alike) of one slice, or on the same
 * levels of switches, where X below 1 counts as 1. What sp_collective_s gives wherever the lengths
 * are whole; 0 where one chip is left of a line, or of all
 * axes. s. Scaling book, "Sharding" and "GPUs". */
double sp_all_reduce_over_s(double devices, double bytes, const struct sp_device_group *group);

/* Where the axes of a logical mesh lie on a slice: part[a][i] chips of physical axis i. */
enum { SP_LAYOUT_AXES = 8 };
struct sp_layout {
    int n;
    int64_t part[SP_LAYOUT_AXES][SP_MAX_AXES];
};

/* Lays logical axes of these lengths on the slice: whole physical axes first, then products of
 * them, then parts. False when a length cannot be made of what is left. */
bool sp_lay_out(const struct sp_hardware *hw, const int64_t *lengths, int count,
                struct sp_layout *layout);

/* The group that a collective over the logical axes in `axes` (bit a: axis a) spans. A part of a
 * physical axis is a line; the whole of it closes where the slice does. */
struct sp_torus_group sp_group_of(const struct sp_hardware *hw, const struct sp_layout *layout,
                                  unsigned axes);

/* The box of `chips` chips, sides that divide the axes of the slice, over which an all-to-all is
 * fastest; n = 0 where the slice has none. */
struct sp_torus_group sp_exchange_box(const struct sp_hardware *hw, int64_t chips);

/*
 * == Sharded arrays ==
 *
 * Sharded arrays on a mesh, and the communication of a sharded matmul.
 */

enum { SP_MESH_AXES = 8, SP_SHARD_DIMS = 8 };

/* A mesh: named axes and their lengths. */
struct sp_mesh {
    char name[SP_MESH_AXES];
    int64_t length[SP_MESH_AXES];
    int n;
};

/* An array of n dimensions; axes[i] is the set of mesh axes (bits) that shard dimension i, partial
 * the set over which it is an unreduced sum. */
struct sp_sharded {
    int n;
    char name[SP_SHARD_DIMS];
    double size[SP_SHARD_DIMS];
    unsigned axes[SP_SHARD_DIMS];
    unsigned partial;
    double element_bytes;
};

/* Product of the lengths of a set of axes. */
double sp_axes_product(const struct sp_mesh *mesh, unsigned axes);

/* Every axis that shards a dimension of the array. */
unsigned sp_sharding_axes(const struct sp_sharded *array);

/* Bytes of the whole array, and of the piece that one device holds. */
double sp_whole_bytes(const struct sp_sharded *array);
double sp_local_bytes(const struct sp_mesh *mesh, const struct sp_sharded *array);

/* Size of a dimension (0-based) on one device. */
double sp_local_dim(const struct sp_mesh *mesh, const struct sp_sharded *array, int dimension);

/* The four cases of a sharded matmul. Scaling book, "Sharding": (1) the contracting dimension is
 * whole in both; (2) one input shards it: gather that input; (3) both shard it on the same axes:
 * the product is a partial sum, reduce it; (4) an axis shards an output dimension of both inputs:
 * gather one of them first. */
enum sp_matmul_case {
    SP_CASE_NONE = 1,
    SP_CASE_GATHER,
    SP_CASE_REDUCE,
    SP_CASE_CLASH,
    SP_CASE_MISMATCH
};

/* One collective of a sharded matmul. */
struct sp_sharded_move {
    enum sp_matmul_case kind; /* what it is for */
    int gathered;             /* 0 or 1: which input is gathered; -1: the product is reduced */
    unsigned over;            /* axes of the collective */
    double bytes;             /* V: the array of the collective, divided by its other axes */
};

struct sp_sharded_matmul {
    enum sp_matmul_case kind;       /* of the first move */
    struct sp_sharded_move move[2]; /* in their order: what case 4 leaves may be case 2 or 3 */
    int moves;
    bool can_reduce;    /* whether, in case 2, the product can be reduced instead of the gather */
    double flops;       /* of the whole product, done once */
    double replication; /* factor by which all devices together do more: axes that shard nothing of
                           it */
    double
        output_bytes; /* of the product, divided by the axes that shard it; for the alternative */
};

/* What multiplying a by b over their common dimension takes. Both need exactly one name in common,
 * sharded alike or in one of them only. Of case 4 the input is gathered whose piece is smaller.
 * Where an axis that cuts the contracting dimension of one input cuts the output dimension of the
 * other, each device has other rows of the product, whose partial sums nobody could add: there is
 * no other way than the gather. */
struct sp_sharded_matmul sp_sharded_matmul(const struct sp_mesh *mesh,
                                           const struct sp_sharded *left,
                                           const struct sp_sharded *right,
                                           double out_element_bytes);

/* Parts into which a contracting dimension can be cut before the all-reduce of the product takes
 * longer than the arithmetic: the largest real X with X sp_all_reduce_over_s(X) <= whole_math_s,
 * the arithmetic of a device if nothing were cut (s); V bytes is the product, which the cut leaves
 * as it is, and the group says on what kind of axes or levels. K W / (2 C) on a ring of W in bf16,
 * one more on lines and inside a node. INFINITY where nothing is summed. Scaling book, "Sharding".
 */
double sp_most_cuts(double whole_math_s, double product_bytes, const struct sp_device_group *group);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
