/* A machine: chips, measured kernels, networks, slices, and what follows from their published
 * figures. */
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
 * Measured speed of a chip's kernels and collectives: curves of a few constants over shape, format
 * and size, with the number of measurements behind each.
 */

enum sp_collective {
    SP_ALL_GATHER,
    SP_REDUCE_SCATTER,
    SP_ALL_REDUCE,
    SP_ALL_TO_ALL,
    SP_COLLECTIVES
};

/* Formats of measured kernels. Attention has the first two. */
enum sp_kernel_format {
    SP_KERNEL_BF16,
    SP_KERNEL_FP8, /* one scale per tensor or row */
    SP_KERNEL_ATTENTION_FORMATS,
    SP_KERNEL_FP8_BLOCK = SP_KERNEL_ATTENTION_FORMATS, /* one scale per 128 x 128 weights */
    SP_KERNEL_NVFP4,                                   /* one scale per 16 elements */
    SP_KERNEL_FORMATS
};

/* Matmuls in one format. */
struct sp_matmul_curve {
    double share;        /* of the dense peak, reached by large matmuls; NAN: not measured */
    double memory_share; /* of the memory bandwidth, reached by memory-bound matmuls */
    double launch_s;     /* fixed cost per launch */
    double half_tile;    /* mean rounding-up of a side, in elements */
    double cast_bytes;   /* moved per element of the 16-bit input to convert it */
    double rows;         /* number of measurements */
    double residual;     /* mean |ln(curve / measured)| */
};

/* Fused causal attention, forward pass. */
struct sp_attention_curve {
    double share;        /* of the dense peak; NAN: not measured */
    double launch_s;     /* fixed cost per launch */
    double fill_queries; /* queries, summed over heads, that run last while most of the chip is
                            idle */
    double edge_keys;    /* keys per query paid beyond the attended ones */
    double rows, residual;
};

/* A collective inside a scale-up domain, as NCCL runs it. */
struct sp_collective_curve {
    double share;          /* of the link rate, reached by long messages; NAN: not measured */
    double low_share;      /* the same for the protocol of short messages; NAN: only one protocol */
    double own_share;      /* time of a rank's own part relative to a part from another rank */
    double latency_s;      /* independent of group size */
    double rank_latency_s; /* per rank beyond the first */
    double floor_s;        /* least time per rank of the long-message protocol */
    double rows, residual;
};

/* A collective of one domain, or of several over one transport, as measured: start_s +
 * (sqrt(ramp_s)
 * + sqrt(b (1 + growth log2 M) / share))^2, with b the throughput bound of its slowest level and M
 * the number of domains. */
struct sp_transport_curve {
    double share;   /* of the bound's rate, reached by long messages in one domain or two; above 1
                       where switches add up; 0: not measured */
    double start_s; /* before the first byte */
    double ramp_s;  /* messages whose transfer takes this long reach a quarter of the share */
    double growth;  /* of the time per doubling of the domains */
    double rows, residual;
};

/* Of one domain and of several. */
struct sp_transport_curves {
    struct sp_transport_curve inside[SP_COLLECTIVES], across[SP_COLLECTIVES];
};

/* A chip's curves. */
struct sp_kernels {
    char name[64]; /* chip that was measured: this one or one of its family; "": none */
    struct sp_matmul_curve matmul[SP_KERNEL_FORMATS];
    struct sp_attention_curve attention[SP_KERNEL_ATTENTION_FORMATS];
    struct sp_collective_curve collective[SP_COLLECTIVES];
};

/* Marks all curves as not measured; the second function, only those of collectives. */
void sp_clear_kernels(struct sp_kernels *kernels);
void sp_clear_collectives(struct sp_kernels *kernels);

struct sp_chip;
struct sp_network;

/* Time (s) of a matmul [m, k] x [k, n] with 16-bit inputs and outputs and weights in the format:
 * launch + max(2 (m+h)(k+h)(n+h) / (share C), bytes / (memory_share W_hbm)) + cast_bytes m k /
 * W_hbm, with h the half tile and a smooth maximum. NAN if the curve or the format's peak is
 * unknown. Roofline: Williams et al. 2009. */
double sp_matmul_kernel_s(const struct sp_chip *chip, enum sp_kernel_format format, double rows,
                          double columns, double inner);

/* Time (s) of the forward pass of causal attention on one sequence of `seq` tokens: launch + 4 H
 * (heads (seq^2 / 2 + edge_keys seq) + fill_queries seq) / (share C). NAN if unknown. FLOPs of
 * causal attention: Dao 2023. */
