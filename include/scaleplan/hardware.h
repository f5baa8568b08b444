/* Chips, the networks between them, and the sizes a machine comes in. */
#ifndef SCALEPLAN_HARDWARE_H
#define SCALEPLAN_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/kernels.h>
#include <scaleplan/precision.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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
double sp_axes_bytes_per_s(double link_bytes_per_s, int n, const int64_t length[],
                           const bool wraps[]);

/* The same for axes of a slice: bit i of `axes` is axis i. bytes/s. */
double sp_slice_axes_bytes_per_s(const struct sp_hardware *hw, unsigned axes);

/* The same for a length X that is no whole number, above 1 on a line. bytes/s. */
double sp_axis_rate(double link_bytes_per_s, double X, bool wraps);

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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
