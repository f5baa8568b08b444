/* Inside of the estimator: operators of a layer and collectives of a plan. */
#ifndef SP_STEP_INTERNAL_H
#define SP_STEP_INTERNAL_H

#include <scaleplan/step.h>

#include "core/layers/layer_rank.h"
#include "core/smooth.h"

/* A constant of the profile. */
static inline double constant(const struct sp_step_inputs *in, enum sp_constant id)
{
    return in->profile->value[id];
}

/* Forward times of the operators of one layer for one micro-batch on one device. s. */
struct sp_layer_time {
    double of[SP_OPERATORS];
    double frozen; /* of the matmuls whose weights are frozen, adapters left out */
    double opened; /* of still layers, what widening weights in fewer bits takes */
    double spared; /* by how much twice the adapters' is more than their backward pass takes */
};
void sp_time_of_layer(const struct sp_step_inputs *in, const struct sp_rank *rank,
                      const struct sp_layer *layer, struct sp_layer_time *time);

/* Forward and backward of one layer for one micro-batch, of whose operators the backward pass runs
 * `again` of sp_repeated_shares once more. s. */
struct sp_layer_pass sp_pass_layer(const struct sp_step_inputs *in, const struct sp_rank *all,
                                   const struct sp_layer *layer, const struct sp_shares *again);

/* A layer that is not trained and that no gradient passes, from what it is with a backward pass:
 * that would take twice as long again. Tokens go to experts and back in half of the exchanges. s.
 */
struct sp_layer_pass sp_forward_alone(const struct sp_step_inputs *in,
                                      const struct sp_layer_pass *all);

/* What is left of a collective that hides behind work of `hides` seconds. s. */
double sp_exposed_s(const struct sp_step_inputs *in, double comm, double hides);

/* Collectives of one layer and micro-batch: TP and EP both ways and what recomputation repeats
 * (`again` of sp_repeated_shares), exposed, and TP's of the forward pass alone; CP both ways,
 * before it hides. s. */
double sp_tp_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *again);
double sp_tp_forward_s(const struct sp_step_inputs *in, const struct sp_layer *layer);
double sp_cp_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer);
double sp_ep_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *again);

/* What ring attention adds to a layer of one micro-batch, both ways: the partial results of its
 * cp - 1 further steps are read, and summed in 4 bytes. s. Liu et al. 2023, "Ring Attention". */
double sp_cp_merge_s(const struct sp_step_inputs *in, const struct sp_rank *rank,
                     const struct sp_layer *layer);

/* Gathering or reducing a stage's weights over the shards, dense ones over all of them and experts
 * over those that hold the same experts. s. */
double sp_shards_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                   double bytes_per_param);

/* All-reduce of a shard's gradients over replicas beyond the shards (HSDP, slices). s. */
double sp_replicas_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                     double bytes_per_param);

/* Parameters whose optimizer state a device owns. */
double sp_owned_params(const struct sp_step_inputs *in, const struct sp_stage_weights *held);

/* Reading and writing the states that a device owns of what it trains. s. */
double sp_optimizer_s(const struct sp_step_inputs *in, const struct sp_stage_weights *trained);

/* FLOPs that make the updates of a layer's matrices orthogonal, on the ranks that split them: T
 * Newton-Schulz iterations of three products, T 2 (2 n m^2 + m^3) for a matrix of n x m, m <= n.
 * Jordan et al. 2024, "Muon". */
struct sp_orthogonal sp_orthogonal_flops(const struct sp_step_inputs *in,
                                         const struct sp_layer *layer);

/* Adds those of this many layers. */
void sp_add_orthogonal(struct sp_orthogonal *sum, const struct sp_orthogonal *layer, double layers);

/* The same of a stage in time. Without ZeRO each replica does all; ranks that share optimizer
 * states have whole matrices each, so that the largest is on one; ZeRO 3 gathers them for it, and
 * scatters what comes out. s. */
double sp_orthogonal_s(const struct sp_step_inputs *in, const struct sp_kind_time *stage);

/* The gradient buckets of a device that trains `held` and takes backward_s for the backward pass of
 * a micro-batch; none with ZeRO 3, whose gradients are reduced a layer at a time, and for one
 * replica. */
struct sp_buckets sp_buckets_of(const struct sp_step_inputs *in,
                                const struct sp_stage_weights *held, double backward_s);

/* One send between stages. s. */
double sp_stage_hop_s(const struct sp_step_inputs *in);

/* A stage of that kind, one micro-batch, with its collectives of ZeRO 3: weights are gathered for
 * each pass and gradients reduced, 2 bytes each. s. */
struct sp_stage_time sp_sharded_kind(const struct sp_step_inputs *in,
                                     const struct sp_kind_time *kind);

#endif