double sp_attention_kernel_s(const struct sp_chip *chip, enum sp_kernel_format format, double heads,
                             double head_dim, double seq);

/* Share of the 16-bit peak that a chip's best measured attention kernel reaches over a forward and
 * a backward pass, and the share of a kernel written for the A100 (FlashAttention 2, Triton). NAN
 * if the chip's kernels were not measured. */
double sp_trained_attention_share(const struct sp_chip *chip, bool of_ampere);

/* Time (s) of a collective of `ranks` devices in one domain, each gathering, reducing or exchanging
 * `bytes`: with u = bytes (ranks - 1 + own_share) / (ranks W_gpu), doubled for an all-reduce,
 * latency + (ranks - 1) rank_latency + min(u / low_share, max(u / share, ranks floor)), a smooth
 * maximum. NAN if unknown. */
double sp_collective_kernel_s(const struct sp_kernels *kernels, const struct sp_network *network,
                              enum sp_collective op, double ranks, double bytes);

/*
 * == Chips, networks, slices ==
 */

enum { SP_MAX_AXES = 3, SP_MAX_SHAPES = 160 };

enum sp_network_kind { SP_TORUS, SP_SWITCHED };

/* Which axes of a torus slice wrap into rings. */
enum sp_wrap_rule {
    SP_WRAP_CUBE,     /* all, if every length is a multiple of 4 */
    SP_WRAP_AXIS16,   /* those of length 16 */
    SP_WRAP_FULL_POD, /* all, in a whole pod only */
    SP_WRAP_ALWAYS,
    SP_WRAP_NEVER
};

#define SP_MOST_FIGURE 1e18 /* a rate, size or price of a machine is at most this */

/* One chip. Unpublished figures are NAN. */
struct sp_chip {
    double peak_flops_per_s[SP_DTYPES]; /* C: dense, by enum sp_dtype */
    double hbm_bytes;                   /* physical capacity */
    double hbm_usable_bytes;            /* memory that the runtime grants */
    double hbm_bytes_per_s;             /* W_hbm */
    double vmem_bytes, vmem_bytes_per_s;
    double l2_bytes, smem_bytes_per_sm, register_bytes_per_sm;
    double sms, cores, mxus_per_core, mxu_dim, cuda_cores_per_sm, tensor_cores_per_sm;
    double vpu_lanes, vpu_sublanes, vpu_alus;
    double clock_hz, boost_clock_hz;
    double tensor_clock_hz; /* clock at which the tensor peak is stated; NAN: the boost clock */
    double nvlink_ports, nvlink_port_bytes_per_s;
    double pcie_bytes_per_s;
    double c2c_bytes_per_s; /* coherent link to the host's processor, one way; NAN: none */
    double tdp_w, price_usd_per_h;
    int64_t price_year;        /* of the list price; 0: not stated */
    char price_source[64];     /* who charges it; "": not stated */
    struct sp_kernels kernels; /* measured on it or its family; shares NAN: not measured */
};

struct sp_shape {
    int32_t axis[SP_MAX_AXES]; /* chips along each axis; 1 for an unused axis */
};

/* The switch tree above the nodes of a switched machine, in scalable units (SU). NAN if not
 * described. */
struct sp_fabric {
    double nodes_per_su;
    double leafs_per_su;   /* leaf switches per SU */
    double links_per_node; /* cables per node, spread over the unit's leaves */
    double switch_ports;   /* ports per switch; half of a leaf's lead upwards */
    double link_bytes_per_s;
};

/* A network. Bandwidths are one-way. */
struct sp_network {
    int kind;              /* enum sp_network_kind */
    double send_latency_s; /* latency of a send between pipeline stages */
    /* torus */
    int64_t axes;
    double link_bytes_per_s; /* w: one link, one direction */
    double hop_latency_s;    /* T_min; with switches per tree level. NAN: unknown */
    double most_hops;        /* bound on a collective's sequential hops: long rings are folded */
    int wrap;                /* enum sp_wrap_rule */
    int64_t chips_per_host;
    int64_t jax_devices_per_chip; /* JAX devices per chip; 0: one */
    double dcn_bytes_per_s_per_host;
    struct sp_shape pod_shape;
    struct sp_shape shapes[SP_MAX_SHAPES]; /* available slices, by rising size */
    int n_shapes;
    char cloud_name[32];
    int cloud_counts_cores;
    /* switched */
    int64_t domain;              /* D_n: devices of one scale-up (NVLink) domain */
    double domain_bytes_per_s;   /* W_gpu: egress of one device inside it */
    int64_t domain_links;        /* other devices that each device has a direct link to, all alike;
                                    0: switches */
    double scaleout_bytes_per_s; /* egress of one device beyond the domain; W_node is domain times
                                    this */
    bool scaleout_given;         /* for this machine, not its kind's standard */
    double domain_latency_s;     /* per ring step inside a domain */
    double scaleout_latency_s;   /* per ring step between domains */
    double host_memory_bytes;    /* per host, for all its devices */
    int64_t devices_per_host;    /* 0: as domain */
    int64_t domain_part;    /* devices per domain in jobs that do not fill whole domains; 0: all */
    double domain_switches; /* switches per domain and ports per switch; NAN: unknown */
    double domain_switch_ports;
    char scaleout_name[64];
    struct sp_fabric fabric;
    struct sp_transport_curves transport; /* of the scale-out network, where it was measured */
};

