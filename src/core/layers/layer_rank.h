/* One device's part of a layer under a plan: its share of matmuls and tokens. */
#ifndef SP_LAYER_RANK_H
#define SP_LAYER_RANK_H

#include <scaleplan/memory.h>

#include "core/layers/layer_kinds.h"

enum { SP_ELEMENT = 2 }; /* bytes per activation, and per weight or gradient sent */

/* Tokens of one micro-batch per sequence shard. */
double sp_shard_tokens(const struct sp_plan *plan);

/* The rank for a layer with its own tokens, in sequences of `seq`: sets its tokens, and encoder
 * tokens per token. */
struct sp_rank sp_rank_of_layer(const struct sp_rank *rank, const struct sp_layer *layer,
                                double seq);

/* Output columns of a matmul on each of `ranks` ranks. */
double sp_columns_on_rank(const struct sp_matmul *matmul, double ranks);

/* A share of each operator, and of each further row of sp_kept_bytes. */
struct sp_shares {
    double of[SP_KEPT_ROWS];
};

/* Recomputed share of each operator; 0 for the further rows. */
struct sp_shares sp_shares_of(const struct sp_recompute *recompute);

/* That of the routed experts' first matmul alone. */
double sp_repeated_experts(const struct sp_recompute *recompute);

/* The share of each operator computed again: sp_shares_of without the last matmul of a block if the
 * framework stops early. */
struct sp_shares sp_repeated_shares(const struct sp_recompute *recompute,
                                    const struct sp_framework *framework);

/* Kept activation bytes per layer, micro-batch and device, without recomputation. Korthikanti et
 * al. 2022, section 4, with flash attention, grouped queries, gated MLPs, latent attention and
 * mixtures of experts. */
void sp_list_kept(const struct sp_layer *layer, const struct sp_rank *rank,
                  const struct sp_plan *plan, const struct sp_framework *framework,
                  struct sp_kept_bytes *kept);

/* sp_activation_bytes_per_token_layer of a model that is listed. */
double sp_kept_bytes_per_token_layer(const struct sp_layers *layers, enum sp_remat remat);

/* The share of each row that a recomputation keeps; and the bytes of all rows with these shares, or
 * whole (NULL). */
struct sp_shares sp_kept_shares(const struct sp_recompute *recompute);
double sp_sum_kept(const struct sp_kept_bytes *kept, const struct sp_shares *shares);

/* Of these, the bytes that wait in host memory if a layer's activations do, by recompute->away. */
double sp_sum_away(const struct sp_kept_bytes *kept, const struct sp_shares *shares, unsigned away);

/* Weights per device of a stage of that kind. Parameters. */
struct sp_kind_weights sp_weights_of_kind(const struct sp_layer_weights *weights,
                                          const struct sp_stage_kind *kind);

/* Adapter weights of a matmul per device: TP splits the side that it splits in the matmul.
 * Parameters. */
double sp_adapters_on_rank(const struct sp_matmul *matmul, const struct sp_rank *rank);

/* Elements of TransformerEngine's dummy gradients, one per weight shape, on a stage with the layer
 * kinds (bits) in `present`. */
double sp_dummy_elements(const struct sp_layers *layers, const struct sp_rank *rank,
                         unsigned present);

#endif
