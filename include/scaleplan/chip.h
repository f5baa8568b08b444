/*
 * What follows from a chip's and a machine's own figures: units, clocks, ridge points, aggregates,
 * bisection and switches. Products and quotients of published figures; what is not published (NAN)
 * makes everything that needs it NAN.
 */
#ifndef SCALEPLAN_CHIP_H
#define SCALEPLAN_CHIP_H

#include <scaleplan/hardware.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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

/* The switches of one level: all of them together, ports of each, and what one port and
 * all of them carry one way.
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
