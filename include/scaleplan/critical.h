/* Critical batches and degrees: where communication and arithmetic take equally long. */
#ifndef SCALEPLAN_CRITICAL_H
#define SCALEPLAN_CRITICAL_H

#include <stdint.h>

#include <scaleplan/collective.h>
#include <scaleplan/fit.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Tokens per chip below which DP and FSDP over links of W bytes/s wait for them: r C / W.
 * Scaling book, "Training": B/X > alpha / n for n axes; chapter "GPUs": B/N > C / W, MoE times E/k.
 */
double sp_critical_tokens_per_chip(double C, double W, double r);

/* Largest TP degree that hides its communication: F W / C, independent of the batch.
 * Scaling book, "Training", tensor parallelism: Y < n F / alpha. */
double sp_max_tp_degree(double C, double W, double F);

/* The largest whole TP degree that this machine hides: inside a scale-up domain at its bandwidth,
 * beyond it or on a torus at that of the slowest level. 0 when even TP of 1 would wait. */
int64_t sp_usable_tp_degree(const struct sp_fit_terms *t, int64_t domain);

/* Tokens per chip below which the best FSDP x TP split waits: r C^2 / (W_X W_Y F), four times that
 * when collectives of the two axes take turns. Scaling book, "Training", mixed FSDP and TP. */
double sp_critical_tokens_per_chip_mixed(double C, double W_X, double W_Y, double F, double r,
                                         enum sp_overlap overlap);

/* The FSDP degree that balances both collectives: sqrt(B N W_X / (r F W_Y)). */
double sp_optimal_fsdp_degree(double B, double N, double W_X, double W_Y, double F, double r);

/* Tokens per chip that the network between slices asks for, r C / (M W_dcn); 0 for one slice. */
double sp_critical_dcn(const struct sp_fit_terms *t);

/* Tokens per chip below which a split waits that needs `ici` of them inside a slice and `dcn`
 * between slices: the larger, or in turn the x at which 2 sqrt(ici / 4x) + dcn / x is 1. */
double sp_critical_across_slices(double ici, double dcn, enum sp_overlap overlap);

/* The C to put into these formulas, which count 2 bytes an element, where the wire carries
 * `wire_bytes`: C wire / 2. FLOP/s. */
double sp_peak_of_wire(double C, double wire_bytes);

/* Smallest MLP width that hides tensor parallelism of degree Y over links of W bytes/s: Y C / W.
 * columns. Scaling book, "Training", tensor parallelism. */
double sp_min_d_ff_for_tp(double Y, double C, double W);

/* Largest power of two up to F W / C and up to the devices of a node; 0.5 and less when even 1
 * would wait. */
double sp_practical_tp(double F, double W, double C, double domain);

/* Smallest expert width that hides expert parallelism over Z devices in nodes of `domain` (8), k
 * experts a token: the larger of what the two all-to-alls ask for across nodes, (C/W_node)
 * (Z - domain) / k times min(domain k / Z, 1), and inside one, (C/W_gpu) (min(Z, domain) - 1) / k
 * times min(k / Z, 1), where each of the B/Z tokens of a device goes to k of Z. columns. Scaling
 * book, "GPUs", expert parallelism (F > alpha (Z-8)/k, and F > 8 alpha for Z >> k; it leaves out
 * what stays inside a node, which is all there is for Z <= domain). */
double sp_min_d_ff_for_ep(double Z, double k, double domain, double C, double W_gpu, double W_node);

/* The same on a group of Z chips of a torus: two all-to-alls of k B tokens, 4 k B D bytes over
 * Z w / sp_exchange_pairs, against 4 k B D F / (Z C): C sp_exchange_pairs / w, A/4 C / W_ici on
 * rings of at most A chips; times min(Z / k, 1), for a token goes to a chip once. columns. */
double sp_min_d_ff_for_ep_torus(double k, double C, const struct sp_torus_group *group);

/* Its limit for many devices, with which it is enough at any degree: (C/W) domain. columns. */
double sp_min_d_ff_for_ep_limit(double domain, double C, double W);

/* Nodes that the model-parallel ranks of one replica span: p stages times TP beyond a node. The
 * gradient traffic of a node, and with it the critical batch across nodes, is divided by it.
 * Scaling book, "GPUs". */
double sp_model_parallel_nodes(double tp, double pp, double domain);

/* A split of N chips into X shards and a TP group of Y = N / X, Y a power of two. */
struct sp_split {
    double fsdp, tp;
    double fsdp_load, tp_load; /* r C X / (W_X B), C Y / (W_Y F) */
    double comms_over_math;    /* their largest, or their sum when axes take turns */
};

/* The power-of-two split with the least communication, on axes of W_X and W_Y bytes/s. Y runs from
 * 1 to the largest power of two that divides N. Scaling book, "Training", mixed FSDP and TP. */
struct sp_split sp_best_pow2_split(double B, int64_t N, double F, double C, double W_X, double W_Y,
                                   double r, enum sp_overlap overlap);

/* Seconds of one step on one chip with b tokens, P_active parameters that a token passes, C FLOP/s:
 * arithmetic 6 P b / C; what DP and FSDP move, the arithmetic at their critical batch whatever b
 * is; the best FSDP x TP split, 6 P sqrt(b critical) / C; TP of degree Y, the arithmetic times Y
 * over the largest degree that hides. Scaling book, "Training". */
double sp_chip_math_s(double P_active, double b, double C);
double sp_chip_fsdp_comms_s(double P_active, double critical, double C);
double sp_chip_mixed_comms_s(double P_active, double b, double critical, double C);
double sp_chip_tp_comms_s(double P_active, double b, double C, double Y, double largest_Y);

/* The power of two nearest to x on a logarithmic scale. */
double sp_nearest_pow2(double x);

/* Bytes one layer's two matrices move in forward and backward pass, 16-bit, before any division by
 * bandwidth: DP 8DF, FSDP 12DF, TP 8BD, FSDP over X with TP over Y 12 (BD/X + DF/Y). Scaling book,
 * "Training", table of strategies. */
struct sp_layer_bytes {
    double dp, fsdp, tp, mixed;
};
struct sp_layer_bytes sp_layer_bytes(double B, double D, double F, double X, double Y);

/* Chips above which weights kept in place in two dimensions move less than tensor parallelism over
 * three axes, 32 (F/D) (3/4)^2, and the split that moves least: X = sqrt(N D / 2F), the rest N / X.
 * Scaling book, "Sharding" and "Inference", 2D weight-stationary sharding. */
double sp_stationary_min_chips(double D, double F);
double sp_stationary_x(double N, double D, double F);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
