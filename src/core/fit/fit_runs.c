/* Makes a strategy a plan that runs: whole sequences on its replicas, context parallelism, experts
 * on groups. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/layer.h>

#include "core/fit/fit_internal.h"

/* Beyond it a rank has too few tokens for attention. */
#define MOST_CP 65536

/* Whether `cp` ranks cut a sequence into equal parts, two on each for a causal mask. */
static bool cuts(double seq, int64_t cp)
{
    return cp == 1 || fmod(seq, 2 * (double)cp) == 0;
}

void sp_seat_sequences(struct sp_strategy *s, const struct sp_fit_input *in)
{
    const double sequences = in->batch_tokens / in->seq;
    const int64_t shards = s->dp * s->fsdp;
    double nearest = INFINITY;
    s->cp = s->ep = 1;
    s->sequences = sequences / (double)shards;
    if (!in->runs)
        return;
    const double most = fmin((double)shards, fmin(fmax(in->seq / 2, 1), MOST_CP));
    for (int64_t cp = 1; (double)cp <= most && nearest > SP_SAME_BATCH; cp++) {
        const int64_t groups = shards / cp;
        const double replicas = (double)groups;
        const double whole = fmax(1, round(sequences / replicas));
        const double off = fabs(whole * replicas / sequences - 1);
        /* if no batch is within the tolerance, the closest one: the plan uses its number */
        if (shards % cp == 0 && cuts(in->seq, cp) && off < nearest) {
            s->cp = cp;
            s->sequences = whole;
            nearest = off;
        }
    }
}

double sp_replica_sequences(const struct sp_fit_input *in, const struct sp_strategy *s)
{
    if (in->runs && s->sequences > 0)
        return s->sequences;
    return in->batch_tokens / (in->seq * (double)(s->dp * s->fsdp));
}

int64_t sp_next_ep(const struct sp_fit_input *in, const struct sp_strategy *s, int64_t ep)
{
    const int64_t experts = in->model->moe.experts, shards = s->dp * s->fsdp;
    if (!in->runs || s->kind == SP_DP || s->kind == SP_TP)
        return 0;
    for (ep++; ep <= experts && ep <= shards; ep++)
        if (experts % ep == 0 && shards % ep == 0)
            return ep;
    return 0;
}

/* Bytes/s at which `cp` neighbours on a torus gather: a part of a ring is a line. */
static double context_bytes_per_s(const struct sp_hardware *hw, const struct sp_strategy *s)
{
    double best = 0;
    for (int i = 0; i < SP_MAX_AXES; i++) {
        const int32_t length = hw->shape.axis[i];
        if (length >= s->cp)
            best = fmax(best, sp_axis_bytes_per_s(hw->network.link_bytes_per_s, s->cp,
                                                  length == s->cp && sp_axis_wraps(hw, i)));
    }
    return best > 0 ? best : s->W_X;
}

/* Width of the two-matrix MLP with a layer's FLOPs, 12 D F per token in both passes. The book sets
 * the MLP's TP traffic against the MLP's FLOPs, since attention has about as much of both; keys and
 * tokens for experts travel once a layer, so they are set against the whole layer. */
static double width_of_layer(const struct sp_fit_terms *t)
{
    return t->flops / (12 * t->B * t->D * t->L);
}

/* In each pass CP gathers the keys and values of its replica's tokens: 4 K bytes per token and
 * layer against 4 D F FLOPs; each chip has its share of the FLOPs. */
static void add_context(struct sp_strategy *s, const struct sp_fit_input *in,
                        const struct sp_fit_terms *t)
{
    const struct sp_hardware *const hw = in->hw;
    const double kv = t->kv_width, cp = (double)s->cp, tp = (double)s->tp;
    const double F = width_of_layer(t);
    const double domain = (double)hw->network.domain;
    double *const context = s->loads.context;
    if (s->cp == 1)
        return;
    if (hw->network.kind == SP_TORUS) {
        context[SP_LINK_ICI] = sp_context_load(t->C, cp, kv, context_bytes_per_s(hw, s), t->D, F);
        return;
    }
    context[SP_LINK_DOMAIN] =
        sp_context_load(t->C, fmin(cp, fmax(domain / tp, 1)), kv, t->W_domain, t->D, F) * (cp - 1) /
        cp;
    if (cp * tp > domain)
        context[SP_LINK_SCALEOUT] =
            sp_context_load(t->C, cp * fmin(tp, domain), kv, t->W_node, t->D, F);
}

