/* Collectives of a plan on the networks that their groups span. Ranks are laid out TP innermost,
 * then CP, DP, and PP outermost; with `stages_inside` PP before DP. */
#include <math.h>

#include "step_internal.h"

enum { ELEMENT = 2 };

/* A group of `size` devices, `stride` ranks apart. */
struct group {
    double size, stride;
    bool tensor; /* of tensor parallelism: it comes first on a torus */
};

static double constant(const struct sp_step_inputs *in, enum sp_constant id)
{
    return in->profile->value[id];
}

/* Bytes/s into a chip along an axis: from both sides of a ring, from one at the end of a line. */
static double links_of_axis(double link_bytes_per_s, int64_t length, bool wraps)
{
    return length <= 1 ? 0 : (wraps ? 2 : 1) * link_bytes_per_s;
}

/* Torus with TP's axes given: its box has whole axes, which may close into rings, and parts of
 * axes, which are lines. What is left of the axes carries everything else; where TP takes a part of
 * an axis, as many groups as that part is long share its links. */
static double assigned_rate(const struct sp_step_inputs *in, struct group g)
{
    const struct sp_hardware *hw = in->hw;
    const int32_t *const box = in->plan->tp_axes;
    const double w = hw->network.link_bytes_per_s;
    double rate = 0, rest = 1;
    for (int axis = 0; axis < SP_MAX_AXES; axis++) {
        const int64_t length = hw->shape.axis[axis], mine = box[axis] > 0 ? box[axis] : 1;
        const bool wraps = length > 1 && sp_axis_wraps(hw, axis);
        if (g.tensor)
            rate += links_of_axis(w, mine, wraps && mine == length);
        else
            rate += links_of_axis(w, length / mine, wraps) / (double)mine;
        rest *= (double)length / (double)mine;
    }
    return g.tensor || rest <= 1 ? rate : rate * log(fmin(g.size, rest)) / log(rest);
}

/* Torus: all axes carry the group, as far as its devices fill them. A group of n on a slice of N
 * with A axes uses log n / log N of their bandwidth. */
static double torus_rate(const struct sp_step_inputs *in, struct group g)
{
    const struct sp_hardware *hw = in->hw;
    if (in->plan->tp_axes[0] > 0)
        return assigned_rate(in, g);
    double rate = 0;
    for (int axis = 0; axis < SP_MAX_AXES; axis++)
        if (hw->shape.axis[axis] > 1)
            rate += sp_axis_bytes_per_s(hw->network.link_bytes_per_s, hw->shape.axis[axis],
                                        sp_axis_wraps(hw, axis));
    const double chips = (double)hw->chips_per_slice;
    const double part = chips > 1 ? log(fmin(g.size, chips)) / log(chips) : 1;
    return rate * part;
}

/* Seconds to gather or reduce-scatter `bytes` over the group, at the profile's efficiencies. */
static double gather_s(const struct sp_step_inputs *in, struct group g, double bytes)
{
    if (g.size <= 1 || bytes <= 0)
        return 0;
    const struct sp_network *net = &in->hw->network;
    const double up = constant(in, SP_C_SCALE_UP), out = constant(in, SP_C_SCALE_OUT);
    if (net->kind == SP_TORUS)
        return bytes * (g.size - 1) / g.size / (torus_rate(in, g) * up) +
               net->hop_latency_s * (g.size > 64 ? 64 : g.size);
    const double domain = (double)net->domain;
    const double inside = fmax(1, fmin(g.size, floor(domain / g.stride)));
    const double nodes = g.size / inside;
    const double within = bytes * (inside - 1) / inside / (net->domain_bytes_per_s * up);
    if (nodes <= 1)
        return within + 3e-6 * (inside - 1);
    const double across = bytes * (nodes - 1) / nodes / (inside * net->scaleout_bytes_per_s * out);
    return sp_smooth_max(within, across) + 5e-6 * (nodes - 1);
}

/* Each device keeps 1/n and sends the rest to the others, `bytes` held by each. */
static double exchange_s(const struct sp_step_inputs *in, struct group g, double bytes)
{
    if (g.size <= 1 || bytes <= 0)
        return 0;
    const struct sp_network *net = &in->hw->network;
    const double share = constant(in, SP_C_EXCHANGE);
    if (net->kind == SP_TORUS)
        return bytes * g.size / 4 / (torus_rate(in, g) * share);
    const double domain = (double)net->domain;
    const double inside = fmax(1, fmin(g.size, floor(domain / g.stride)));
    const double within = bytes * (inside - 1) / g.size / (net->domain_bytes_per_s * share);
    const double across = bytes * (g.size - inside) / g.size / (net->scaleout_bytes_per_s * share);
    return within + across;
}

