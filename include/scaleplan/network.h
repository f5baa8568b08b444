/* Communication time: collectives on tori and switches, sharded matmuls. */
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
 * Time of one collective on torus axes or a hierarchy of switches. V is the whole array that the
 * group gathers, reduces or exchanges, already divided by all other axes that shard it.
 */

/* A group on torus axes. */
struct sp_torus_group {
    int n;             /* number of axes, 1 to 3 */
    int64_t length[3]; /* chips along each */
    bool wraps[3];     /* ring, else line */
    double link_bytes_per_s, hop_latency_s;
};

/* The group must have at most three axes. */
double sp_torus_chips(const struct sp_torus_group *group);

/* Rate (bytes/s) of the group's axes together: 2w per ring, w N / (N-1) per line, N chips in the
 * group; see sp_axes_bytes_per_s. Scaling book, "Sharding". */
double sp_torus_axes_bytes_per_s(const struct sp_torus_group *group);

/* Load of an all-to-all on the busiest link of an axis of X chips, each way, in units of a chip's
 * share V/N: X/4 on a line, X/8 on an even ring. Pairs take the shortest way, and halves of a ring
 * share both ways: floor(X^2/4) pairs of positions cross the middle of a line, half as many per
 * link and direction of a ring, and each carries 1/X of a chip's data. Scaling book, "Sharding",
 * bisection of a torus. */
double sp_exchange_pairs(int64_t length, bool wraps);

/* The largest sp_exchange_pairs of the group's axes. */
double sp_most_exchange_pairs(const struct sp_torus_group *group);

/* How often V crosses the network: 2 for an all-reduce (reduce-scatter, all-gather), else 1. */
double sp_collective_passes(enum sp_collective op);

/* Traffic relative to an all-gather on a one-way ring: 2 for an all-reduce, 1/2 for an all-to-all.
 * Scaling book, "Sharding", question 10. */
double sp_one_way_ring_share(enum sp_collective op);

/* The group with all axes rings, or all lines. */
struct sp_torus_group sp_wrapped(struct sp_torus_group group, bool wraps);

/* Throughput-bound time (s). All-gather and reduce-scatter: V over the axes' total rate;
 * all-reduce: twice that. All-to-all: V / (N w) times sp_most_exchange_pairs, i.e. V max(A,B,C) /
 * (4 N W_ici) on rings with W_ici = 2w; dimension-ordered routing and bisection agree. Scaling
 * book, "Sharding". */
double sp_torus_bandwidth_s(enum sp_collective op, double bytes,
                            const struct sp_torus_group *group);

/* Sequential hops: see sp_torus_latency_s. */
double sp_torus_hops(enum sp_collective op, const struct sp_torus_group *group);

/* Latency-bound time (s): T_min times ceil(X/2) hops per ring or X-1 per line, summed over axes,
 * doubled for an all-reduce. Scaling book, "Sharding". */
double sp_torus_latency_s(enum sp_collective op, const struct sp_torus_group *group);

/* Hops between opposite corners of a slice: per axis half a ring, or length - 1. */
int64_t sp_corner_hops(const struct sp_torus_group *group);

/* A group of `devices` devices on two levels of switches, in nodes of `domain` devices. */
struct sp_switch_group {
    double devices, domain;
    double domain_bytes_per_s; /* W_gpu: egress per device */
    double node_bytes_per_s;   /* W_node: egress per node */
    double inner;              /* Y: degree of an inner axis that also shards the array; 1: none */
};

/* Number of nodes, at least one. */
double sp_group_nodes(const struct sp_switch_group *group);

/* Time per level. s. */
struct sp_switch_time {
    double node_s, cross_s;                   /* exact, with the factor (n-1)/n */
    double spine_s;                           /* between scalable units; 0 within one */
    double rough_s;                           /* slowest level without the factor (n-1)/n */
    double node_rate, cross_rate, spine_rate; /* bytes/s of V per level; INFINITY if unused */
};

/* Times of a collective per level; the levels pipeline, so the slowest counts. V (D-1)/(D W_gpu)
 * inside a node, V (M-1)/(M W_node) across M nodes; an inner axis of degree Y divides the former by
 * min(Y, D) and multiplies the latter by D / max(D, Y). All-reduce: twice. All-to-all: V (M-1)/(M^2
 * W_node) across nodes and V (D-1)/(N^2 W_gpu) inside, N devices in all. Scaling book, "GPUs". */
struct sp_switch_time sp_switch_collective(enum sp_collective op, double bytes,
                                           const struct sp_switch_group *group);

/* The same with a third level: units of `unit_devices` devices, each with `unit_bytes_per_s` into
 * the spine (NAN or 0: none). Nodes then count within a unit. Scaling book, "GPUs": nodes 514,
 * leaves 413, spine 17,100 GB/s in an H100 SuperPOD. */
