/* A machine: chips, measured kernels, networks, slices, and what follows from their figures. */
#ifndef SCALEPLAN_MACHINE_H
#define SCALEPLAN_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/formats.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Measured kernels ==
 *
 * What kernels and collectives of a chip were measured to reach: curves of a few constants over
 * shape, format and size, each with the rows that it rests on.
 */

enum sp_collective {
    SP_ALL_GATHER,
    SP_REDUCE_SCATTER,
    SP_ALL_REDUCE,
    SP_ALL_TO_ALL,
    SP_COLLECTIVES
};

/* Formats that kernels were measured in. Attention has the first two. */
enum sp_kernel_format {
    SP_KERNEL_BF16,
    SP_KERNEL_FP8, /* one scale for a tensor or a row */
    SP_KERNEL_ATTENTION_FORMATS,
    SP_KERNEL_FP8_BLOCK = SP_KERNEL_ATTENTION_FORMATS, /* a scale for 128 x 128 weights */
    SP_KERNEL_NVFP4,                                   /* a scale for 16 elements */
    SP_KERNEL_FORMATS
};

/* Matmuls of a format. */
struct sp_matmul_curve {
    double share;        /* of the format's dense peak, what large ones reach; NAN: not measured */
    double memory_share; /* of the memory bandwidth, what memory-bound ones reach */
    double launch_s;     /* before any work */
    double half_tile;    /* elements that a side is rounded up by on average */
    double cast_bytes;   /* moved for each element of the 16-bit input to bring it to the format */
    double rows;         /* measurements behind the curve */
    double residual;     /* mean of |ln(curve / measured)| over their shapes */
};

/* Causal attention, fused, forward. */
struct sp_attention_curve {
    double share;        /* of the format's dense peak; NAN: not measured */
    double launch_s;     /* before any work */
    double fill_queries; /* queries of a head, over all heads, that run last and beside nothing */
    double edge_keys;    /* keys that a query costs beyond those it attends to */
    double rows, residual;
};

/* A collective inside a scale-up domain, as NCCL runs it. */
struct sp_collective_curve {
    double share;          /* of the link rate, what long messages reach; NAN: not measured */
    double low_share;      /* the same of the protocol that short ones take; NAN: there is one */
    double own_share;      /* time of a rank's own part, of that of a part from another rank */
    double latency_s;      /* of any group */
    double rank_latency_s; /* for each rank beyond the first */
    double floor_s;        /* least time for each rank of the protocol that long messages take */
    double rows, residual;
};

/* A chip's curves. */
struct sp_kernels {
    char name[64]; /* of the chip that was measured: its own, or that of its family; "": none */
    struct sp_matmul_curve matmul[SP_KERNEL_FORMATS];
    struct sp_attention_curve attention[SP_KERNEL_ATTENTION_FORMATS];
    struct sp_collective_curve collective[SP_COLLECTIVES];
};

/* No measurement of anything, and none of collectives: on links that nobody measured. */
void sp_clear_kernels(struct sp_kernels *kernels);
void sp_clear_collectives(struct sp_kernels *kernels);

struct sp_chip;
struct sp_network;

/* Time of a matmul [m, k] x [k, n] with 16-bit inputs and outputs and weights in the format, by the
 * chip's curve: launch + max(2 (m+h)(k+h)(n+h) / (share C), bytes / (memory_share W_hbm)) +
 * cast_bytes m k / W_hbm, with h the half tile, the maximum smooth. s; NAN where the curve or the
 * format's peak is not known. Roofline: Williams et al. 2009. */
double sp_matmul_kernel_s(const struct sp_chip *chip, enum sp_kernel_format format, double rows,
                          double columns, double inner);

/* Time of causal attention of one sequence of `seq` tokens, forward, by the chip's curve: launch +
 * 4 H (heads (seq^2 / 2 + edge_keys seq) + fill_queries seq) / (share C). s; NAN where it is not
 * known. FLOPs of causal attention: Dao 2023. */
double sp_attention_kernel_s(const struct sp_chip *chip, enum sp_kernel_format format, double heads,
                             double head_dim, double seq);

/* Time of a collective of `ranks` devices of one domain, `bytes` gathered, reduced, or exchanged by
 * each: u = bytes (ranks - 1 + own_share) / (ranks W_gpu), twice that for an all-reduce, and
 * latency + (ranks - 1) rank_latency + min(u / low_share, max(u / share, ranks floor)), the maximum
 * smooth. s; NAN where it is not known. */
