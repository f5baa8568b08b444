/* One operation on the roofline of a chip: arithmetic against the bytes it moves. */
#ifndef SCALEPLAN_ROOFLINE_H
#define SCALEPLAN_ROOFLINE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* FLOPs and bytes of an operation. */
struct sp_work {
    double flops, bytes;
};

/* Bytes of an element of the left operand, the weights and the output. */
struct sp_operands {
    double a_bytes, w_bytes, out_bytes;
};

/* Matmul [B,D] x [D,F]: 2BDF FLOPs; b_a BD + b_w DF + b_o BF bytes. `batched`: a weight matrix of
 * its own for each of the B rows. Scaling book, "Rooflines". */
struct sp_work sp_matmul_work(double B, double D, double F, struct sp_operands bytes, bool batched);

/* The same where the weights are taken for all that moves, b_w DF: B much smaller than D and F. */
struct sp_work sp_matmul_weights_work(double B, double D, double F, double w_bytes, bool batched);

/* Rows at which that matmul takes as long in arithmetic as in memory,
 * (b_w D F / W) / (2DF/C - (b_a D + b_o F)/W); INFINITY when no number of rows is enough. Same
 * source. */
double sp_critical_rows(double D, double F, struct sp_operands bytes, double C, double W);

/* Rows at which a matmul whose weights are nearly all it moves (B much smaller than D and F) takes
 * as long in arithmetic as in memory: (C / W) (b_w / 2), times E/k for a mixture of experts. */
double sp_critical_rows_small(double w_bytes, double C, double W, double expert_ratio);

/* Dot product of two vectors of n: 2n - 1 FLOPs, two vectors in and one element out. Adding them: n
 * FLOPs, three vectors. Scaling book, "Rooflines". */
struct sp_work sp_dot_work(double n, double element_bytes);
struct sp_work sp_add_work(double n, double element_bytes);

/* Attention without its projections, fused, for T queries on S keys, G = heads / kv_heads: FLOPs
 * per byte S T G / (T G + S) with 2-byte elements. Scaling book, "Transformers", question 4. */
double sp_attention_intensity(double T, double S, double G);

/* Prefill length (S = T) at which that intensity reaches a ridge: ridge (G + 1) / G. tokens. */
double sp_attention_ridge_tokens(double ridge, double G);

/* Contracting dimension above which a matmul split over it on two chips hides the exchange of its
 * partial sums over links of W bytes/s: 2 C / W. Scaling book, "Rooflines". */
double sp_min_contracting_dim(double C, double W);

/* Three-way roofline of a matmul [B,D] x [D,F] over N chips whose memory together reads W_hbm
 * bytes/s and whose arithmetic is C FLOP/s: its input gathered over links of W_ici bytes/s, b_a B D
 * / W_ici; its weights read, b_w D F / W_hbm; 2 B D F / C. s. Scaling book, "Applied Inference". */
struct sp_three_way {
    double ici_s, hbm_s, math_s;
};
struct sp_three_way sp_three_way(double B, double D, double F, struct sp_operands bytes, double C,
                                 double W_hbm, double W_ici);

/* Rate that an operation of `intensity` FLOPs per byte can reach: min(C, W intensity). FLOP/s.
 * Scaling book, "Rooflines". */
double sp_attainable_flops_per_s(double intensity, double C, double W);

/* A size padded to a multiple of the matrix unit's side. */
double sp_padded(double size, double side);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
