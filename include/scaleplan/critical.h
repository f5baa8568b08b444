/* Critical batches and degrees: where communication and arithmetic take equally long. Their closed
 * forms are rows of forms/critical.def; here is what is more than an expression. */
#ifndef SCALEPLAN_CRITICAL_H
#define SCALEPLAN_CRITICAL_H

#include <stdint.h>

#include <scaleplan/collective.h>
#include <scaleplan/fit.h>
#include <scaleplan/forms.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The largest whole TP degree that this machine hides: inside a scale-up domain at its bandwidth,
 * beyond it or on a torus at that of the slowest level. 0 when even TP of 1 would wait. */
int64_t sp_usable_tp_degree(const struct sp_fit_terms *t, int64_t domain);

/* What sp_critical_fsdp_tp multiplies by: 4 where collectives take turns, 1 where they overlap. */
double sp_turns(enum sp_overlap overlap);

/* Tokens per chip that the network between slices needs, r C / (M W_dcn); 0 for one slice. */
double sp_critical_dcn(const struct sp_fit_terms *t);

/* Tokens per chip below which a split waits that needs `ici` of them inside a slice and `dcn`
 * between slices: the larger, or in turn the x at which 2 sqrt(ici / 4x) + dcn / x is 1. */
double sp_critical_across_slices(double ici, double dcn, enum sp_overlap overlap);

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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