double sp_collective_kernel_s(const struct sp_kernels *kernels, const struct sp_network *network,
                              enum sp_collective op, double ranks, double bytes);

/*
 * == Chips, networks, slices ==
 *
 * Chips, the networks between them, and the sizes a machine comes in.
 */

enum { SP_MAX_AXES = 3, SP_MAX_SHAPES = 160 };

enum sp_network_kind { SP_TORUS, SP_SWITCHED };

/* When the axes of a torus slice close into rings. */
enum sp_wrap_rule {
    SP_WRAP_CUBE,     /* all axes, iff every one is a multiple of 4 */
    SP_WRAP_AXIS16,   /* an axis of length 16 */
    SP_WRAP_FULL_POD, /* only the whole pod */
    SP_WRAP_ALWAYS,
    SP_WRAP_NEVER
};

/* One chip. Figures that are not published are NAN. */
struct sp_chip {
    double peak_flops_per_s[SP_DTYPES]; /* C: dense, by enum sp_dtype */
    double hbm_bytes;                   /* physical capacity */
    double hbm_usable_bytes;            /* what the runtime grants */
    double hbm_bytes_per_s;             /* W_hbm */
    double vmem_bytes, vmem_bytes_per_s;
    double l2_bytes, smem_bytes_per_sm, register_bytes_per_sm;
    double sms, cores, mxus_per_core, mxu_dim, cuda_cores_per_sm, tensor_cores_per_sm;
    double vpu_lanes, vpu_sublanes, vpu_alus;
    double clock_hz, boost_clock_hz;
    double tensor_clock_hz; /* clock that the tensor peak is taken at; NAN: the boost clock */
    double nvlink_ports, nvlink_port_bytes_per_s;
    double pcie_bytes_per_s;
    double c2c_bytes_per_s; /* coherent link to the host's processor, one way; NAN: none */
    double tdp_w, price_usd_per_h;
    int64_t price_year;        /* of the list price; 0: not said */
    char price_source[64];     /* whose price it is; "": not said */
    struct sp_kernels kernels; /* measured on it or on its family; their shares NAN: not measured */
};

struct sp_shape {
    int32_t axis[SP_MAX_AXES]; /* chips along each axis; 1 where there is none */
};

/* The switches between the nodes of a switched machine, one scalable unit after another; NAN where
 * they are not described. */
struct sp_fabric {
    double nodes_per_su;   /* nodes of a scalable unit */
    double leafs_per_su;   /* leaf switches of a scalable unit */
    double links_per_node; /* cables of a node, spread over the unit's leaves */
    double switch_ports;   /* ports of a switch, half of a leaf's go up */
    double link_bytes_per_s;
};

/* A network. Every bandwidth is one-way. */
struct sp_network {
    int kind;              /* enum sp_network_kind */
    double send_latency_s; /* before a send between pipeline stages moves */
    /* torus */
    int64_t axes;
    double link_bytes_per_s; /* w: one link, one direction */
    double hop_latency_s;    /* T_min; on switches of a tree's level, NAN: not known */
    double most_hops;        /* of a step's collective one after the other: long rings are folded */
    int wrap;                /* enum sp_wrap_rule */
    int64_t chips_per_host;
    int64_t jax_devices_per_chip; /* what JAX counts of one chip; 0: one */
    double dcn_bytes_per_s_per_host;
    struct sp_shape pod_shape;
    struct sp_shape shapes[SP_MAX_SHAPES]; /* slices on offer, ascending in chips */
    int n_shapes;
    char cloud_name[32];
    int cloud_counts_cores;
    /* switched */
    int64_t domain;              /* D_n: devices of one scale-up (NVLink) domain */
    double domain_bytes_per_s;   /* W_gpu: egress of one device inside it */
    int64_t domain_links;        /* others that a device has a link of its own to, each as wide; 0:
                                    switches stand between */
    double scaleout_bytes_per_s; /* egress of one device beyond it; W_node is domain times this */
    double domain_latency_s;     /* of one step of a ring inside a domain */
    double scaleout_latency_s;   /* of one step of a ring of domains */
    double host_memory_bytes;    /* of one host, for its devices together */
    int64_t devices_per_host;    /* 0: as domain */
    int64_t domain_part; /* devices of a domain that jobs take which do not fill domains; 0: none */
    double domain_switches; /* of one domain, and the ports of each; NAN: not known */
    double domain_switch_ports;
    char scaleout_name[64];
    struct sp_fabric fabric;
};

