/* What one device has of a layer under a plan: its part of each matmul, and its tokens. */
#ifndef SP_LAYER_RANK_H
#define SP_LAYER_RANK_H

#include <scaleplan/memory.h>

enum { SP_ELEMENT = 2 }; /* bytes of an activation, and of a weight or gradient on its way */

/* Tokens of one micro-batch on one sequence shard. */
double sp_shard_tokens(const struct sp_plan *plan);

/* The rank of a layer with tokens of its own, in sequences of `seq`: its tokens, and those of the
 * encoder for each of them. */
struct sp_rank sp_rank_of_layer(const struct sp_rank *rank, const struct sp_layer *layer,
                                double seq);

/* What comes out of a matmul on each of `ranks` that split its columns. */
double sp_columns_on_rank(const struct sp_matmul *matmul, double ranks);

/* The share of each operator that runs again; 0 for SP_OPERATORS, which stands for none. */
struct sp_shares {
    double of[SP_OPERATORS + 1];
};
struct sp_shares sp_shares_of(const struct sp_recompute *recompute);

/* The share of each operator that is computed again: as sp_shares_of, without the last matmul of a
 * block where the framework stops before it. */
struct sp_shares sp_repeated_shares(const struct sp_recompute *recompute,
                                    const struct sp_framework *framework);

/* Bytes of activations that one layer keeps for one micro-batch on one device. Korthikanti et al.
 * 2022, section 4, with flash attention, grouped queries, gated MLPs, latent attention and mixtures
 * of experts. */
double sp_kept_bytes(const struct sp_layer *layer, const struct sp_rank *rank,
                     const struct sp_plan *plan, const struct sp_framework *framework,
                     const struct sp_recompute *recompute);

/* Weights that one device has of a stage of that kind. Parameters. */
struct sp_kind_weights sp_weights_of_kind(const struct sp_layer_weights *weights,
                                          const struct sp_stage_kind *kind);

/* The adapters of a matmul on a device: the side that TP splits is split, the other is whole.
 * Parameters. */
double sp_adapters_on_rank(const struct sp_matmul *matmul, const struct sp_rank *rank);

/* Elements of TransformerEngine's dummies, one weight gradient for each shape of weight, on a stage
 * that has layers of the kinds whose bits are set in `present`. */
double sp_dummy_elements(const struct sp_layers *layers, const struct sp_rank *rank,
                         unsigned present);

#endif
