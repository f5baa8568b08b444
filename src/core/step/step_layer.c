/* Forward and backward pass of one layer and micro-batch. */
#include <math.h>

#include "core/step/step_internal.h"

double sp_exposed_s(const struct sp_step_inputs *in, double comm, double hides)
{
    return comm > 0 ? sp_smooth_max(hides, comm) - hides + constant(in, SP_C_CONTENTION) * comm : 0;
}

/* A layer's work with offload of kept activations, to the host in the forward pass and back in the
 * backward pass, overlapped. */
static double with_copies_s(const struct sp_step_inputs *in, const struct sp_rank *rank,
                            const struct sp_layer *layer, double busy)
{
    const double rate = sp_host_bytes_per_s(&in->hw->chip);
    const double away = sp_offloaded_share(in->model, in->plan);
    if (away == 0 || !(rate > 0))
        return busy;
    const struct sp_shares shares = sp_kept_shares(&in->plan->recompute);
    struct sp_kept_bytes kept;
    sp_list_kept(layer, rank, in->plan, in->framework, &kept);
    const double bytes = 2 * away * sp_sum_away(&kept, &shares, in->plan->recompute.away);
    return sp_smooth_max(busy, in->plan->recompute_layers * bytes / rate);
}

/* In enum sp_operator matmuls come first, memory-bound work last. */
static double sum_of_operators(const double *s, enum sp_operator first, enum sp_operator last)
{
    double sum = 0;
    for (int op = (int)first; op <= (int)last; op++)
        sum += s[op];
    return sum;
}

/* Whether some layers of the list may lack a backward pass. */
static bool may_stand_still(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    return layer->frozen || in->model->tuning.trainable == SP_TRAIN_LAST;
}

/* Time that only a forward pass has besides its operators: exchanges between experts, which hide
 * behind its own work, and launches that show: those of all passes also hide behind recomputation
 * and twice the matmuls. */
static void add_forward(const struct sp_step_inputs *in, const struct sp_layer *layer,
                        const struct sp_issued *issued, struct sp_layer_pass *p)
{
    static const struct sp_shares none = {{0}};
    const bool hidden = sp_overlaps_exchange(in->plan);
    const double exchanges = sp_ep_layer_s(in, layer, &none) / 2;
    const double one = constant(in, SP_C_LAUNCH), gaps = issued->kernels * sp_kernel_gap_s(in);
    const double busy = (p->matmul + p->frozen) / 3 + p->opened + p->attention_forward +
                        p->elementwise / 3 + p->cp_forward + p->tp_forward +
                        (hidden ? 0 : exchanges);
    const double worked = sp_smooth_max(busy + gaps + issued->waits * one, issued->host * one);
    p->launch_forward = worked - busy;
    p->ep_forward = hidden ? sp_exposed_s(in, exchanges, worked) : exchanges;
}

/* Recomputation repeats collectives whose results were dropped: the gather before a block's first
 * matmul, the reduction after its last, and expert exchanges. */
struct sp_layer_pass sp_pass_layer(const struct sp_step_inputs *in, const struct sp_rank *all,
                                   const struct sp_layer *layer, const struct sp_shares *again)
{
    const struct sp_rank mine = sp_rank_of_layer(all, layer, (double)in->plan->seq), *rank = &mine;
    struct sp_layer_time f;
    sp_time_of_layer(in, rank, layer, &f);
    const double *const s = f.of;
    const struct sp_recompute *r = &in->plan->recompute;
    const double redone = in->plan->recompute_layers;
    struct sp_layer_pass p = {
        .matmul = 3 * sum_of_operators(s, SP_OP_QKV, SP_OP_EXPERT_DOWN) - f.frozen - f.spared,
        .frozen = f.frozen + f.spared,
        .opened = f.opened,
        .attention = s[SP_OP_CORE] + f.core_backward,
        .attention_forward = s[SP_OP_CORE],
        .elementwise = 3 * sum_of_operators(s, SP_OP_NORMS, SP_OP_ROUTE),
        .tp_comm = sp_tp_layer_s(in, layer, again),
        .tp_forward = may_stand_still(in, layer) ? sp_tp_forward_s(in, layer) : 0,
    };
    for (int op = 0; op < SP_OPERATORS; op++)
        p.recompute += redone * again->of[op] * s[op];
    if (layer->mixer.documents) {
        const double uneven = sp_mixer_unevenness(&layer->mixer, (double)in->plan->seq);
        p.uneven = uneven * (p.attention + redone * again->of[SP_OP_CORE] * s[SP_OP_CORE]);
        p.uneven_forward = uneven * p.attention_forward;
    }
    /* host copies overlap everything; the sum cannot be less than the launches */
    const struct sp_context_work work = {s[SP_OP_CORE], f.core_backward,
                                         s[SP_OP_QKV] + s[SP_OP_LATENT], p.matmul / 3};
    const struct sp_context_time context = sp_context_of_layer(in, rank, layer, &work);
    p.cp_forward = context.forward;
    p.cp_comm = context.forward * (1 + redone * again->of[SP_OP_CORE]) + context.backward;
    const struct sp_issued issued = sp_issued_of(in, layer);
    const double passes = 3 + redone * r->qkv;
    const double gaps = issued.kernels * passes * sp_kernel_gap_s(in);
    const double busy = p.matmul + p.attention + p.elementwise + p.recompute + p.cp_comm + gaps;
    const double copied = with_copies_s(in, rank, layer, busy);
    p.offload = copied - busy;
    /* the device's queue contains collectives too, unless another micro-batch hides them */
    const double exchanges = sp_ep_layer_s(in, layer, again);
    const bool hidden = sp_overlaps_exchange(in->plan);
    if (!hidden)
        p.ep_comm = exchanges;
    const double one = constant(in, SP_C_LAUNCH);
    const double others =
        p.tp_comm + p.ep_comm + issued.waits * one * (1 + redone * again->of[SP_OP_EXPERT_UP]);
    const double least = issued.host * passes * one;
    const double worked = sp_smooth_max(copied + others, least);
    p.launch = worked - copied - p.tp_comm - p.ep_comm + gaps;
    if (may_stand_still(in, layer))
        add_forward(in, layer, &issued, &p);
    if (hidden)
        p.ep_comm = sp_exposed_s(in, exchanges, worked);
    const double grads = (p.matmul + f.spared - 2 * f.frozen) / 3;
    /* a pass for weight gradients takes its launches with it */
    p.weight_grad = worked - sp_smooth_max(with_copies_s(in, rank, layer, busy - grads) + others,
                                           least * (1 - 1 / passes));
    return p;
}

struct sp_layer_pass sp_forward_alone(const struct sp_layer_pass *all)
{
    struct sp_layer_pass p = {.matmul = (all->matmul + all->frozen) / 3 + all->opened,
                              .attention = all->attention_forward,
                              .elementwise = all->elementwise / 3,
                              .tp_comm = all->tp_forward,
                              .cp_comm = all->cp_forward,
                              .ep_comm = all->ep_forward,
                              .launch = all->launch_forward,
                              .uneven = all->uneven_forward};
    p.frozen =
        2 * (p.matmul + p.attention + p.elementwise + p.tp_comm + p.cp_comm + p.ep_comm + p.launch);
    return p;
}
