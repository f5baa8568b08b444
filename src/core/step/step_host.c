/* Work of the host for a layer: operations, collectives, kernels of experts, and its waits. */
#include <math.h>

#include "core/step/step_internal.h"

/* Host time of a collective over that of a plain operation: PyTorch's process groups record and
 * wait for events of two streams, and allocate the result. */
enum { OPERATIONS_OF_A_COLLECTIVE = 3 };

/* Host time of a plain operation over that of a kernel that a compiled loop launches: 18 us against
 * 4 to 6. */
enum { KERNELS_OF_AN_OPERATION = 4 };

/* Operations from the host's wait for the tokens of each expert to a kernel that lasts: the
 * permutation, the splits, and the exchange. */
enum { OPERATIONS_AFTER_A_WAIT = 3 + OPERATIONS_OF_A_COLLECTIVE };

/* A router's forward pass: gating in 4 bytes (2), scores, choice and scatter of probabilities and
 * map (6), auxiliary loss (8). Megatron-Core 0.17, moe/router.py. */
enum { OPERATIONS_OF_A_ROUTER = 16 };

/* Operations that latent attention adds to a forward pass: three more projections than one of
 * queries, keys and values, two norms, one more split, keys and queries put together, values made
 * contiguous. Megatron-Core 0.17, multi_latent_attention.py. */
enum { OPERATIONS_OF_LATENTS = 3 + 2 + 1 + 2 + 1 };

/* Shared experts' forward pass beside the routed ones: two matmuls, activation, and the sum. */
enum { OPERATIONS_OF_SHARED_EXPERTS = 2 + 1 + 1 };

/* A dispatcher's forward pass, with fused permutations: operations that prepare it, those that move
 * tokens there and back, collectives, and how often the host waits for counts. Megatron-Core 0.17,
 * moe/token_dispatcher.py:
 * alltoall: eight reductions and slices of the routing map, four copies to the host; permute and
 * unpermute (3), sort by expert and back (4); gather of counts, exchanges of tokens, of their
 * probabilities, and back.
 * deepep: choice again; layout, notice, dispatch, map, permute and unpermute (5), combine.
 * hybridep: map and its exchange; dispatch with permutation, combine, their events.
 * allgather: slices, counts, permute (4), transposes and choice of probabilities (4), unpermute
 * (1), casts (2); gathers of map, probabilities, tokens, and a reduction; waits for counts and for
 * the chosen probabilities. */
static const struct dispatcher {
    double prepares, moves, collectives, waits;
} dispatchers[SP_DISPATCHES] = {
    [SP_DISPATCH_ALLTOALL] = {12, 7, 4, 1},
    [SP_DISPATCH_DEEPEP] = {1, 9, 0, 1},
    [SP_DISPATCH_HYBRIDEP] = {2, 6, 0, 1},
    [SP_DISPATCH_ALLGATHER] = {4, 11, 4, 2},
};

/* Operations of adapters of a layer's expert matmuls, or of its other matmuls, per third of
 * a step: forward two products, scaling and sum; backward two gradients per product, scaling, and
 * the sum of input gradients. */
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

/* Experts of a rank, whose grouped matmuls are one operation each for the host, which launches the
 * kernels in a compiled loop: two matmuls for each expert, in 8 bits a cast of each input and its
 * transpose, because scales are per expert. Where scales are per block a cast is an operation too:
 * it makes a separate tensor for the inputs and output gradients of both matmuls, 4 in three
 * thirds. Transformer Engine, pytorch/module/grouped_linear.py. */
struct experts {
    double kernels, operations;
};

static struct experts experts_of(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    enum { MATMULS = 2, CASTS = 4 };
    const bool casts = sp_dtypes[in->plan->dtype].bytes < 2;
    const enum sp_fp8_recipe recipe = in->plan->execution.fp8_recipe;
    const bool blocks = casts && (recipe == SP_FP8_MXFP8 || recipe == SP_FP8_BLOCKWISE);
    const double mine = (double)in->model->moe.experts / (double)in->plan->ep;
    return (struct experts){mine * (MATMULS + (casts ? CASTS : 0)) +
                                adapter_operations(layer, true) / (double)in->plan->ep,
                            blocks ? mine * CASTS / 3 : 0};
}

/* Work that CUDA graphs leave to the host. Graphs of layers capture everything except the parts
 * that need the number of tokens of each expert: their exchange, and the experts in place of the
 * MLP, half of a layer's operations. Two operations start a graph. */