/* A scale-out network that replaces a machine's own. */
struct sp_scaleout {
    char name[64];
    double bytes_per_s; /* one-way */
    int per_node;       /* 0: one per device; 1: one shared by the devices of a domain */
    double latency_s;   /* per ring step; NAN: keep the machine's */
    struct sp_transport_curves transport;
};

/* A machine: `slices` slices of `chips_per_slice` chips each. */
struct sp_hardware {
    char name[64];
    char family[64];    /* chip whose calibrated profiles are used if this one has none; "": this
                           one */
    char made_from[64]; /* chip whose kernels and profiles it has as its own; "": those of its name
                         */
    char framework[64]; /* that plans with whole weights run; "": NeMo, or on a torus MaxText */
    struct sp_chip chip;
    struct sp_network network;
    int64_t chips_per_slice;
    int64_t slices;        /* joined by the data-centre network if more than 1 */
    struct sp_shape shape; /* torus only: the slice's axes */
};

int64_t sp_shape_chips(const struct sp_shape *shape);

/* Chips of all slices, N. */
int64_t sp_chips(const struct sp_hardware *hw);

/* Memory (bytes) that verdicts compare with: usable memory, or the physical capacity if that is
 * unknown. */
double sp_capacity_bytes(const struct sp_chip *chip);

/* Rate of the link between a chip and its host, one way: the coherent link if it has one, else
 * PCIe. Bytes/s; NAN: not known. */
double sp_host_bytes_per_s(const struct sp_chip *chip);

/* The format whose peak is used for `wanted`: itself if published, else its fallback (fp8 -> bf16
 * -> fp16, tf32 -> bf16, ...). SP_DTYPES if none is published. */
enum sp_dtype sp_compute_dtype(const struct sp_chip *chip, enum sp_dtype wanted);

/* The format in which engines multiply weights that are stored so: on a chip without arithmetic in
 * 4-bit floats they are widened to 16 bits, as by vLLM's Marlin kernels (vllm-project/vllm, pull
 * request 38728). */
enum sp_dtype sp_math_of_stored(const struct sp_chip *chip, enum sp_storage stored_as);

/* Whether axis `axis` of the slice is a ring. Axes of length 1 are not. */
bool sp_axis_wraps(const struct sp_hardware *hw, int axis);

/* All-gather rate (bytes/s of the gathered array) over a torus axis of `length` chips: 2w for a
 * ring, w length / (length - 1) for a line. Scaling book, "Sharding": V/(2w) with wraparound,
 * (X-1)/X V/w without. */
double sp_axis_bytes_per_s(double link_bytes_per_s, int64_t length, bool wraps);

/* The same over n axes together: 2w per ring plus w N/(N-1) per line, with N the devices of all
 * axes; axes of length 1 are skipped. A device at the end of every line has one link on each and
 * receives (N-1)/N of the array. bytes/s. */
double sp_axes_bytes_per_s(double link_bytes_per_s, int axes, const int64_t length[],
                           const bool wraps[]);

/* The same for the axes of a slice in the bit set `axes`. bytes/s. */
double sp_slice_axes_bytes_per_s(const struct sp_hardware *hw, unsigned axes);

/* sp_axis_bytes_per_s for a real length, above 1 on a line. bytes/s. */
double sp_axis_rate(double link_bytes_per_s, double length, bool wraps);

/* Rate (bytes/s) at which a device sends to the other `ranks` - 1 of its domain: full egress
 * through switches, else the direct links to that group. */
double sp_domain_bytes_per_s(const struct sp_network *network, double ranks);

/* W_dcn: egress of one chip into the data-centre network, its share of the host's. bytes/s. */
double sp_dcn_bytes_per_s_per_chip(const struct sp_network *network);

/* Scale-out rate (bytes/s) per device of a node with `devices` devices: its own line, or its share
 * of the node's. */
double sp_scaleout_bytes_per_s_per_device(const struct sp_scaleout *scaleout, int64_t devices);

