/* FLOPs of training by part, their conversions, and the roofline of one operation. */
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
 */

/* Forward FLOPs per token by part. Training takes three times as many (two more in the backward
 * pass). */
struct sp_flops {
    double mlp;         /* MLP matrices, active experts, router */
    double projections; /* query, key, value and output projections */
    double attention;   /* scores and the weighted sum of values */
    double unembedding; /* output head */
    double embedding;   /* input table if counted as a matmul; else 0 */
    double total;
};

/* Tokens that a token attends to in a sequence of `seq`, mean over layers, without the causal half:
 * sp_mixer_tokens of each kind. */
double sp_attended_tokens(const struct sp_model *model, double seq);

/* Inverse of sp_attended_tokens: the sequence length at which it is `tokens`, in whole chunks;
 * INFINITY if a window or a chunk keeps it below. */
double sp_seq_of_attended_tokens(const struct sp_model *model, double tokens);

/* Forward FLOPs per token in a sequence of `seq` tokens, 2 per multiply-add. `causal` halves the
 * attention part. For a size-only model total = 2 P and the parts are NAN. Scaling book,
 * "Transformers". */
struct sp_flops sp_forward_flops_per_token(const struct sp_model *model, double seq, bool causal,
                                           bool count_embedding);

/* Forward FLOPs per token that the backward pass repeats under a policy. Korthikanti et al. 2022,
 * section 5; scaling book, "Training". */
double sp_recomputed_flops_per_token(const struct sp_flops *forward, enum sp_remat remat);

/* FLOPs of training on `tokens` tokens with frozen weights, scores left out: 6 (P - P_idle) - 2
 * P_frozen - 2 P_still + 6 P_adapters per token. A frozen matmul has no weight gradient; below the
 * first trained layer (P_still, part of P_frozen) it has no input gradient either. A frozen table
 * (P_idle) is read, not multiplied. Hu et al. 2021, "LoRA", section 4. */
double sp_tuning_flops(const struct sp_params *params, double tokens);

/* Sequence length (tokens) at which attention scores cost as much as all other work of the layers;
 * NAN for an encoder with its own number of tokens. */
double sp_attention_crossover_tokens(const struct sp_model *model, bool causal);

/* Sequence length (tokens) at which attention costs as much as the MLPs, extrapolated from `seq`;
 * found by search if attention is not proportional to it. */
double sp_attention_overtakes_mlp_tokens(const struct sp_model *model, double seq, bool causal);

/* Sequence length (tokens) at which attention scores cost as much as attention's projections. */
double sp_scores_equal_projections_tokens(const struct sp_model *model, bool causal);

/* Which FLOPs count as model FLOPs. */
enum sp_flop_convention {
    SP_FLOPS_FULL,   /* three forward passes, all attention scores: PaLM, appendix B */
    SP_FLOPS_CAUSAL, /* the same with causal scores: half */
    SP_FLOPS_6P,     /* 6 P_active per token, no scores: the scaling book */
    SP_FLOP_CONVENTIONS
};

/* FLOPs of training on `tokens` tokens in sequences of `seq` by a convention; 6 P per token for a
 * size-only model. */
double sp_model_flops(const struct sp_model *model, double tokens, double seq,
                      enum sp_flop_convention convention);

/* Forward FLOPs per token of layers that no gradient passes; 0 for embedding and head. */
struct sp_flops sp_still_flops_per_token(const struct sp_model *model, double seq, bool causal);

/* Computed FLOPs of training on `tokens` tokens in sequences of `seq`, without recomputation:
 * sp_model_flops less the gradients of frozen weights, plus adapters. Equal to it if all is
 * trained. */
double sp_tuned_flops(const struct sp_model *model, double tokens, double seq,
                      enum sp_flop_convention convention);

/* KV cache bytes per token over all layers: 2 b L K H, or the latent of MLA, with `element_bytes`
 * per element. Scaling book, "Inference". */
double sp_kv_bytes_per_token(const struct sp_model *model, double element_bytes);

/*
 * == The roofline ==
 */

/* FLOPs and bytes of an operation. */
struct sp_work {
    double flops, bytes;
};

/* Bytes per element of the left operand, the weights and the output. */
struct sp_operands {
    double a_bytes, w_bytes, out_bytes;
};

/* Matmul [B,D] x [D,F]: 2BDF FLOPs and b_a BD + b_w DF + b_o BF bytes. `batched`: each of the B
 * rows has its own weight matrix. Scaling book, "Rooflines". */
struct sp_work sp_matmul_work(double rows, double inner, double columns, struct sp_operands bytes,
                              bool batched);

/* Rows at which that matmul's arithmetic and memory times are equal, (b_w D F / W) / (2DF/C - (b_a
 * D + b_o F)/W); INFINITY if always memory-bound. Same source. */
double sp_critical_rows(double inner, double columns, struct sp_operands bytes, double flops_per_s,
                        double bytes_per_s);

/* Dot product of two vectors of length n: 2n - 1 FLOPs, reads two vectors, writes one element. Sum
 * of two vectors: n FLOPs, three vectors; with one of them times a number, 2 per element (axpy).
 * Scaling book, "Rooflines". */
struct sp_work sp_dot_work(double length, double element_bytes);
struct sp_work sp_add_work(double length, double flops_per_element, double element_bytes);

/* `total` plus `count` times `one`. */
struct sp_work sp_add_up(struct sp_work total, double count, struct sp_work one);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
