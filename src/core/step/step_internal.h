/* Internals of the estimate: operators of a layer, collectives of a plan. */
#ifndef SP_STEP_INTERNAL_H
#define SP_STEP_INTERNAL_H

#include <scaleplan/step.h>

#include "core/layers/layer_rank.h"
#include "core/smooth.h"

/* sp_estimate_step of a model whose layers are listed. */
struct sp_step_time sp_estimate_listed(const struct sp_step_inputs *in,
                                       const struct sp_layers *layers);

/* The lists of in->model: those of the inputs, else new ones in `room`. */
static inline const struct sp_layers *sp_layers_of(const struct sp_step_inputs *in,
                                                   struct sp_layers *room)
{
    if (!in->layers)
        sp_list_model(in->model, room);
    return in->layers ? in->layers : room;
}

/* A constant of the profile. */
static inline double constant(const struct sp_step_inputs *in, enum sp_constant id)
{
    return in->profile->value[id];
}

/* Bytes/s of memory-bound kernels: the share of the bandwidth that the chip's memory-bound matmuls
 * were measured at, 0.71 to 0.89 on GPUs, else 0.8. */
static inline double sp_stream_bytes_per_s(const struct sp_step_inputs *in)
{
    const double share = in->hw->chip.kernels.matmul[SP_KERNEL_BF16].memory_share;
    return in->hw->chip.hbm_bytes_per_s * (share > 0 ? share : 0.8);
}

/* Forward times of a layer's operators, one micro-batch, one device. s. */
struct sp_layer_time {
    double of[SP_OPERATORS];
    double core_backward; /* backward time of attention's core */
    double frozen;        /* matmuls with frozen weights, without adapters */
    double opened;        /* untrained layers: dequantising weights */
    double spared;        /* excess of twice the adapters' forward time over their backward time */
};
void sp_time_of_layer(const struct sp_step_inputs *in, const struct sp_rank *rank,
                      const struct sp_layer *layer, struct sp_layer_time *time);

/* Forward and backward pass of one layer and micro-batch; the backward pass repeats `again`
 * (sp_repeated_shares). s. */
struct sp_layer_pass sp_pass_layer(const struct sp_step_inputs *in, const struct sp_rank *all,
                                   const struct sp_layer *layer, const struct sp_shares *again);

/* A layer that no gradient passes, from its time with a backward pass, which takes twice the
 * forward pass. Only half of the expert exchanges remain. s. */
struct sp_layer_pass sp_forward_alone(const struct sp_layer_pass *all);

/* Work of the host for the forward pass of one layer and micro-batch, and for each half of the
 * backward pass: kernels on the device, host time in plain operations (SP_C_LAUNCH s each), and
 * operations during which the device stands still because the host waited for it. */
struct sp_issued {
    double kernels, host, waits;
};
struct sp_issued sp_issued_of(const struct sp_step_inputs *in, const struct sp_layer *layer);
double sp_kernel_gap_s(const struct sp_step_inputs *in);

/* Number of TP collectives of one layer and micro-batch in both passes. */
double sp_tp_collectives(const struct sp_step_inputs *in, const struct sp_layer *layer);
/* sp_step_recomputed_flops of a model whose layers are listed. */
double sp_recomputed_flops_of(const struct sp_layers *layers, const struct sp_plan *plan,
                              const struct sp_framework *framework, bool causal);

/* Exposed part of a collective that overlaps `hides` seconds of work. s. */
double sp_exposed_s(const struct sp_step_inputs *in, double comm, double hides);

/* Collectives of one layer and micro-batch: exposed TP and EP in both passes with what
 * recomputation repeats (`again` of sp_repeated_shares), and TP of the forward pass alone. s. */
double sp_tp_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *again);
double sp_tp_forward_s(const struct sp_step_inputs *in, const struct sp_layer *layer);
double sp_ep_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *again);

/* Work of one layer and micro-batch that may hide the sends of CP: attention of both passes,
 * projections of the forward pass to queries, keys and values, weight gradients. s. */
struct sp_context_work {
    double forward, backward;
    double projections, weight_grads;
};

/* Time that CP adds to the passes of one layer and micro-batch by the plan's kind: exposed sends,
 * and work on the received data. s. Liu et al. 2023, "Ring Attention"; Jacobs et al. 2023,
 * "DeepSpeed Ulysses"; Llama 3 Herd of Models, section 3.3.2 (gathers). */
struct sp_context_time {
    double forward, backward;
};
struct sp_context_time sp_context_of_layer(const struct sp_step_inputs *in,
                                           const struct sp_rank *rank, const struct sp_layer *layer,
                                           const struct sp_context_work *work);