/* Replaces the network beyond the domain by `scaleout`, and its latency if known. */
void sp_use_scaleout(struct sp_network *network, const struct sp_scaleout *scaleout);

/* Replaces every network of a switched machine by one line per device, which makes it a single
 * tier. Measured collectives no longer apply. */
void sp_use_everywhere(struct sp_hardware *hw, const struct sp_scaleout *scaleout);

/* W_node: egress of one scale-up domain into the scale-out network. bytes/s. */
double sp_node_bytes_per_s(const struct sp_network *network);

/* The most cubic available shape of `chips` chips; false if there is none. A single chip always
 * exists. */
bool sp_find_shape(const struct sp_network *network, int64_t chips, struct sp_shape *found);

/* Whether a pod has a part of this shape, sold or not, with its axes in any order. */
bool sp_pod_holds_shape(const struct sp_network *network, const struct sp_shape *wanted);

/* Whether this shape is available, with its axes in any order; `found` gets the listed order. */
bool sp_offers_shape(const struct sp_network *network, const struct sp_shape *wanted,
                     struct sp_shape *found);

/* Shrinks the domain of a switched machine to the part that a job of this size uses: 128 GB200 are
 * two racks with 64 of 72 each. Other jobs keep whole domains. */
void sp_use_domains(struct sp_network *network, int64_t chips);

/* Whether a slice of that many chips exists: an available shape; on switches a divisor of the
 * domain (or whole hosts of it), or whole domains. */
bool sp_offers_chips(const struct sp_network *network, int64_t chips);

/* Whether a plan can have that many chips: an existing slice, or on switches any part of one host,
 * such as 7 of 8 devices. */
bool sp_has_chips(const struct sp_network *network, int64_t chips);

/* Sets the machine's slices to `chips` chips with their shape and domains. False if it cannot have
 * that many; `hw` is then undefined. */
bool sp_take_slice(struct sp_hardware *hw, int64_t chips);

/* Makes a switched machine one of `nodes` domains with `devices` each: the part of every node that
 * a job uses, as 6 on each of 2. False if its domains do not have that many. */
bool sp_take_nodes(struct sp_hardware *hw, int64_t devices, int64_t nodes);

/* The nearest available size >= chips (`up`) or <= chips; 0 if none. */
int64_t sp_nearest_chips(const struct sp_network *network, int64_t chips, bool up);

/* Smallest available size of at least `chips` (real); NAN if none. */
double sp_smallest_slice(const struct sp_network *network, double chips);

/*
 * == Derived figures ==
 *
 * Units, clocks, ridge points, aggregates, bisection and switches, as products and quotients of
 * published figures. An unpublished one (NAN) makes everything derived from it NAN.
 */

/* Units and rates of a chip with streaming multiprocessors. Vector rates count one fp32 operation
 * per lane and cycle; `fma` counts a fused multiply-add as two. Scaling book, "GPUs", quiz 1. */
struct sp_gpu_units {
    double cuda_cores;   /* fp32 lanes: SMs x lanes per SM */
    double tensor_cores; /* SMs x tensor cores per SM */
    double vector_base_flops_per_s, vector_boost_flops_per_s;
    double fma_base_flops_per_s, fma_boost_flops_per_s;
    double tensor_over_vector;              /* dense 16-bit peak over vector_boost */
    double implied_clock_hz;                /* clock at which FMAs reach the fp32 peak */
    double tensor_clock_hz;                 /* clock at which the tensor peak is stated */
    double flops_per_cycle_per_tensor_core; /* dense 16-bit */
    double smem_bytes, register_bytes;      /* of all SMs */
    double on_chip_bytes;                   /* smem and registers together, without L2 */
    double nvlink_egress_bytes_per_s;       /* ports x one port, one way */
};
struct sp_gpu_units sp_gpu_units(const struct sp_chip *chip);

/* Units and rates of a chip with TensorCores (TPU). A systolic array of side d does d^2
 * multiply-adds per cycle. Scaling book, "TPUs". */
struct sp_tpu_units {
    double mxus;                /* cores x arrays per core */
    double mxu_flops_per_cycle; /* 2 d^2 */
    double mxu_flops_per_s;     /* one array at the chip's clock */
    double mxus_flops_per_s;    /* all arrays: the peak implied by the units */
    double vpu_alus;            /* cores x lanes x sublanes x ALUs */
    double vpu_core_ops_per_s;  /* one core, one operation per ALU and cycle */
    double vpu_ops_per_s;       /* all cores */
    double matrix_over_vector;  /* dense 16-bit peak over vpu_ops_per_s */
};
struct sp_tpu_units sp_tpu_units(const struct sp_chip *chip);

