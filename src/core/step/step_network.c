/* Collectives of a plan on the networks that their groups span. Ranks are laid out TP innermost,
 * then CP, DP, and PP outermost; with `stages_inside` PP before DP. */
#include <math.h>

#include <scaleplan/network.h>

#include "core/network/exchange.h"
#include "core/step/step_internal.h"

/* Where a group stands on a torus whose axes TP shares: in TP's box, in what is left beside it, or
 * on all axes, as EP does that takes TP's ranks too. */
enum place { IN_BOX, BESIDE_BOX, ALL_AXES };

/* A group of `size` devices, `stride` ranks apart. */
struct group {
    double size, stride;
    enum place place;
};

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
        if (g.place == IN_BOX)
            rate += links_of_axis(w, mine, wraps && mine == length);
        else
            rate += links_of_axis(w, length / mine, wraps) / (double)mine;
        rest *= (double)length / (double)mine;
    }
    return g.place == IN_BOX || rest <= 1 ? rate : rate * log(sp_smaller(g.size, rest)) / log(rest);
}

/* Torus: all axes carry the group, as far as its devices fill them. A group of n on a slice of N
 * with A axes uses log n / log N of their bandwidth. */
static double torus_rate(const struct sp_step_inputs *in, struct group g)
{
    const struct sp_hardware *hw = in->hw;
    if (in->plan->tp_axes[0] > 0 && g.place != ALL_AXES)
        return assigned_rate(in, g);
    double rate = 0;
    for (int axis = 0; axis < SP_MAX_AXES; axis++)
        if (hw->shape.axis[axis] > 1)
            rate += sp_axis_bytes_per_s(hw->network.link_bytes_per_s, hw->shape.axis[axis],
                                        sp_axis_wraps(hw, axis));
    const double chips = (double)hw->chips_per_slice;
    const double part = chips > 1 ? log(sp_smaller(g.size, chips)) / log(chips) : 1;
    return rate * part;
}

/* Ranks of the order without stages, TP, CP, then DP, that stand in one node: where the stages
 * stand between, a node holds that many TP x CP blocks of one stage, or a part of one. */
static double ranks_in_node(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    const int64_t domain = in->hw->network.domain, block = p->tp * p->cp;
    if (!p->stages_inside)
        return (double)domain;
    return (double)(p->pp * block <= domain ? domain / (p->pp * block) * block
                    : block < domain        ? block
                                            : domain);
}

/* Ranks of a group that stand in one node: at least one. */
static double ranks_inside(const struct sp_step_inputs *in, struct group g)
{
    return sp_larger(1, sp_smaller(g.size, floor(ranks_in_node(in) / g.stride)));
}

/* A gather or a reduce-scatter among the ranks of a domain, of which `moving` seconds are bytes at
 * the links' rate, with the latency that NCCL was measured to have on the chip. */
static double inside_domain_s(const struct sp_step_inputs *in, double ranks, double moving)
{
    const struct sp_collective_curve *const c = &in->hw->chip.kernels.collective[SP_ALL_GATHER];
    return moving + (c->share > 0 ? c->latency_s + (ranks - 1) * c->rank_latency_s
                                  : (ranks - 1) * in->hw->network.domain_latency_s);
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
               net->hop_latency_s * (g.size > net->most_hops ? net->most_hops : g.size);
    const double inside = ranks_inside(in, g);
    const double nodes = g.size / inside;
    const double near = sp_domain_bytes_per_s(net, inside) * up;
    const double moving = inside > 1 ? bytes * (inside - 1) / inside / near : 0;
    if (nodes <= 1)
        return inside_domain_s(in, inside, moving);
    const double within = moving;
    const double across = bytes * (nodes - 1) / nodes / (inside * net->scaleout_bytes_per_s * out);
    return sp_smooth_max(within, across) + net->scaleout_latency_s * (nodes - 1);
}

/* A group's part of one torus axis. */
struct part_of_axis {
    int64_t room;   /* what the group may have of the axis */
    double sharers; /* groups that use the same links, each of them part of the axis */
    bool wraps;     /* whether the whole room closes into a ring */
};

