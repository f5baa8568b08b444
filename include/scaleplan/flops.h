/* FLOPs of training, by part; FLOPs, time and utilisation; one operation on the roofline. */
#ifndef SCALEPLAN_FLOPS_H
#define SCALEPLAN_FLOPS_H

#include <stdbool.h>

#include <scaleplan/forms.h>
#include <scaleplan/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == FLOPs ==
 *
 * FLOPs of training, by part, and the conversions between FLOPs, time and utilisation.
 */

/* Forward FLOPs of one token by part; training is three times that (two more in the backward pass).
 */
struct sp_flops {
    double mlp;         /* matrices of the MLP, experts passed, router */
    double projections; /* query, key, value and output projections */
    double attention;   /* scores and their weighted sum, at the given context */
    double unembedding; /* output head */
    double embedding;   /* the input table, if it is counted as a matmul; 0 otherwise */
    double total;
};

/* Tokens that a token counts as attending to in a sequence of `seq`, mean over the layers, the
 * causal half not taken off: seq, and with a window of W < seq twice the mean of min(i, W) over the
 * positions i, 2W - W^2/seq. Non-decreasing in seq. */
double sp_attended_tokens(const struct sp_model *model, double seq);

/* The sequence length at which it is `tokens`; INFINITY when a window keeps it below. */
double sp_seq_of_attended_tokens(const struct sp_model *model, double tokens);

/* Forward FLOPs of one token in a sequence of `seq` tokens. `causal` halves attention's part: a
 * token sees half of the others on average. NAN for a size-only model, but for total = 2 P. FLOPs.
 * Scaling book, "Transformers", counting FLOPs; 2 FLOPs per multiply-add. */
struct sp_flops sp_forward_flops_per_token(const struct sp_model *model, double seq, bool causal,
                                           bool count_embedding);

/* Forward FLOPs of one token that the backward pass runs again under a checkpoint policy. FLOPs.
 * Korthikanti et al. 2022, section 5; scaling book, "Training". */
double sp_recomputed_flops_per_token(const struct sp_flops *forward, enum sp_remat remat);

/* FLOPs of training on `tokens` tokens where some weights are frozen: 6 P - 2 P_frozen - 2 P_still
 * + 6 P_adapters a token, since a frozen matmul has a forward pass and a gradient of its input, and
 * none of its weight; below all that is trained (P_still, of P_frozen) it has a forward pass alone.
 * Scores are left out. FLOPs. Hu et al. 2021, "LoRA", section 4. */
double sp_tuning_flops(const struct sp_params *params, double tokens);

/* Sequence length at which attention's scores cost as much as everything else in the layers.
 * tokens; NAN with an encoder that has a number of tokens of its own. */
double sp_attention_crossover_tokens(const struct sp_model *model, bool causal);

/* Sequence length at which attention costs as much as the MLPs, from what both cost at `seq`; of a
 * model whose attention does not grow in proportion it is searched. tokens. */
double sp_attention_overtakes_mlp_tokens(const struct sp_model *model, double seq, bool causal);

/* Sequence length at which attention's scores cost as much as its projections. tokens. */
double sp_scores_equal_projections_tokens(const struct sp_model *model, bool causal);

/* Which FLOPs of training count as the model's. */
enum sp_flop_convention {
    SP_FLOPS_FULL,   /* three forward passes, all attention scores: PaLM, appendix B */
    SP_FLOPS_CAUSAL, /* the same with the half of the scores that a causal mask leaves */
    SP_FLOPS_6P,     /* 6 P_active a token, no scores: the scaling book */
    SP_FLOP_CONVENTIONS
};

/* FLOPs of training on `tokens` tokens in sequences of `seq` by a convention; by 6 P for a
 * size-only model. FLOPs. */
double sp_model_flops(const struct sp_model *model, double tokens, double seq,
                      enum sp_flop_convention convention);

/* Forward FLOPs of one token in layers that no gradient passes; 0 in ends and in an encoder. FLOPs.
 */
struct sp_flops sp_still_flops_per_token(const struct sp_model *model, double seq, bool causal);

/* What training computes for `tokens` tokens in sequences of `seq`, by a convention, what is run
 * again left out: sp_model_flops without the gradients of what is frozen, with the adapters. The
 * same as that where all is trained. FLOPs. */
double sp_tuned_flops(const struct sp_model *model, double tokens, double seq,
                      enum sp_flop_convention convention);

/* Bytes of keys and values that one token leaves in the cache of all layers: 2 b L K H, or the
 * latent of MLA. `element_bytes` per element. Scaling book, "Inference". */
double sp_kv_bytes_per_token(const struct sp_model *model, double element_bytes);

/*
 * == The roofline ==
 *
 * One operation on the roofline of a chip: arithmetic against the bytes it moves.
 */

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
struct sp_work sp_matmul_work(double rows, double inner, double columns, struct sp_operands bytes,
                              bool batched);

/* Rows at which that matmul takes as long in arithmetic as in memory,
 * (b_w D F / W) / (2DF/C - (b_a D + b_o F)/W); INFINITY when no number of rows is enough. Same
 * source. */
double sp_critical_rows(double inner, double columns, struct sp_operands bytes, double flops_per_s,
                        double bytes_per_s);

/* Dot product of two vectors of n: 2n - 1 FLOPs, two vectors in and one element out. Adding them: n
 * FLOPs, three vectors. Scaling book, "Rooflines". */
struct sp_work sp_dot_work(double length, double element_bytes);
struct sp_work sp_add_work(double length, double element_bytes);

/* A total with one more operation, done `count` times. */
struct sp_work sp_add_up(struct sp_work total, double count, struct sp_work one);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
