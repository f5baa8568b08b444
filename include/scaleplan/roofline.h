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

/* Rows at which that matmul takes as long in arithmetic as in memory,
 * (b_w D F / W) / (2DF/C - (b_a D + b_o F)/W); INFINITY when no number of rows is enough. Same
 * source. */
double sp_critical_rows(double D, double F, struct sp_operands bytes, double C, double W);

/* Dot product of two vectors of n: 2n - 1 FLOPs, two vectors in and one element out. Adding them: n
 * FLOPs, three vectors. Scaling book, "Rooflines". */
struct sp_work sp_dot_work(double n, double element_bytes);
struct sp_work sp_add_work(double n, double element_bytes);

/* A total with one more operation, done `count` times. */
struct sp_work sp_add_up(struct sp_work total, double count, struct sp_work one);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