/* Experts on groups of `ep` ranks: each rank gathers only the weights of its own experts, and
 * tokens travel to them, as many in the backward pass as in the forward pass. A load is the width
 * that would hide the exchange behind a forward pass, over that of the k experts if they did all of
 * the layer's work, half again as wide for the mean of both passes. */
static void add_experts(struct sp_strategy *s, const struct sp_fit_input *in,
                        const struct sp_fit_terms *t)
{
    const struct sp_network *const net = &in->hw->network;
    const double ep = (double)s->ep, k = (double)in->model->moe.top_k, domain = (double)net->domain;
    const double tp = (double)s->tp, among = t->L / (double)sp_moe_layers(in->model);
    const double width = 1.5 * width_of_layer(t) * among / k;
    double *const loads = s->loads.activations;
    if (s->ep == 1)
        return;
    for (int link = 0; link < SP_LINKS; link++)
        s->loads.weights[link] /= ep;
    if (net->kind == SP_TORUS) {
        const struct sp_torus_group box = sp_exchange_box(in->hw, s->ep);
        const double exchange = sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1, &box);
        loads[SP_LINK_ICI] += sp_min_d_ff_for_ep_torus(k, t->C, ep, exchange) / width;
        return;
    }
    /* ranks of a TP group lie between those of EP */
    const double near = fmax(1, fmin(ep, domain / tp));
    loads[SP_LINK_DOMAIN] +=
        sp_min_d_ff_for_ep(near, k, near, t->C, t->W_domain, t->W_node) / width;
    loads[SP_LINK_SCALEOUT] +=
        sp_min_d_ff_for_ep(ep, k, near, t->C, INFINITY, t->W_node / tp) / width;
}

void sp_add_runs_loads(struct sp_strategy *s, const struct sp_fit_input *in,
                       const struct sp_fit_terms *t)
{
    if (!in->runs || !sp_model_has_shape(in->model))
        return;
    add_context(s, in, t);
    add_experts(s, in, t);
    for (int link = 0; link < SP_LINKS; link++)
        s->loads.activations[link] += s->loads.context[link];
}

const struct sp_framework *sp_strategy_framework(const struct sp_fit_input *in,
                                                 const struct sp_strategy *s)
{
    return s->fsdp > 1 ? in->sharding_framework : in->framework;
}

const struct sp_precision *sp_strategy_precision(const struct sp_fit_input *in,
                                                 const struct sp_strategy *s)
{
    return s->fsdp > 1 && in->sharding_precision ? in->sharding_precision : in->precision;
}

struct sp_plan sp_strategy_plan(const struct sp_fit_input *in, const struct sp_strategy *s)
{
    const struct sp_framework *const f = sp_strategy_framework(in, s);
    const struct sp_execution execution = f ? f->execution : (struct sp_execution){0};
    const int64_t replicas = s->dp * s->fsdp / s->cp;
    /* A batch may be any number of tokens; a plan's is whole. */
    const double most = (double)(INT64_MAX / 2 / replicas);
    const double each = fmin(fmax(1, ceil(sp_replica_sequences(in, s) - 1e-9)), most);
    const int64_t micro =
        s->pp > 1 ? 1 : (int64_t)fmax(1, ceil(each / (double)s->microbatches - 1e-9));
    return (struct sp_plan){
        .dp = replicas,
        .execution = execution,
        .shards = s->fsdp,
        .tp = s->tp,
        .pp = s->pp,
        .vpp = s->chunks,
        .cp = s->cp,
        .ep = s->ep,
        .etp = sp_usual_etp(in->model, s->tp, s->ep),
        .zero = s->fsdp > 1 ? 3 : 0,
        .sequence_parallel = s->tp > 1,
        .micro_batch = micro,
        .batch = replicas * (int64_t)each,
        .seq = (int64_t)fmax(in->seq, 1),
        .recompute = sp_policies[s->remat].recompute,
        .recompute_layers = 1,
        .schedule = sp_usual_schedule(s->chunks),
        .dtype = (enum sp_dtype)sp_strategy_precision(in, s)->compute_dtype, /* as in `step` */
        .imbalance = 1};
}

bool sp_strategy_runs(const struct sp_fit_input *in, const struct sp_strategy *s)
{
    if (!in->runs || !sp_model_has_shape(in->model))
        return true;
    const struct sp_plan plan = sp_strategy_plan(in, s);
    return sp_check_plan(in->model, &plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK;
}