struct captured {
    double starts; /* operations */
    double layer;  /* share of the operations of a layer */
    double router; /* share of the operations of a router and of the preparation of the exchange */
    double exchanged; /* share of the operations of exchange and experts */
};
static const struct captured captured[SP_CUDA_GRAPHS] = {
    [SP_CUDA_GRAPH_NONE] = {0, 1, 1, 1},
    [SP_CUDA_GRAPH_TE] = {2, 0, 0, 1},
    [SP_CUDA_GRAPH_FULL] = {0, 0, 0, 0},
    [SP_CUDA_GRAPH_ROUTER] = {2, 1, 0, 1},
};

/* With a capacity the number of tokens of each expert is known, and graphs of layers capture all.
 */
static struct captured captured_by(const struct sp_plan *plan)
{
    const struct sp_execution *const e = &plan->execution;
    struct captured c = captured[e->cuda_graph];
    if (e->capacity > 0)
        c.exchanged = sp_smaller(c.exchanged, c.layer);
    return c;
}

/* Adds a mixture's router, exchange and experts. */
static void add_experts(const struct sp_step_inputs *in, const struct sp_layer *layer, double cost,
                        struct sp_issued *all)
{
    const struct sp_plan *const p = in->plan;
    const struct captured c = captured_by(p);
    const bool sends = p->ep > 1; /* else tokens are only sorted, as with all-to-all */
    const struct dispatcher *const d =
        &dispatchers[sends ? p->execution.dispatch : SP_DISPATCH_ALLTOALL];
    const double collectives = sends ? d->collectives : 0;
    const struct experts experts = experts_of(in, layer);
    const double prepares = OPERATIONS_OF_A_ROUTER + d->prepares;
    const double moves =
        d->moves + (sp_shared_d_ff(in->model) > 0 ? OPERATIONS_OF_SHARED_EXPERTS : 0);
    /* matmuls of shared experts are among the layer's */
    all->kernels += prepares + d->moves + collectives + experts.kernels;
    all->host +=
        c.router * cost * prepares + c.exchanged * (cost * (moves + experts.operations) +
                                                    OPERATIONS_OF_A_COLLECTIVE * collectives +
                                                    experts.kernels / KERNELS_OF_AN_OPERATION);
    if (p->execution.capacity > 0) /* counts are known */
        return;
    if (!sends || !sp_overlaps_exchange(p)) /* else another micro-batch's work continues */
        all->waits = c.exchanged * d->waits * cost * OPERATIONS_AFTER_A_WAIT;
}

/* Matmuls of a layer's forward pass except its experts', with those of scores and weighted sum. */
static double matmuls_of(const struct sp_layer *layer)
{
    double sum = layer->mixer.heads > 0 ? 2 : 0;
    for (int i = 0; i < layer->matmuls; i++)
        sum += layer->matmul[i].part == SP_PART_EXPERTS ? 0 : layer->matmul[i].count;
    return sum;
}

struct sp_issued sp_issued_of(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    const struct captured c = captured_by(in->plan);
    const double usual = in->framework->layer_operations;
    if (usual <= 0) /* one program computes the layer */
        return (struct sp_issued){.host = c.exchanged};
    const double cost = sp_larger(1, in->framework->operation_cost);
    const double latents =
        in->model->mla.kv_lora_rank > 0 && layer->mixer.qk > 0 ? OPERATIONS_OF_LATENTS : 0;
    const double own = usual * (layer->half ? 0.5 : 1) + latents;
    const double beside = adapter_operations(layer, false) + sp_context_operations(in, layer);
    const double sums = OPERATIONS_OF_A_COLLECTIVE * sp_tp_collectives(in, layer) / 3;
    const double mlp = layer->picks > 0 ? c.exchanged : c.layer;
    struct sp_issued all = {
        .kernels = matmuls_of(layer) + beside,
        .host = c.starts + (c.layer + mlp) / 2 * (cost * own + beside) + c.layer * sums,
    };
    if (layer->picks > 0)
        add_experts(in, layer, cost, &all);
    return all;
}

/* Gap between two kernels, however far ahead the host is, and in a graph too: the measured time of
 * a matmul without work. */
double sp_kernel_gap_s(const struct sp_step_inputs *in)
{
    const double measured = in->hw->chip.kernels.matmul[SP_KERNEL_BF16].launch_s;
    return measured > 0 ? measured : constant(in, SP_C_LAUNCH) / KERNELS_OF_AN_OPERATION;
}
