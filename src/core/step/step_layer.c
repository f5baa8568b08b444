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
    const double bytes =
        2 * away * sp_kept_bytes(layer, rank, in->plan, in->framework, &in->plan->recompute);
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

/* Share of a layer's kernels that the host launches one by one, by enum sp_cuda_graph: all; about
 * half with TransformerEngine's graphs, which exclude routing and expert exchange; none if a graph
 * captures the iteration. */
static const double launched_shares[] = {1, 0.5, 0};

/* Host operations of adapters beside a layer's expert matmuls, or beside its others, per third of a
 * step: forward two products, scaling and sum; backward two gradients per product, scaling, and the
 * sum of input gradients. */
static double adapter_operations(const struct sp_layer *layer, bool experts)
{
    enum { FORWARD = 2 + 1 + 1, BACKWARD = 4 + 1 + 1 };
    double adapters = 0;
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        if ((m->part == SP_PART_EXPERTS) == experts)
            adapters += m->count * m->adapted;
    }
    return adapters * (FORWARD + BACKWARD) / 3;
}

/* Host operations of a layer's forward pass. A mixture adds router, sort, losses, exchange and
 * placement of tokens. Its experts on a device run one by one: two matmuls each, and in 8 bits a
 * cast of each input and its transpose, because scales are per expert. Partial graphs exclude
 * these: the number of tokens per expert is known too late. */
static double launched_operations(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    enum { OPERATIONS_OF_EXPERTS = 30, MATMULS_OF_AN_EXPERT = 2, CASTS_OF_AN_EXPERT = 4 };
    const enum sp_cuda_graph graph = in->plan->execution.cuda_graph;
    const double usual = in->framework->layer_operations * (layer->half ? 0.5 : 1);
    const double dense =
        usual > 0 ? usual + adapter_operations(layer, false) + sp_context_operations(in, layer)
                  : usual;
    if (usual <= 0 || layer->picks == 0)
        return dense * launched_shares[graph];
    const bool casts = sp_dtypes[in->plan->dtype].bytes < 2;
    const double each = MATMULS_OF_AN_EXPERT + (casts ? CASTS_OF_AN_EXPERT : 0),
                 ep = (double)in->plan->ep,
                 experts = (double)in->model->moe.experts / ep * each +
                           adapter_operations(layer, true) / ep;
    return (dense + OPERATIONS_OF_EXPERTS) * launched_shares[graph] +
           (launched_shares[graph] > 0 ? experts : 0);
}

/* Launch time over the gap between two kernels: 18 us against 4 to 6. */
enum { GAPS_OF_AN_OPERATION = 4 };

/* Gap between two kernels, however far ahead the host is: the measured time of a matmul without
 * work. */
static double kernel_gap_s(const struct sp_step_inputs *in)
{
    const double measured = in->hw->chip.kernels.matmul[SP_KERNEL_BF16].launch_s;
    const double issued = constant(in, SP_C_LAUNCH) / (3 * in->framework->layer_operations);
    return measured > 0 ? measured : issued / GAPS_OF_AN_OPERATION;
}

/* Least time of a layer's two passes: the host launches operations one by one. */
static double launches_s(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    const double dense = in->framework->layer_operations;
    return constant(in, SP_C_LAUNCH) * (dense > 0
                                            ? launched_operations(in, layer) / dense
                                            : launched_shares[in->plan->execution.cuda_graph]);
}

/* Attention work over its forward pass: flash attention recomputes scores in the backward pass;
 * unfused attention keeps them. */
static double passes_of_core(const struct sp_step_inputs *in)
{
    return in->plan->execution.attention_kernel == SP_KERNEL_UNFUSED ? 3 : 3.5;
}

/* Whether some layers of the list may lack a backward pass. */
static bool may_stand_still(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    return layer->frozen || in->model->tuning.trainable == SP_TRAIN_LAST;
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
        .attention = passes_of_core(in) * s[SP_OP_CORE],
        .elementwise = 3 * sum_of_operators(s, SP_OP_NORMS, SP_OP_ROUTE),
        .tp_comm = sp_tp_layer_s(in, layer, again),
        .tp_forward = may_stand_still(in, layer) ? sp_tp_forward_s(in, layer) : 0,
    };
    for (int op = 0; op < SP_OPERATORS; op++)
        p.recompute += redone * again->of[op] * s[op];
    /* host copies overlap everything; the sum cannot be less than the launches */
    const struct sp_context_work work = {s[SP_OP_CORE], p.attention - s[SP_OP_CORE],
                                         s[SP_OP_QKV] + s[SP_OP_LATENT], p.matmul / 3};
    const struct sp_context_time context = sp_context_of_layer(in, rank, layer, &work);
    p.cp_forward = context.forward;
    p.cp_comm = context.forward * (1 + redone * again->of[SP_OP_CORE]) + context.backward;
    const double operations = launched_operations(in, layer) * (3 + redone * r->qkv);
    const double gaps = operations > 0 ? operations * kernel_gap_s(in) : 0;
    const double busy = p.matmul + p.attention + p.elementwise + p.recompute + p.cp_comm + gaps;
    const double least = launches_s(in, layer) * (1 + redone * r->qkv / 3);
    const double copied = with_copies_s(in, rank, layer, busy);
    p.offload = copied - busy;
    const double worked = sp_smooth_max(copied, least);
    p.launch = worked - copied + gaps;
    const double exchanges = sp_ep_layer_s(in, layer, again);
    p.ep_comm = sp_overlaps_exchange(in->plan) ? sp_exposed_s(in, exchanges, worked) : exchanges;
    const double grads = (p.matmul + f.spared - 2 * f.frozen) / 3;
    p.weight_grad = worked - sp_smooth_max(with_copies_s(in, rank, layer, busy - grads), least);
    return p;
}

struct sp_layer_pass sp_forward_alone(const struct sp_step_inputs *in,
                                      const struct sp_layer_pass *all)
{
    struct sp_layer_pass p = {.matmul = (all->matmul + all->frozen) / 3 + all->opened,
                              .attention = all->attention / passes_of_core(in),
                              .elementwise = all->elementwise / 3,
                              .tp_comm = all->tp_forward,
                              .cp_comm = all->cp_forward,
                              .ep_comm = all->ep_comm / 2,
                              .launch = all->launch / 3};
    p.frozen =
        2 * (p.matmul + p.attention + p.elementwise + p.tp_comm + p.cp_comm + p.ep_comm + p.launch);
    return p;
}