/* A scale-out network that can replace a machine's own. */
struct sp_scaleout {
    char name[64];
    double bytes_per_s; /* one-way */
    int per_node;       /* 0: every device has one; 1: the devices of a domain share one */
    double latency_s;   /* of one step of a ring; NAN: the machine's */
};

/* A machine: `slices` pieces of `chips_per_slice` chips each. */
struct sp_hardware {
    char name[64];
    char family[64]; /* chip whose calibrated profiles serve when it has none; "": its own */
    struct sp_chip chip;
    struct sp_network network;
    int64_t chips_per_slice;
    int64_t slices;        /* more than 1: joined by the data-centre network */
    struct sp_shape shape; /* torus only: the slice's axes */
};

/* Product of a shape's axes. */
int64_t sp_shape_chips(const struct sp_shape *shape);

/* Chips of all slices, N. */
int64_t sp_chips(const struct sp_hardware *hw);

/* Memory that verdicts compare with: what the runtime grants, else the physical capacity. bytes. */
double sp_capacity_bytes(const struct sp_chip *chip);

/* Rate of the link between a chip and its host, one way: the coherent link where it has one, else
 * PCIe. Bytes/s; NAN: not known. */
double sp_host_bytes_per_s(const struct sp_chip *chip);

/* Share of a chip's memory that a plan leaves free where nobody says another: estimates of the peak
 * are off by a few per cent, see memory_residual of the frameworks. */
#define SP_HEADROOM 0.05

/* What a plan may need of a chip that leaves `headroom` of it free. bytes. */
double sp_memory_limit_bytes(const struct sp_chip *chip, double headroom);

/* The dtype whose peak stands for `wanted`: itself where published, else the format that such a
 * matmul falls back to (fp8 -> bf16 -> fp16, tf32 -> bf16, ...). SP_DTYPES when nothing serves. */
enum sp_dtype sp_compute_dtype(const struct sp_chip *chip, enum sp_dtype wanted);

/* Whether axis number `axis` of the slice closes into a ring. Axes of length 1 do not count. */
bool sp_axis_wraps(const struct sp_hardware *hw, int axis);

/* Throughput of an all-gather over `length` neighbours of a torus axis, bytes/s of the gathered
 * array: both directions of a ring 2w, a line w * length / (length - 1).
 * Scaling book, "Sharding": V/(2w) with wraparound, (X-1)/X V/w without. */
double sp_axis_bytes_per_s(double link_bytes_per_s, int64_t length, bool wraps);

/* The same over n axes together, of `length` devices each, those of 1 left out: 2w for each ring,
 * and for each line w N/(N-1), N the devices of all. A device at the ends of all its lines has one
 * link on each, and takes in (N-1)/N of the array. bytes/s. */
double sp_axes_bytes_per_s(double link_bytes_per_s, int axes, const int64_t length[],
                           const bool wraps[]);

/* The same for axes of a slice: bit i of `axes` is axis i. bytes/s. */
double sp_slice_axes_bytes_per_s(const struct sp_hardware *hw, unsigned axes);

/* The same for a length X that is no whole number, above 1 on a line. bytes/s. */
double sp_axis_rate(double link_bytes_per_s, double length, bool wraps);

/* Bytes/s at which a device of a domain reaches others of a group of `ranks` in it: its whole
 * egress through switches, of links from device to device those that lead to the group. */
double sp_domain_bytes_per_s(const struct sp_network *network, double ranks);

/* Egress of one chip into the data-centre network, W_dcn: the host's share. bytes/s. */
double sp_dcn_bytes_per_s_per_chip(const struct sp_network *network);

/* What one of the `devices` of a node gets of a scale-out network: its own line, or its share of
 * the node's. bytes/s. */
double sp_scaleout_bytes_per_s_per_device(const struct sp_scaleout *scaleout, int64_t devices);

/* Puts `scaleout` in place of the network's own beyond the domain, and its latency where it is
 * known. */
void sp_use_scaleout(struct sp_network *network, const struct sp_scaleout *scaleout);

/* Puts it in the place of every network of a switched machine, a line for each device: one tier. No
 * collective was measured there. */
void sp_use_everywhere(struct sp_hardware *hw, const struct sp_scaleout *scaleout);

/* Egress of one scale-up domain into the scale-out network, W_node. bytes/s. */
double sp_node_bytes_per_s(const struct sp_network *network);

/* The most cubic shape on offer with that many chips; false when there is none. One chip alone
 * always exists. */
bool sp_find_shape(const struct sp_network *network, int64_t chips, struct sp_shape *found);