/* What of each axis a group may have: all of it, what TP's box leaves, or the box. */
static void parts_for(const struct sp_step_inputs *in, enum place place, struct part_of_axis part[])
{
    const int32_t *const box = in->plan->tp_axes;
    const bool given = box[0] > 0 && place != ALL_AXES;
    for (int axis = 0; axis < SP_MAX_AXES; axis++) {
        const int64_t length = in->hw->shape.axis[axis], mine = given ? box[axis] : 1;
        const bool inside = given && place == IN_BOX;
        part[axis] = (struct part_of_axis){
            .room = inside ? mine : length / mine,
            .sharers = inside ? 1 : (double)mine,
            .wraps = sp_axis_wraps(in->hw, axis) && (!inside || mine == length),
        };
    }
}

/* Shares of a device over the busiest link when the group takes `length` of the axis. */
static double pairs_on(const struct part_of_axis *axis, int64_t length)
{
    return axis->sharers * sp_exchange_pairs(length, axis->wraps && length == axis->room);
}

/* The box of at least `size` devices, each side a divisor of its axis, whose busiest link carries
 * least of an all-to-all; INFINITY where the axes have no such box. Shares of a device. */
static double least_pairs(const struct part_of_axis part[], double size)
{
    double least = INFINITY;
    for (int64_t a = 1; a <= part[0].room; a++) {
        const double on_a = pairs_on(&part[0], a);
        for (int64_t b = 1; part[0].room % a == 0 && on_a < least && b <= part[1].room; b++) {
            const double on_b = sp_larger(on_a, pairs_on(&part[1], b));
            for (int64_t c = 1; part[1].room % b == 0 && on_b < least && c <= part[2].room; c++)
                if (part[2].room % c == 0 && (double)(a * b * c) >= size)
                    least = sp_smaller(least, sp_larger(on_b, pairs_on(&part[2], c)));
        }
    }
    return least;
}

/* All-to-all on a torus, on the best box of a slice's axes: no plan's EP leaves a slice. */
static double torus_exchange_s(const struct sp_step_inputs *in, struct group g, double bytes)
{
    struct part_of_axis part[SP_MAX_AXES];
    parts_for(in, g.place, part);
    return bytes * least_pairs(part, g.size) /
           (in->hw->network.link_bytes_per_s * constant(in, SP_C_EXCHANGE));
}

/* One way of an exchange between experts on switches: `tokens` of a rank, `bytes` each, to the
 * experts that each is routed to. Links inside a node and between nodes work at once; the longer
 * counts. */
static double switched_exchange_s(const struct sp_step_inputs *in, struct group g, double picks,
                                  double tokens_bytes)
{
    const struct sp_network *net = &in->hw->network;
    const struct sp_moe *moe = &in->model->moe;
    const double inside = ranks_inside(in, g);
    const double nodes = g.size / inside;
    const struct sp_expert_group group = {
        .ranks = g.size,
        .inside = inside,
        .picks = picks,
        .most_nodes = moe->groups > 0
                          ? (double)moe->top_groups * sp_larger(1, nodes / (double)moe->groups)
                          : INFINITY,
        .once_a_node = sp_sends_once_a_node(in->plan->execution.dispatch),
    };
    const struct sp_copies_of_token copies = sp_copies_of_token(&group);
    const double share = constant(in, SP_C_EXCHANGE);
    const double near = sp_domain_bytes_per_s(net, inside) * share;
    return sp_smooth_max(inside > 1 ? tokens_bytes * copies.within / near : 0,
                         tokens_bytes * copies.across / (net->scaleout_bytes_per_s * share));
}

/* The same by the plan's dispatcher and on any network. */
static double exchange_s(const struct sp_step_inputs *in, struct group g, double picks,
                         double tokens_bytes)
{
    if (g.size <= 1 || tokens_bytes <= 0)
        return 0;
    if (in->plan->execution.dispatch == SP_DISPATCH_ALLGATHER)
        return gather_s(in, g, tokens_bytes * g.size);
    if (in->hw->network.kind == SP_TORUS)
        return torus_exchange_s(in, g, tokens_bytes * picks);
    return switched_exchange_s(in, g, picks, tokens_bytes);
}

/* Whether TP ranks each make a part of a block's sum, the mixer's or the MLP's: then they gather
 * what goes into the block and reduce what comes out. */
static bool is_summed(const struct sp_layer *layer, const struct sp_plan *p, bool mixer)
{
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        if ((m->op == SP_OP_OUT) == mixer && m->split == SP_TP_ROWS &&
            (m->part != SP_PART_EXPERTS || p->etp > 1))
            return true;
    }
    return false;
}

