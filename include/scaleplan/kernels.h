/* What kernels and collectives of a chip were measured to reach: curves of a few constants over
 * shape, format and size, each with the rows that it rests on. */
#ifndef SCALEPLAN_KERNELS_H
#define SCALEPLAN_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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
double sp_matmul_kernel_s(const struct sp_chip *chip, enum sp_kernel_format format, double m,
                          double n, double k);

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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