struct sp_switch_time sp_unit_collective(enum sp_collective op, double bytes,
                                         const struct sp_switch_group *group, double unit_devices,
                                         double unit_bytes_per_s);

/* Throughput-bound time: the slowest level. s. */
double sp_switch_bound_s(const struct sp_switch_time *time);

/* Bytes into and out of one node's switch when it multicasts and reduces; NAN where the source
 * gives none. For N = group->devices, D per node: all-gather V in, V D out (V (D-1) in a single
 * node); reduce-scatter the reverse; all-reduce (single node) V D both ways; all-to-all (single
 * node) V (D-1)/D both ways. Scaling book, "GPUs", questions 4.1 and 4.2. */
struct sp_switch_bytes {
    double in, out;
};
struct sp_switch_bytes sp_node_switch_bytes(enum sp_collective op, double bytes,
                                            const struct sp_switch_group *group);

/* How often V crosses the data-centre network: 2 for an all-reduce, 1/S for an all-to-all over S
 * slices, else 1. */
double sp_dcn_passes(enum sp_collective op, double slices);

/* Time (s) over the data-centre network of a collective across S slices with `chips` chips of W_dcn
 * bytes/s in each: V / (chips W_dcn) times sp_dcn_passes; 0 for one slice. Scaling book,
 * "Training", several pods. */
double sp_dcn_s(enum sp_collective op, double bytes, double slices, double chips,
                double dcn_bytes_per_s);

/* A group of devices as a collective sees it: axes in each slice on a torus; nodes and scalable
 * units on switches. */
struct sp_device_group {
    bool switched;
    struct sp_torus_group torus;
    double slices;          /* slices that the group spans */
    double dcn_bytes_per_s; /* W_dcn: egress per chip */
    struct sp_switch_group nodes;
    double unit_devices, unit_bytes_per_s; /* see sp_unit_collective; 0: no third level */
    double ragged_to;     /* all-to-all: of all devices, those that each sends to; 0: all */
    double hop_latency_s; /* per level of the switch tree; NAN: unknown */
    struct sp_transport_curves transport; /* switches: what was measured; shares 0: nothing */
};

/* A group on this machine with its links, domains and latencies, but no axes or devices yet. */
struct sp_device_group sp_group_on(const struct sp_hardware *hw);

/* Gives a switched group a third level: units of `nodes` nodes with `bytes_per_s` upwards (NAN: as
 * fast as their nodes together). */
void sp_set_units(struct sp_device_group *group, double nodes, double bytes_per_s);

/* All devices of a switched machine, with the scalable units of its fabric if described. */
struct sp_device_group sp_machine_group(const struct sp_hardware *hw);

/* Devices of the group over all slices. */
double sp_group_devices(const struct sp_device_group *group);

/* Time of a collective. s. */
struct sp_collective_time {
    double ici_s, dcn_s;                 /* torus: on its axes, between slices */
    struct sp_switch_time dense, levels; /* switches: with all devices, and scaled by ragged_to */
    double throughput_s;                 /* slowest level */
    double hops, latency_s;              /* sequential hops; NAN: unknown */
    struct sp_transport_curve curve;     /* switches: that the time follows; share 0: none */
    double time_s;                       /* by the curve, else max(throughput, latency) */
};

/* The curve of a collective over `nodes` domains; share 0: not measured. A gather or a
 * reduce-scatter that was not measured takes half of an all-reduce, which is one of each; at most
 * the rate of the links, since nothing is added up on the way. */
struct sp_transport_curve sp_transport_of(const struct sp_transport_curves *curves,
                                          enum sp_collective op, double nodes);

/* The closed forms combined. Torus: axes and data-centre network pipeline (sp_torus_bandwidth_s,
 * sp_dcn_s), hops add up (sp_torus_hops). Switches: the levels of sp_unit_collective, with the hops
 * of a tree of all devices, log2 (N / Y), doubled for an all-reduce. A ragged all-to-all to k of N
 * devices takes k/N of each level. Where the transport was measured, its curve gives the time.
 * Scaling book, "Sharding" and "GPUs". */
struct sp_collective_time sp_time_of_collective(enum sp_collective op, double bytes,
                                                const struct sp_device_group *group);

/* Only its time_s. */
double sp_collective_s(enum sp_collective op, double bytes, const struct sp_device_group *group);

/* Time (s) of an all-reduce over a real number X of devices of the group's kind: the same axes of
 * one slice (rings stay rings, lines lines; several scale alike), or the same switch levels, where
 * X below 1 counts as 1. Equal to sp_collective_s at whole lengths; 0 if a line or all axes shrink
 * to one chip. Scaling book, "Sharding" and "GPUs". */
double sp_all_reduce_over_s(double devices, double bytes, const struct sp_device_group *group);