/* Whether TP's collectives hide behind matmuls: frameworks that overlap them write into one
 * another's memory, which ends with the domain; XLA overlaps on any torus. */
static bool overlaps_tp(const struct sp_step_inputs *in)
{
    const struct sp_network *const net = &in->hw->network;
    return in->framework->overlaps_tp && (net->kind == SP_TORUS || in->plan->tp <= net->domain);
}

/* Blocks of a layer whose parts TP sums up: the mixer's, twice where it attends to an encoder too,
 * and the MLP's. */
struct summed_blocks {
    double mixer, mlp;
};

static struct summed_blocks summed_of(const struct sp_layer *layer, const struct sp_plan *p)
{
    const bool both = layer->mixer.heads > 0 && layer->cross.heads > 0;
    return (struct summed_blocks){is_summed(layer, p, true) * (both ? 2 : 1),
                                  is_summed(layer, p, false)};
}

/* Whether a weight of the block's first matmuls, or of adapters beside them, needs its gradient:
 * then the backward pass gathers their input again. Its other two collectives are for gradients of
 * activations. */
static bool learns_first(const struct sp_layer *layer, bool mixer)
{
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        if ((m->op <= SP_OP_OUT) == mixer && m->split != SP_TP_ROWS && (!m->frozen || m->rank > 0))
            return true;
    }
    return false;
}

/* Bytes of a micro-batch's tokens, so many elements each. */
static double tp_bytes(const struct sp_step_inputs *in, const struct sp_layer *layer, double width)
{
    return SP_ELEMENT * sp_shard_tokens(in->plan) *
           sp_stream_share(layer->own, (double)in->plan->seq) * width;
}

/* What is left of TP's collectives behind matmuls. */
static double tp_exposed(const struct sp_step_inputs *in)
{
    return overlaps_tp(in) ? constant(in, SP_C_TP_EXPOSED) : 1;
}

/* Collectives of R numbers a token beside matmuls that TP splits: where it splits the columns, the
 * gradient between A and B is summed over all ranks; where it splits the rows, what A makes is
 * scattered as it is summed, and gathered backward. Nothing hides them. */
static double adapters_tp_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                            const struct sp_shares *shares)
{
    const struct group g = {(double)in->plan->tp, 1, IN_BOX};
    double s = 0;
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        const bool rows = m->split == SP_TP_ROWS;
        if (m->rank == 0 || m->part == SP_PART_EXPERTS || (!rows && m->split != SP_TP_COLUMNS))
            continue;
        const double again = rows ? in->plan->recompute_layers * shares->of[m->op] : 0;
        s += (2 + again) * gather_s(in, g, tp_bytes(in, layer, m->adapted * m->rank));
    }
    return s;
}

double sp_tp_forward_s(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    const struct group g = {(double)in->plan->tp, 1, IN_BOX};
    const struct summed_blocks blocks = summed_of(layer, in->plan);
    return 2 * (blocks.mixer + blocks.mlp) * gather_s(in, g, tp_bytes(in, layer, layer->width)) *
           tp_exposed(in);
}

double sp_tp_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *shares)
{
    const struct sp_plan *p = in->plan;
    const struct sp_recompute *r = &p->recompute;
    const struct group g = {(double)p->tp, 1, IN_BOX};
    if (p->tp == 1)
        return 0;
    const double bytes = tp_bytes(in, layer, layer->width);
    /* attention and MLP: a gather and a reduce-scatter each, in both passes; backward gathers the
     * inputs of the weight gradients again */
    const struct summed_blocks blocks = summed_of(layer, p);
    const double mixer = blocks.mixer, mlp = blocks.mlp;
    const double inputs = mixer * learns_first(layer, true) + mlp * learns_first(layer, false);
    const double once = (mixer + mlp) * 4 + (p->sequence_parallel ? inputs : 0);
    /* what runs again: the gather before a block's first matmuls, which only shards of the sequence
     * need, and the sum after its last one, of which a scatter is half */
    const bool routed = layer->picks > 0;
    const double up = shares->of[routed ? SP_OP_EXPERT_UP : SP_OP_UP],
                 down = shares->of[routed ? SP_OP_EXPERT_DOWN : SP_OP_DOWN];
    const double gathers = mixer * (r->qkv > 0) + mlp * (up > 0);
    const double sums = (mixer * r->out + mlp * down) * (1 - r->spare);
    const double again = p->sequence_parallel ? gathers + sums : 2 * sums;
    return (once + p->recompute_layers * again) * gather_s(in, g, bytes) * tp_exposed(in) +
           adapters_tp_s(in, layer, shares);
}