/* Operations that CP adds to those that the host launches for a layer's forward pass. */
double sp_context_operations(const struct sp_step_inputs *in, const struct sp_layer *layer);

/* Attention of the busiest CP rank over the mean, if ranks hold consecutive tokens of a causal
 * model (the last rank's, 2 - 1 / cp, where all layers attend to the whole sequence); else 1. */
double sp_busiest_context(const struct sp_step_inputs *in, const struct sp_mixer *mixer);

/* Among the ranks of a CP group: a gather of `bytes` in total, an all-to-all of `bytes` per rank,
 * and a send of `bytes` to the next rank of a ring, which waits for the slowest of its sends. s. */
double sp_context_gather_s(const struct sp_step_inputs *in, double bytes);
double sp_context_exchange_s(const struct sp_step_inputs *in, double bytes);
double sp_context_send_s(const struct sp_step_inputs *in, double bytes);

/* Gather or reduction of a stage's weights over the shards: dense ones over all, experts over those
 * with the same experts. s. */
double sp_shards_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                   double bytes_per_param);

/* Extra time of broadcasts of updated weights from their owners beyond a gather of the same bytes;
 * 0 where the framework gathers, or a group lies in one node. s. */
double sp_broadcasts_s(const struct sp_step_inputs *in);

/* All-reduce of a shard's gradients over replicas of the shards (HSDP, slices). s. */
double sp_replicas_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                     double bytes_per_param);

/* Parameters whose optimizer states a device owns. */
double sp_owned_params(const struct sp_step_inputs *in, const struct sp_stage_weights *held);

/* Time to read and write the optimizer states that a device owns of its trained weights. s. */
double sp_optimizer_s(const struct sp_step_inputs *in, const struct sp_stage_weights *trained);

/* FLOPs that make the updates of a layer's matrices orthogonal, on the ranks that split them: T
 * Newton-Schulz iterations of three products, T 2 (2 n m^2 + m^3) for a matrix of n x m, m <= n.
 * Jordan et al. 2024, "Muon". */
struct sp_orthogonal sp_orthogonal_flops(const struct sp_step_inputs *in,
                                         const struct sp_layer *layer);

/* Adds the FLOPs of this many layers. */
void sp_add_orthogonal(struct sp_orthogonal *sum, const struct sp_orthogonal *layer, double layers);

/* The time of the same for a stage. Without ZeRO each replica does all of it; ranks that share
 * optimizer states hold whole matrices, so the largest matrix is on one rank; ZeRO 3 gathers the
 * matrices for it, and scatters the results. s. */
double sp_orthogonal_s(const struct sp_step_inputs *in, const struct sp_kind_time *stage);

/* Gradient buckets of a device that trains `held`, with backward_s per micro-batch's backward pass.
 * None for one replica, or with ZeRO 3, which reduces layer by layer. */
struct sp_buckets sp_buckets_of(const struct sp_step_inputs *in,
                                const struct sp_stage_weights *held, double backward_s);

/* One send between stages. s. */
double sp_stage_hop_s(const struct sp_step_inputs *in);

/* A stage of that kind, one micro-batch, with the collectives of ZeRO 3: gathers for each pass,
 * gradients reduced. s. */
struct sp_stage_time sp_sharded_kind(const struct sp_step_inputs *in,
                                     const struct sp_kind_time *kind);

/* Time and weights of a kind of stage, for one micro-batch, without ZeRO's part. */
void sp_time_of_kind(const struct sp_prepared *prepared, const struct sp_stage_kind *kind,
                     struct sp_kind_time *k);

/* One micro-batch on a stage, as seen by a schedule. s. */
struct sp_passes {
    double forward, backward;
    double weight_grad; /* part of the backward pass due to weight gradients */
    double fsdp_comm;
    double wait; /* for the replica with most attention; in both passes */
};
struct sp_passes sp_passes_of(const struct sp_step_inputs *in, const struct sp_kind_time *kind);

/* Idle time per other stage by the closed form of a schedule, if all stages equal this one. s. */
double sp_idle_per_stage(const struct sp_plan *p, int64_t m, const struct sp_passes *stage);

/* Gradients and weights over the network and the optimizer of one stage, behind this pipeline. It
 * grows with the weights, and by at most what the pipeline shrinks. s. */
double sp_update_s(const struct sp_step_inputs *in, const struct sp_kind_time *kind,
                   double pipeline);

/* The step of a pipeline without sends and the longest update of its stages; it grows with both.
 * s. */
double sp_step_around_s(const struct sp_step_inputs *in, const struct sp_prepared *prepared,
                        double pipeline, double update);

#endif