/* Placement of a logical mesh on a slice: logical axis a takes part[a][i] chips of physical axis
 * i. */
enum { SP_LAYOUT_AXES = 8 };
struct sp_layout {
    int n;
    int64_t part[SP_LAYOUT_AXES][SP_MAX_AXES];
};

/* Places logical axes of these lengths: whole physical axes first, then products, then parts. False
 * if a length cannot be made of what is left. */
bool sp_lay_out(const struct sp_hardware *hw, const int64_t *lengths, int count,
                struct sp_layout *layout);

/* The torus group of a collective over the logical axes in the bit set `axes`. A part of a physical
 * axis is a line; a whole one is a ring if the slice wraps it. */
struct sp_torus_group sp_group_of(const struct sp_hardware *hw, const struct sp_layout *layout,
                                  unsigned axes);

/* The box of `chips` chips with sides dividing the slice's axes on which an all-to-all is fastest;
 * n = 0 if none. */
struct sp_torus_group sp_exchange_box(const struct sp_hardware *hw, int64_t chips);

/*
 * == Sharded arrays ==
 *
 * Arrays sharded on a mesh, and the communication of a sharded matmul.
 */

enum { SP_MESH_AXES = 8, SP_SHARD_DIMS = 8 };

/* A mesh: named axes and their lengths. */
struct sp_mesh {
    char name[SP_MESH_AXES];
    int64_t length[SP_MESH_AXES];
    int n;
};

/* An array of n dimensions: axes[i] is the set of mesh axes (bits) that shard dimension i,
 * `partial` the set over which it is an unreduced sum. */
struct sp_sharded {
    int n;
    char name[SP_SHARD_DIMS];
    double size[SP_SHARD_DIMS];
    unsigned axes[SP_SHARD_DIMS];
    unsigned partial;
    double element_bytes;
    int dtype; /* enum sp_dtype of its arithmetic */
};

/* Product of the lengths of a set of axes. */
double sp_axes_product(const struct sp_mesh *mesh, unsigned axes);

/* All axes that shard some dimension of the array. */
unsigned sp_sharding_axes(const struct sp_sharded *array);

/* Bytes of the whole array, and per device. */
double sp_whole_bytes(const struct sp_sharded *array);
double sp_local_bytes(const struct sp_mesh *mesh, const struct sp_sharded *array);

/* Size of a dimension (0-based) per device. */
double sp_local_dim(const struct sp_mesh *mesh, const struct sp_sharded *array, int dimension);

/* Cases of a sharded matmul: (1) neither input shards the contracting dimension; (2) one does:
 * gather it; (3) both do, on the same axes: reduce the partial sums; (4) one axis shards an output
 * dimension of both: gather one input first. Scaling book, "Sharding". */
enum sp_matmul_case {
    SP_CASE_NONE = 1,
    SP_CASE_GATHER,
    SP_CASE_REDUCE,
    SP_CASE_CLASH,
    SP_CASE_MISMATCH
};

/* One collective of a sharded matmul. */
struct sp_sharded_move {
    enum sp_matmul_case kind; /* its purpose */
    int gathered;             /* index of the gathered input; -1: the product is reduced */
    unsigned over;            /* axes of the collective */
    double bytes;             /* V: the collective's array, divided by its other axes */
};

struct sp_sharded_matmul {
    enum sp_matmul_case kind;       /* of the first move */
    struct sp_sharded_move move[2]; /* in order: case 4 may leave case 2 or 3 */
    int moves;
    bool can_reduce;     /* case 2: the product can be reduced instead of gathering */
    double flops;        /* of the whole product, once */
    double replication;  /* times that the devices together repeat the work: axes that do not shard
                            it */
    double output_bytes; /* bytes of the product per device, of the alternative too */
};

/* The communication of left x right over their common dimension. The inputs share exactly one name,
 * sharded alike or in one of them only. Case 4 gathers the input with the smaller piece. If an axis
 * shards the contracting dimension of one input and the output dimension of the other, devices hold
 * different rows of partial sums, which cannot be reduced: gathering is the only way. */
struct sp_sharded_matmul sp_sharded_matmul(const struct sp_mesh *mesh,
                                           const struct sp_sharded *left,
                                           const struct sp_sharded *right,
                                           double out_element_bytes);

/* Most parts that a contracting dimension can be cut into before the all-reduce of the product (V
 * bytes, which cutting does not change) outlasts the arithmetic: the largest real X with X
 * sp_all_reduce_over_s(X) <= whole_math_s, the uncut arithmetic of a device (s). K W / (2 C) on a
 * bf16 ring of W; one more on lines and inside a node. INFINITY if nothing is summed. Scaling book,
 * "Sharding". */
double sp_most_cuts(double whole_math_s, double product_bytes, const struct sp_device_group *group);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