static double shard_tokens(const struct sp_plan *plan)
{
    return (double)plan->micro_batch * (double)plan->seq / (double)plan->cp;
}

double sp_tp_layer_s(const struct sp_step_inputs *in, bool moe, bool backward)
{
    const struct sp_plan *p = in->plan;
    const struct group g = {(double)p->tp, 1, true};
    const double bytes = ELEMENT * shard_tokens(p) * (double)in->model->d_model;
    /* attention and MLP: a gather and a reduce-scatter each; backward gathers the inputs again */
    const double blocks = moe && p->etp == 1 && in->model->moe.shared_experts == 0 ? 1 : 2;
    const double each = backward && p->sequence_parallel ? 3 : 2;
    const double exposed = in->framework->overlaps_tp ? constant(in, SP_C_TP_EXPOSED) : 1;
    return blocks * each * gather_s(in, g, bytes) * exposed;
}

double sp_cp_layer_s(const struct sp_step_inputs *in, bool backward)
{
    const struct sp_plan *p = in->plan;
    const struct sp_model *m = in->model;
    const struct group g = {(double)p->cp, (double)p->tp, false};
    const double T = shard_tokens(p), t = (double)p->tp, d = (double)m->head_dim;
    const double kv = 2 * (double)m->kv_heads * d * T * (double)p->cp / t;
    const double passes = backward ? 2 : 1;
    return passes * gather_s(in, g, ELEMENT * kv);
}

double sp_ep_layer_s(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    const struct sp_model *m = in->model;
    const double t = (double)p->tp;
    const struct group g = {(double)p->ep, (double)p->etp, false};
    const double bytes =
        ELEMENT * shard_tokens(p) / t * (double)(m->moe.top_k * m->d_model) * (double)p->etp;
    return 2 * exchange_s(in, g, bytes);
}

/* Ranks between neighbours of a data-parallel group. */
static double replica_stride(const struct sp_plan *p)
{
    return (double)(p->stages_inside ? p->tp * p->pp : p->tp);
}

double sp_shards_s(const struct sp_step_inputs *in, double bytes)
{
    const struct sp_plan *p = in->plan;
    double shards = (double)p->shards;
    if (in->hw->network.kind == SP_TORUS)
        shards = fmin(shards, (double)in->hw->chips_per_slice / (double)(p->tp * p->pp));
    return gather_s(in, (struct group){shards, replica_stride(p), false}, bytes);
}

double sp_replicas_s(const struct sp_step_inputs *in, double bytes)
{
    const struct sp_plan *p = in->plan;
    const struct sp_network *net = &in->hw->network;
    const double out = constant(in, SP_C_SCALE_OUT);
    if (net->kind == SP_TORUS) {
        const double S = (double)in->hw->slices;
        if (S <= 1)
            return 0;
        return 2 * bytes * (S - 1) / S / (sp_dcn_bytes_per_s_per_chip(net) * out);
    }
    const double replicas = (double)(p->dp * p->cp) / (double)p->shards;
    if (replicas <= 1)
        return 0;
    const struct group g = {replicas, replica_stride(p) * (double)p->shards, false};
    return 2 * gather_s(in, g, bytes);
}

double sp_stage_hop_s(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    const struct sp_network *net = &in->hw->network;
    if (p->pp <= 1)
        return 0;
    const double bytes = ELEMENT * shard_tokens(p) * (double)in->model->d_model / (double)p->tp;
    const int64_t apart = p->stages_inside ? p->tp * p->cp : p->tp * p->cp * p->dp;
    const bool inside = (double)(2 * apart) <= (double)net->domain;
    const double link = net->kind == SP_TORUS ? net->link_bytes_per_s
                        : inside              ? net->domain_bytes_per_s
                                              : net->scaleout_bytes_per_s;
    const bool hidden = in->framework->overlaps_sends && p->vpp > 1;
    return (hidden ? constant(in, SP_C_CONTENTION) : 1) * bytes / (link * constant(in, SP_C_SEND)) +
           5e-6;
}
