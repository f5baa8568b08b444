/* The forward and backward pass of one layer for one micro-batch. */
#include <math.h>

#include "core/step/step_internal.h"

double sp_exposed_s(const struct sp_step_inputs *in, double comm, double hides)
{
    return comm > 0 ? sp_smooth_max(hides, comm) - hides + constant(in, SP_C_CONTENTION) * comm : 0;
}

/* A layer's work with what is kept going to the host in the forward pass and back in the backward
 * pass, hidden behind it. */
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

/* Matmuls stand first in enum sp_operator, memory-bound work last. */
static double sum_of_operators(const double *s, enum sp_operator first, enum sp_operator last)
{
    double sum = 0;
    for (int op = (int)first; op <= (int)last; op++)
        sum += s[op];
    return sum;
}

/* What the host still launches kernel by kernel, by enum sp_cuda_graph: all of a layer; with
 * TransformerEngine's graphs about half of it, for routing and the exchange between experts stay
 * outside; nothing where a graph holds the whole iteration. */
static const double launched_shares[] = {1, 0.5, 0};

/* Operations of adapters beside the matmuls of a layer's experts or beside its others, a third of
 * all: forward two products, the scaling and the sum, backward two gradients of each product, the
 * scaling, and the sum of what both give to the input. */
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

/* Operations that the host issues for a layer's forward pass. A mixture has the router, its sort
 * and its losses, the exchange and the placing of tokens on top of what a dense layer has. Its
 * experts on a device are worked on one by one: two matmuls each, and in 8 bits a cast of what each
 * of them multiplies and of its transpose, whose scales are an expert's own. Graphs of parts of a
 * layer leave these outside, for how many tokens an expert gets is known when it is too late for a
 * graph. */
static double launched_operations(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    enum { OPERATIONS_OF_EXPERTS = 30, MATMULS_OF_AN_EXPERT = 2, CASTS_OF_AN_EXPERT = 4 };
    const enum sp_cuda_graph graph = in->plan->execution.cuda_graph;
    const double usual = in->framework->layer_operations * (layer->half ? 0.5 : 1);
    const double dense = usual > 0 ? usual + adapter_operations(layer, false) : usual;
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

/* The host takes about four times as long to issue an operation as the device between two kernels:
 * 18 us against 4 to 6. */
enum { GAPS_OF_AN_OPERATION = 4 };

/* Between two kernels the device waits, however far ahead the host is: what the chip's matmuls were
 * measured to take without any work. */
static double kernel_gap_s(const struct sp_step_inputs *in)
{
    const double measured = in->hw->chip.kernels.matmul[SP_KERNEL_BF16].launch_s;
    const double issued = constant(in, SP_C_LAUNCH) / (3 * in->framework->layer_operations);
    return measured > 0 ? measured : issued / GAPS_OF_AN_OPERATION;
}

/* Least time of a layer's forward and backward pass: the host issues operations one by one. */
static double launches_s(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    const double dense = in->framework->layer_operations;
    return constant(in, SP_C_LAUNCH) * (dense > 0
                                            ? launched_operations(in, layer) / dense
                                            : launched_shares[in->plan->execution.cuda_graph]);
}

/* Attention's work over that of its forward pass: flash attention's backward pass makes the scores
 * again; what keeps them does not. */
static double passes_of_core(const struct sp_step_inputs *in)
{
    return in->plan->execution.attention_kernel == SP_KERNEL_UNFUSED ? 3 : 3.5;
}

/* Whether some layers of the list may have a forward pass alone. */
static bool may_stand_still(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    return layer->frozen || in->model->tuning.trainable == SP_TRAIN_LAST;
}

/* Recomputation repeats the collectives whose results it dropped: the gather before the first
 * matmul of a block, the sum after its last, and the exchanges between experts. */
struct sp_layer_pass sp_pass_layer(const struct sp_step_inputs *in, const struct sp_rank *all,
                                   const struct sp_layer *layer, const struct sp_shares *again)
{
    const struct sp_rank mine = sp_rank_of_layer(all, layer, (double)in->plan->seq), *rank = &mine;
    struct sp_layer_time f;
    sp_time_of_layer(in, rank, layer, &f);
    const double *const s = f.of;
    const struct sp_recompute *r = &in->plan->recompute;
    const double redone = in->plan->recompute_layers;
    const double cp = sp_cp_layer_s(in, layer);
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
    /* passing keys and values on hides behind attention, copies to the host behind it all; what is
     * then still shorter than the launches waits for them */
    if (cp > 0)
        p.cp_comm = sp_exposed_s(in, cp, p.attention) + sp_cp_merge_s(in, rank, layer);
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
                              .cp_comm = all->cp_comm / 3,
                              .ep_comm = all->ep_comm / 2,
                              .launch = all->launch / 3};
    p.frozen =
        2 * (p.matmul + p.attention + p.elementwise + p.tp_comm + p.cp_comm + p.ep_comm + p.launch);
    return p;
}