double sp_cp_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    const struct sp_plan *p = in->plan;
    const struct sp_mixer *x = &layer->mixer, *y = &layer->cross;
    const struct group g = {(double)p->cp, (double)p->tp, BESIDE_BOX};
    const double own = sp_groups_of_rank(x->kv_heads, (double)p->tp) * (x->qk + x->v) *
                       sp_stream_share(layer->own, (double)p->seq);
    const double from = sp_groups_of_rank(y->kv_heads, (double)p->tp) * (y->qk + y->v) *
                        sp_stream_share(layer->from, (double)p->seq);
    const double kv = (own + from) * sp_shard_tokens(p) * (double)p->cp;
    /* a recurrence's ranks need the states that those before them end with, and their gradients */
    const double states = x->state * (double)(p->micro_batch * p->cp) / (double)p->tp;
    /* gathered forward and backward, and their gradients reduced */
    return 3 * gather_s(in, g, SP_ELEMENT * kv) + 2 * gather_s(in, g, states);
}

static enum place place_of_experts(const struct sp_plan *p)
{
    return p->etp == p->tp ? BESIDE_BOX : ALL_AXES;
}

double sp_ep_layer_s(const struct sp_step_inputs *in, const struct sp_layer *layer,
                     const struct sp_shares *again)
{
    const struct sp_plan *p = in->plan;
    if (layer->picks == 0)
        return 0;
    const struct group g = {(double)p->ep, (double)p->etp, place_of_experts(p)};
    const double elements = sp_shard_tokens(p) / (double)p->tp * layer->sent * (double)p->etp *
                            p->imbalance * in->framework->capacity_factor;
    const double to = exchange_s(in, g, layer->picks,
                                 elements * sp_dispatch_bytes(p, in->framework)),
                 back = exchange_s(in, g, layer->picks, elements * sp_combine_bytes());
    /* to the experts and back, in both passes; again to them where their input is not kept, and
     * back where the block's output is not */
    const double to_again = again->of[SP_OP_EXPERT_UP] >= 1,
                 back_again = again->of[SP_OP_EXPERT_DOWN] >= 1;
    return (2 + p->recompute_layers * to_again) * to +
           (2 + p->recompute_layers * back_again) * back;
}

/* The devices that hold the same weights but for their sharding: groups of `shards` of them, and
 * `replicas` of such groups; `here` of them all stand in one slice. */
struct spread {
    double shards, replicas, here, stride;
    enum place place;
};

/* Slices of a torus that the replicas span; the stages span them where dp cannot. */
static double slices_of_replicas(const struct sp_step_inputs *in)
{
    const bool spans = in->hw->network.kind == SP_TORUS && in->plan->dp % in->hw->slices == 0;
    return spans ? (double)in->hw->slices : 1;
}

/* `experts`: EP takes its ranks from those that share everything else. */
static struct spread spread_of(const struct sp_step_inputs *in, bool experts)
{
    const struct sp_plan *p = in->plan;
    const double kinds = (double)(p->ep * p->etp), t = (double)p->tp;
    const double share = experts ? t / kinds : 1, ranks = (double)(p->dp * p->cp) * share;
    const double shards = sp_larger(1, (double)p->shards * share);
    return (struct spread){shards, ranks / shards, ranks / slices_of_replicas(in),
                           experts ? kinds : t, experts ? place_of_experts(p) : BESIDE_BOX};
}

static double dcn_bytes_per_s(const struct sp_step_inputs *in)
{
    return sp_dcn_bytes_per_s_per_chip(&in->hw->network) * constant(in, SP_C_SCALE_OUT);
}

/* Gathering or reducing the whole array over the shards. Where they span slices, each chip of a
 * slice passes its part on between them. */