/* The format of the chip's 16-bit matmuls: bf16, or fp16 if it has no bf16. */
enum sp_dtype sp_dtype16(const struct sp_chip *chip);

/* C, dense 16-bit peak. FLOP/s. */
double sp_peak16_flops_per_s(const struct sp_chip *chip);

/* Ridge point C/W (FLOPs/byte): matmuls in `dtype` of higher intensity are compute-bound at
 * `bytes_per_s`. For 16-bit operands it is also the critical batch in rows. NAN if the chip
 * publishes no peak for `dtype` (no fallback). Scaling book, "Rooflines". */
double sp_ridge(const struct sp_chip *chip, enum sp_dtype dtype, double bytes_per_s);

/* A chip's networks: rates in bytes/s, alpha in FLOPs/byte of 16-bit matmuls, and ratios to HBM
 * bandwidth. NAN for networks that this kind of machine does not have. Scaling book, "TPUs",
 * "Training", "GPUs". */
struct sp_chip_networks {
    /* torus */
    double axis_bytes_per_s;   /* W_ici: both directions of one wrapped axis, 2 w */
    double egress_bytes_per_s; /* all links, one way */
    double dcn_bytes_per_s;    /* W_dcn: host egress / chips per host */
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

int64_t sp_chips_per_host(const struct sp_network *network);

/* Links crossed by the cheapest cut of a torus slice into halves: the chips across the cut axis,
 * doubled if that axis is a ring. NAN for one chip. */
double sp_bisection_links(const struct sp_hardware *hw);

/* Totals of a machine, and its bisection. */
struct sp_aggregate {
    double chips;
    double hosts;           /* per slice ceil(chips / chips per host) */
    double nodes;           /* scale-up domains; NAN on a torus */
    double cores;           /* TensorCores; NAN for other chips */
    double flops_per_s;     /* dense 16-bit peak */
    double hbm_bytes;       /* physical */
    double usable_bytes;    /* memory that the runtime grants */
    double hbm_bytes_per_s; /* memory bandwidth */
    double links;           /* torus: links crossed by the bisection of one slice */
    /* Between the halves of one slice, node or (several nodes) cluster without oversubscription:
     * both directions summed, and one way. */
    double bisection_bytes_per_s, bisection_one_way_bytes_per_s;
    double egress_bytes_per_s; /* torus: all hosts into the data-centre network; switched: one
                                  node into the scale-out network */
    double power_w, price_usd_per_h;
};
struct sp_aggregate sp_aggregate(const struct sp_hardware *hw);

/* A whole pod of a torus, or one full scale-up domain. False if the pod's size is unknown. */
bool sp_whole_pod(const struct sp_hardware *hw, struct sp_hardware *pod);

/* A rail-optimised fat tree: each node has links to every leaf of its scalable unit, leaves to
 * spines, and spines to cores if one spine layer does not reach. NVIDIA DGX SuperPOD reference
 * architecture; scaling book, "GPUs", quiz 3. */
struct sp_fabric_size {
    double scalable_units;         /* ceil(nodes / nodes per unit) */
    double leafs;                  /* leaf switches */
    double uplinks;                /* cables of all nodes; as many lead up from the leaves */
    double spines, cores;          /* fewest switches that take every uplink */
    double node_bytes_per_s;       /* one node to its leaves, one way */
    double spine_ports;            /* ports per spine towards the leaves */
    double su_ingress_bytes_per_s; /* nodes of a full unit (or of all, if fewer) to its leaves */
    double su_spine_bytes_per_s;   /* leaves of a full unit to the spines: half their ports */
    double spine_bytes_per_s;      /* all spines' ports towards the leaves */
    double spine_per_node_bytes_per_s;
};

/* All NAN for a machine without a described fabric, or fewer than two nodes. */
struct sp_fabric_size sp_fabric_size(const struct sp_network *network, double nodes);

/* Peak of the vector unit (FLOP/s); NAN if unpublished. TPU: one operation per ALU and cycle. GPU:
 * the fp32 peak, which counts a fused multiply-add as two FLOPs; half of it without `fused`.
 * Scaling book, "TPUs" and "GPUs". */
double sp_vector_flops_per_s(const struct sp_chip *chip, bool fused);

/* One switch level: number of switches, ports per switch, one-way rate of a port and of all ports.
 * NAN if not described. */
struct sp_switch_level {
    double switches, ports, port_bytes_per_s, bytes_per_s;
};

/* Levels from the devices up: domain switches (NVSwitch), leaves, spines, cores. Scaling book,
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