/* Whether this very shape (axes in any order) is on offer; `found` gets the order of the list. */
bool sp_offers_shape(const struct sp_network *network, const struct sp_shape *wanted,
                     struct sp_shape *found);

/* Makes the domain of a switched machine the part of it that a job of this many devices takes: 128
 * GB200 are two racks with 64 of their 72 each. Others keep their whole domains. */
void sp_use_domains(struct sp_network *network, int64_t chips);

/* Whether a slice of that many chips exists: a shape on offer, or on a switched network a divisor
 * of the domain (or whole hosts of it) and whole domains beyond. */
bool sp_offers_chips(const struct sp_network *network, int64_t chips);

/* Gives the machine slices of that many chips, with the shape and the domains that such a slice
 * has. False where there is none; what is left of the machine then means nothing. */
bool sp_take_slice(struct sp_hardware *hw, int64_t chips);

/* The nearest number of chips on offer that is >= chips (up) or <= chips; 0 when there is none. */
int64_t sp_nearest_chips(const struct sp_network *network, int64_t chips, bool up);

/* The smallest number of chips on offer that is at least this real number; NAN: there is none. */
double sp_smallest_slice(const struct sp_network *network, double chips);

/*
 * == What follows from the figures ==
 *
 * What follows from a chip's and a machine's own figures: units, clocks, ridge points, aggregates,
 * bisection and switches. Products and quotients of published figures; what is not published (NAN)
 * makes everything that needs it NAN.
 */

/* Units and rates of a chip made of streaming multiprocessors. Vector rates count one fp32
 * operation per lane and cycle, `fma` counts a fused multiply-add as two. Scaling book, "GPUs",
 * quiz 1. */
struct sp_gpu_units {
    double cuda_cores;   /* fp32 lanes: SMs x lanes of an SM */
    double tensor_cores; /* SMs x tensor cores of an SM */
    double vector_base_flops_per_s, vector_boost_flops_per_s;
    double fma_base_flops_per_s, fma_boost_flops_per_s;
    double tensor_over_vector;              /* dense 16-bit peak over vector_boost */
    double implied_clock_hz;                /* clock at which FMAs give the fp32 peak */
    double tensor_clock_hz;                 /* clock that the tensor peak is taken at */
    double flops_per_cycle_per_tensor_core; /* dense 16-bit */
    double smem_bytes, register_bytes;      /* of all SMs */
    double on_chip_bytes;                   /* smem and registers together, without L2 */
    double nvlink_egress_bytes_per_s;       /* ports x one port, one way */
};
struct sp_gpu_units sp_gpu_units(const struct sp_chip *chip);

/* Units and rates of a chip made of TensorCores (TPU). A systolic array of side d does d^2
 * multiply-adds in a cycle. Scaling book, "TPUs". */
struct sp_tpu_units {
    double mxus;                /* cores x arrays of a core */
    double mxu_flops_per_cycle; /* 2 d^2 */
    double mxu_flops_per_s;     /* one array at the chip's clock */
    double mxus_flops_per_s;    /* all arrays: the peak that the units imply */
    double vpu_alus;            /* cores x lanes x sublanes x ALUs of each */
    double vpu_core_ops_per_s;  /* one core's vector unit, one operation per ALU and cycle */
    double vpu_ops_per_s;       /* all cores */
    double matrix_over_vector;  /* dense 16-bit peak over vpu_ops_per_s */
};
struct sp_tpu_units sp_tpu_units(const struct sp_chip *chip);

/* The 16-bit format of the chip's matmuls: bf16, or fp16 where there is no bf16. */
enum sp_dtype sp_dtype16(const struct sp_chip *chip);

/* Dense peak of 16-bit matmuls, C. FLOP/s. */
double sp_peak16_flops_per_s(const struct sp_chip *chip);

/* Ridge point C/W in FLOPs/byte: above this intensity a matmul in `dtype` is compute-bound against
 * a memory or link of `bytes_per_s`; for 16-bit operands also the critical batch in rows. No
 * fallback to another dtype: NAN where the chip publishes no peak. Scaling book, "Roofline". */
double sp_ridge(const struct sp_chip *chip, enum sp_dtype dtype, double bytes_per_s);

/* The networks of one chip: rates in bytes/s, alpha in FLOPs/byte of 16-bit matmuls, and how many
 * times HBM is faster. What the kind of network lacks is NAN. Scaling book, "TPUs", "Training",
 * "GPUs". */