static double shards_s(const struct sp_step_inputs *in, const struct spread *s, double bytes)
{
    if (in->hw->network.kind != SP_TORUS || s->shards <= s->here)
        return gather_s(in, (struct group){s->shards, s->stride, s->place}, bytes);
    const double slices = s->shards / s->here;
    const double within = gather_s(in, (struct group){s->here, s->stride, s->place}, bytes);
    return sp_smooth_max(within, bytes * (slices - 1) / slices / (s->here * dcn_bytes_per_s(in)));
}

/* All-reduce of each shard over the replicas: inside a slice first, then what each chip is left
 * with between the slices. */
static double replicas_s(const struct sp_step_inputs *in, const struct spread *s, double bytes)
{
    const double mine = bytes / s->shards, stride = s->stride * s->shards;
    if (in->hw->network.kind != SP_TORUS)
        return 2 * gather_s(in, (struct group){s->replicas, stride, s->place}, mine);
    const double here = sp_larger(1, s->here / s->shards), slices = s->replicas / here;
    const double within = 2 * gather_s(in, (struct group){here, stride, s->place}, mine);
    return slices <= 1 ? within
                       : within + 2 * mine / here * (slices - 1) / slices / dcn_bytes_per_s(in);
}

/* One of the two over the dense weights and over the experts. */
static double
both_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held, double bytes_per_param,
       double collective_s(const struct sp_step_inputs *, const struct spread *, double bytes))
{
    const struct spread dense = spread_of(in, false);
    const double dense_s = collective_s(in, &dense, held->dense * bytes_per_param);
    if (held->experts <= 0)
        return dense_s;
    const struct spread experts = spread_of(in, true);
    return dense_s + collective_s(in, &experts, held->experts * bytes_per_param);
}

double sp_shards_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                   double bytes_per_param)
{
    return both_s(in, held, bytes_per_param, shards_s);
}

double sp_replicas_s(const struct sp_step_inputs *in, const struct sp_stage_weights *held,
                     double bytes_per_param)
{
    return both_s(in, held, bytes_per_param, replicas_s);
}

double sp_all_reduce_s(const struct sp_step_inputs *in, double bytes)
{
    const struct spread s = spread_of(in, false);
    return 2 * shards_s(in, &s, bytes) + replicas_s(in, &s, bytes);
}

double sp_owned_params(const struct sp_step_inputs *in, const struct sp_stage_weights *held)
{
    if (in->plan->zero == 0)
        return held->dense + held->experts;
    const double dense = held->dense / spread_of(in, false).shards;
    return held->experts > 0 ? dense + held->experts / spread_of(in, true).shards : dense;
}

/* Bytes/s of a send inside a domain, over the share of links that sends reach: a share of all that
 * a device sends through switches, and no more than the one link to a peer carries. */
static double send_bytes_per_s(const struct sp_step_inputs *in)
{
    const struct sp_network *const net = &in->hw->network;
    const double link = sp_domain_bytes_per_s(net, 2) * constant(in, SP_C_SCALE_UP);
    if (net->domain_links == 0)
        return net->domain_bytes_per_s;
    return sp_smaller(net->domain_bytes_per_s, link / constant(in, SP_C_SEND));
}

double sp_stage_hop_s(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    const struct sp_network *net = &in->hw->network;
    if (p->pp <= 1)
        return 0;
    const double bytes =
        SP_ELEMENT * sp_shard_tokens(p) * sp_carried_width(in->model) / (double)p->tp;
    const int64_t apart = p->stages_inside ? p->tp * p->cp : p->tp * p->cp * p->dp;
    /* of the pp - 1 boundaries between stages so many leave a node, or a slice */
    const bool torus = net->kind == SP_TORUS;
    const double nodes = torus ? (p->dp % in->hw->slices == 0 ? 1 : (double)in->hw->slices)
                               : (double)(p->pp * apart) / (double)net->domain;
    const double leaving = sp_smaller(sp_larger(nodes - 1, 0) / (double)(p->pp - 1), 1);
    const double near = torus ? net->link_bytes_per_s : send_bytes_per_s(in);
    const double far = torus ? sp_dcn_bytes_per_s_per_chip(net) : net->scaleout_bytes_per_s;
    const double send_s =
        bytes * ((leaving < 1 ? (1 - leaving) / near : 0) + (leaving > 0 ? leaving / far : 0));
    return send_s / constant(in, SP_C_SEND) + net->send_latency_s;
}
