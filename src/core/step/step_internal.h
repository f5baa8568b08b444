/* Internals of the estimate: operators of a layer, collectives of a plan. */
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

/* Forward times of a layer's operators, one micro-batch, one device. s. */
struct sp_layer_time {
    double of[SP_OPERATORS];
    double frozen; /* matmuls with frozen weights, without adapters */
    double opened; /* untrained layers: dequantising weights */
    double spared; /* excess of twice the adapters' forward time over their backward time */
};
void sp_time_of_layer(const struct sp_step_inputs *in, const struct sp_rank *rank,
                      const struct sp_layer *layer, struct sp_layer_time *time);

/* Forward and backward pass of one layer and micro-batch; the backward pass repeats `again`
 * (sp_repeated_shares). s. */
struct sp_layer_pass sp_pass_layer(const struct sp_step_inputs *in, const struct sp_rank *all,
                                   const struct sp_layer *layer, const struct sp_shares *again);

/* A layer that no gradient passes, from its time with a backward pass, which takes twice the
 * forward pass. Only half of the expert exchanges remain. s. */
struct sp_layer_pass sp_forward_alone(const struct sp_step_inputs *in,
                                      const struct sp_layer_pass *all);

/* sp_step_recomputed_flops of a model whose layers are listed. */
double sp_recomputed_flops_of(const struct sp_layers *layers, const struct sp_plan *plan,
                              const struct sp_framework *framework, bool causal);

/* Exposed part of a collective that overlaps `hides` seconds of work. s. */
double sp_exposed_s(const struct sp_step_inputs *in, double comm, double hides);

/* Collectives of one layer and micro-batch: exposed TP and EP in both passes with what
 * recomputation repeats (`again` of sp_repeated_shares), and TP of the forward pass alone; CP in
 * both passes, before overlap. s. */
double sp_tp_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *again);
double sp_tp_forward_s(const struct sp_step_inputs *in, const struct sp_layer *layer);
double sp_cp_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer);
double sp_ep_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *again);

/* Merging partial results in ring attention, per layer and micro-batch, both passes: those of the
 * cp - 1 further steps are read and summed in 4 bytes. s. Liu et al. 2023, "Ring Attention". */
double sp_cp_merge_s(const struct sp_step_inputs *in, const struct sp_rank *rank,
                     const struct sp_layer *layer);

/* Gather or reduction of a stage's weights over the shards: dense ones over all, experts over those
 * with the same experts. s. */
double sp_shards_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                   double bytes_per_param);

/* What broadcasts of updated weights from each owner take beyond a gather of the same bytes; 0
 * where the framework gathers, or a group lies in one node. s. */
double sp_broadcasts_s(const struct sp_step_inputs *in);

/* All-reduce of a shard's gradients over replicas of the shards (HSDP, slices). s. */
double sp_replicas_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                     double bytes_per_param);

/* Parameters whose optimizer states a device owns. */
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

/* Gradient buckets of a device that trains `held`, with backward_s per micro-batch's backward pass.
 * None for one replica, or with ZeRO 3, which reduces layer by layer. */
struct sp_buckets sp_buckets_of(const struct sp_step_inputs *in,
                                const struct sp_stage_weights *held, double backward_s);

/* One send between stages. s. */
double sp_stage_hop_s(const struct sp_step_inputs *in);

/* A stage of that kind, one micro-batch, with the collectives of ZeRO 3: gathers for each pass,
 * gradients reduced in 2 bytes. s. */
struct sp_stage_time sp_sharded_kind(const struct sp_step_inputs *in,
                                     const struct sp_kind_time *kind);

#endif