struct sp_chip_networks {
    /* torus */
    double axis_bytes_per_s;   /* W_ici: both directions of one wrapped axis, 2 w */
    double egress_bytes_per_s; /* all links, one way */
    double dcn_bytes_per_s;    /* W_dcn: the host's egress over its chips */
    double alpha_axis, alpha_dcn;
    double hbm_over_link, hbm_over_axis, hbm_over_dcn;
    /* switched */
    double alpha_node;  /* over W_gpu */
    double alpha_cross; /* over W_node, which the node's devices share */
    double hbm_over_node, hbm_over_scaleout;
    /* both */
    double hbm_over_pcie, vmem_over_hbm;
};
struct sp_chip_networks sp_chip_networks(const struct sp_hardware *hw);

/* Chips of one host. */
int64_t sp_chips_per_host(const struct sp_network *network);

/* Links that the cheapest cut of a torus slice into two halves goes through: the chips across the
 * axis that is cut, twice where that axis is a ring. NAN for one chip. */
double sp_bisection_links(const struct sp_hardware *hw);

/* Sums over a machine, and what joins its parts. */
struct sp_aggregate {
    double chips;
    double hosts;           /* ceil(chips / chips of a host), per slice */
    double nodes;           /* switched: scale-up domains; torus: NAN */
    double cores;           /* TensorCores; NAN where the chip has none */
    double flops_per_s;     /* dense 16-bit peak */
    double hbm_bytes;       /* physical */
    double usable_bytes;    /* what the runtime grants */
    double hbm_bytes_per_s; /* memory bandwidth */
    double links;           /* torus: links cut by the bisection of one slice */
    /* Between the halves of one slice, node or (switched, several nodes) cluster without
     * oversubscription: both directions summed, and one way. */
    double bisection_bytes_per_s, bisection_one_way_bytes_per_s;
    double egress_bytes_per_s; /* torus: all hosts into the data-centre network; switched: one
                                  node into the scale-out network */
    double power_w, price_usd_per_h;
};
struct sp_aggregate sp_aggregate(const struct sp_hardware *hw);

/* A whole pod of a torus machine, or one full scale-up domain of a switched one. False where the
 * pod's size is not known. */
bool sp_whole_pod(const struct sp_hardware *hw, struct sp_hardware *pod);

/* A rail-optimised fat tree: every node is linked to every leaf of its scalable unit, leaves to
 * spines, and beyond the reach of one spine layer spines to cores. NVIDIA DGX SuperPOD reference
 * architecture; scaling book, "GPUs", quiz 3. */
struct sp_fabric_size {
    double scalable_units;         /* ceil(nodes / nodes of a unit) */
    double leafs;                  /* leaf switches */
    double uplinks;                /* cables of all nodes, and again above the leaves */
    double spines, cores;          /* the fewest switches that take every uplink */
    double node_bytes_per_s;       /* one node to its leaves, one way */
    double spine_ports;            /* ports of a spine towards the leaves */
    double su_ingress_bytes_per_s; /* nodes of a full unit (or all there are) to its leaves */
    double su_spine_bytes_per_s;   /* leaves of a full unit to the spines: half their ports */
    double spine_bytes_per_s;      /* all spines' ports towards the leaves */
    double spine_per_node_bytes_per_s;
};

/* NAN throughout for a machine without a described fabric, or for fewer than two nodes. */
struct sp_fabric_size sp_fabric_size(const struct sp_network *network, double nodes);

/* Peak of the vector unit. FLOP/s; NAN where nothing is published. TPU: one operation a cycle of
 * each ALU. GPU: the fp32 peak, which counts a multiplication and an addition as one operation of
 * two FLOPs; without `fused` half of it. Scaling book, "TPUs" and "GPUs". */
double sp_vector_flops_per_s(const struct sp_chip *chip, bool fused);

/* The switches of one level: all of them together, ports of each, and what one port and all of them
 * carry one way.
 * NAN where they are not described. */
struct sp_switch_level {
    double switches, ports, port_bytes_per_s, bytes_per_s;
};

/* From the devices up: inside the domains (NVSwitches), leaves, spines, cores. Scaling book,
 * "GPUs"; NVIDIA DGX SuperPOD reference architecture. */
enum {
    SP_SWITCHES_DOMAIN,
    SP_SWITCHES_LEAF,
    SP_SWITCHES_SPINE,
    SP_SWITCHES_CORE,
    SP_SWITCH_LEVELS
};
struct sp_switches {
    struct sp_switch_level level[SP_SWITCH_LEVELS];
};
struct sp_switches sp_switches_of(const struct sp_hardware *hw);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
