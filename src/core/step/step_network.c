/* Collectives of a plan on the networks that their groups span. Rank order: TP innermost, then CP,
 * DP, PP; with `stages_inside` PP before DP. */
#include <math.h>

#include <scaleplan/network.h>

#include "core/network/token_copies.h"
#include "core/step/step_internal.h"

/* Position of a group on a torus with TP axes: inside TP's box, beside it, or on all axes, like EP,
 * which includes TP's ranks. */
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

/* Torus with given TP axes. TP's box has whole axes, which may be rings, and parts of axes, which
 * are lines. Other groups use the rest; if TP takes part of an axis, as many groups as that part is
 * long share its links. */
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

/* Torus: a group of n on a slice of N gets log n / log N of the bandwidth of all axes. */
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

/* Ranks per node in the order TP, CP, DP; if stages come between, a node holds TP x CP blocks of
 * one stage, or part of one. */
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

/* Ranks of a group per node, at least one. */
static double ranks_inside(const struct sp_step_inputs *in, struct group g)
{
    return sp_larger(1, sp_smaller(g.size, floor(ranks_in_node(in) / g.stride)));
}

/* Gather or reduce-scatter inside a domain: `moving` seconds at link rate, plus NCCL's measured
 * latency. With direct links instead of switches (network.domain_links) a group of n uses n - 1
 * links; closed forms use the full egress, as the textbook. */
static double inside_domain_s(const struct sp_step_inputs *in, double ranks, double moving)
{
    const struct sp_collective_curve *const c = &in->hw->chip.kernels.collective[SP_ALL_GATHER];
    return moving + (c->share > 0 ? c->latency_s + (ranks - 1) * c->rank_latency_s
                                  : (ranks - 1) * in->hw->network.domain_latency_s);
}

/* Seconds between nodes, if the transport was measured and each device there sends `line_s` seconds
 * at its line's rate; NAN if it was not. Software in training reaches at most the profile's share,
 * and at most the rate that the transport reaches alone. */
static double measured_s(const struct sp_network *net, enum sp_collective op, double nodes,
                         double line_s, double share)
{
    const struct sp_transport_curve c = sp_transport_of(&net->transport, op, nodes);
    return c.share > 0 ? sp_transport_s(c.start_s, c.ramp_s, line_s, c.growth, nodes,
                                        sp_smaller(c.share, share))
                       : NAN;
}

/* Seconds to gather or reduce-scatter `bytes` at the profile's efficiencies. sp_collective_s is the
 * textbook's, at published rates with the slowest level only; here levels overlap in part. */
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
    const double sent = bytes * (nodes - 1) / nodes, line = inside * net->scaleout_bytes_per_s;
    const double measured = measured_s(net, SP_ALL_GATHER, nodes, sent / line, out);
    const double across = isnan(measured) ? sp_smooth_max(moving, sent / (line * out)) +
                                                net->scaleout_latency_s * (nodes - 1)
                                          : sp_smooth_max(moving, measured);
    /* more nodes never finish sooner than one */
    return inside > 1 ? sp_larger(across, inside_domain_s(in, inside, moving)) : across;
}

/* A group's part of a torus axis. */
struct part_of_axis {
    int64_t room;   /* available length */
    double sharers; /* groups that share the links */
    bool wraps;     /* the whole length is a ring */
};

/* A group's part of each axis: all of it, TP's box, or what the box leaves. */
static void list_parts_of_axes(const struct sp_step_inputs *in, enum place place,
                               struct part_of_axis part[])
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

/* Load of the busiest link if the group takes `length` of the axis, in shares of a device. */
static double pairs_on(const struct part_of_axis *axis, int64_t length)
{
    return axis->sharers * sp_exchange_pairs(length, axis->wraps && length == axis->room);
}

/* Least load of an all-to-all over boxes of at least `size` devices with sides dividing the axes;
 * INFINITY if none. In shares of a device. */
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

/* All-to-all on a torus, on the best box of a slice: EP never leaves a slice. */
static double torus_exchange_s(const struct sp_step_inputs *in, struct group g, double bytes)
{
    struct part_of_axis part[SP_MAX_AXES];
    list_parts_of_axes(in, g.place, part);
    return bytes * least_pairs(part, g.size) /
           (in->hw->network.link_bytes_per_s * constant(in, SP_C_EXCHANGE));
}

/* Share of the line's rate between nodes for kernels that send one copy per node: DeepEP's dispatch
 * and combine over 4 and 8 nodes of H800 with 400 Gb/s per GPU took 58 and 51 GB/s, of which 3/4
 * and 7/8 leave the node. DeepEP, docs/legacy.md. */
static const double once_a_node_share = 0.87;

/* Seconds in which a device sends `sent` bytes of NCCL's all-to-all to other nodes, at the rate of
 * other collectives in training, or at the rate measured alone on that transport. */
static double across_s(const struct sp_step_inputs *in, double nodes, double sent)
{
    const struct sp_network *const net = &in->hw->network;
    const double line_s = sent / net->scaleout_bytes_per_s, out = constant(in, SP_C_SCALE_OUT);
    const double measured = measured_s(net, SP_ALL_TO_ALL, nodes, line_s, out);
    return isnan(measured) ? line_s / out : measured;
}

/* One direction of an expert exchange on switches: `tokens` per rank, `bytes` each, to their
 * experts. Links inside and between nodes work in parallel; the longer time counts. */
static double switched_exchange_s(const struct sp_step_inputs *in, struct group g, double picks,
                                  double tokens_bytes)
{
    const struct sp_network *net = &in->hw->network;
    const double inside = ranks_inside(in, g);
    const double nodes = g.size / inside;
    const struct sp_expert_group group = {
        .ranks = g.size,
        .inside = inside,
        .picks = picks,
        .most_nodes = sp_most_nodes(&in->model->moe, nodes),
        .once_a_node = sp_sends_once_a_node(in->plan->execution.dispatch),
    };
    const struct sp_copies_of_token copies = sp_copies_of_token(&group);
    const double near = sp_domain_bytes_per_s(net, inside) * constant(in, SP_C_EXCHANGE);
    const double within = inside > 1 ? tokens_bytes * copies.within / near : 0;
    const double sent = tokens_bytes * copies.across;
    const double across = nodes <= 1 ? 0
                          : group.once_a_node
                              ? sent / (net->scaleout_bytes_per_s * once_a_node_share)
                              : across_s(in, nodes, sent);
    return sp_smooth_max(within, across);
}

/* The same by the plan's dispatcher on any network. */
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

/* Whether TP ranks hold partial sums of a block (mixer or MLP), so that its input is gathered and
 * its output reduced. */
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

/* Whether TP collectives overlap matmuls: frameworks do so by writing into each other's memory,
 * within a domain; XLA on any torus. */
static bool overlaps_tp(const struct sp_step_inputs *in)
{
    const struct sp_network *const net = &in->hw->network;
    return in->framework->overlaps_tp && (net->kind == SP_TORUS || in->plan->tp <= net->domain);
}

/* Blocks per layer that TP sums: the mixer's (twice with cross-attention) and the MLP's. */
struct summed_blocks {
    double mixer, mlp;
};

static struct summed_blocks summed_of(const struct sp_layer *layer, const struct sp_plan *p)
{
    const bool both = layer->mixer.heads > 0 && layer->cross.heads > 0;
    return (struct summed_blocks){is_summed(layer, p, true) * (both ? 2 : 1),
                                  is_summed(layer, p, false)};
}

/* Whether the block's first matmuls, or their adapters, have a weight gradient, for which the
 * backward pass gathers the input again. */
static bool learns_first(const struct sp_layer *layer, bool mixer)
{
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        if ((m->op <= SP_OP_OUT) == mixer && m->split != SP_TP_ROWS && (!m->frozen || m->rank > 0))
            return true;
    }
    return false;
}

/* Bytes of a micro-batch's tokens with `width` elements each. */
static double tp_bytes(const struct sp_step_inputs *in, const struct sp_layer *layer, double width)
{
    return SP_ELEMENT * sp_shard_tokens(in->plan) *
           sp_stream_share(layer->own, (double)in->plan->seq) * width;
}

/* Exposed share of TP collectives that overlap matmuls. */
static double tp_exposed(const struct sp_step_inputs *in)
{
    return overlaps_tp(in) ? constant(in, SP_C_TP_EXPOSED) : 1;
}

/* Collectives of R numbers per token for adapters under TP: on column-split matmuls the gradient
 * between A and B is all-reduced; on row-split ones A's output is reduce-scattered, and gathered in
 * the backward pass. Not overlapped. */
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

double sp_tp_collectives(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    if (in->plan->tp == 1)
        return 0;
    const struct summed_blocks b = summed_of(layer, in->plan);
    const double inputs = b.mixer * learns_first(layer, true) + b.mlp * learns_first(layer, false);
    /* sums of all ranks in both passes; of shards, a gather and a scatter each, and inputs again */
    return in->plan->sequence_parallel ? 4 * (b.mixer + b.mlp) + inputs : 2 * (b.mixer + b.mlp);
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
    /* attention and MLP: a gather and a reduce-scatter each, in both passes; the backward pass
     * gathers inputs of weight gradients again */
    const struct summed_blocks blocks = summed_of(layer, p);
    const double mixer = blocks.mixer, mlp = blocks.mlp;
    const double inputs = mixer * learns_first(layer, true) + mlp * learns_first(layer, false);
    const double once = (mixer + mlp) * 4 + (p->sequence_parallel ? inputs : 0);
    /* repeated: the gather before a block's first matmuls (only with sequence shards), and the
     * reduction after its last, half of which is a scatter */
    const bool routed = layer->picks > 0;
    const double up = shares->of[routed ? SP_OP_EXPERT_UP : SP_OP_UP],
                 down = shares->of[routed ? SP_OP_EXPERT_DOWN : SP_OP_DOWN];
    const double gathers = mixer * (r->qkv > 0) + mlp * (up > 0);
    const double sums = (mixer * r->out + mlp * down) * (1 - r->spare);
    const double again = p->sequence_parallel ? gathers + sums : 2 * sums;
    return (once + p->recompute_layers * again) * gather_s(in, g, bytes) * tp_exposed(in) +
           adapters_tp_s(in, layer, shares);
}

static struct group context_group(const struct sp_step_inputs *in)
{
    return (struct group){(double)in->plan->cp, (double)in->plan->tp, BESIDE_BOX};
}

double sp_context_gather_s(const struct sp_step_inputs *in, double bytes)
{
    return gather_s(in, context_group(in), bytes);
}

double sp_context_exchange_s(const struct sp_step_inputs *in, double bytes)
{
    const struct group g = context_group(in);
    const struct sp_network *const net = &in->hw->network;
    if (g.size <= 1 || bytes <= 0)
        return 0;
    if (net->kind == SP_TORUS)
        return torus_exchange_s(in, g, bytes);
    const double inside = ranks_inside(in, g);
    const double near = sp_domain_bytes_per_s(net, inside) * constant(in, SP_C_EXCHANGE);
    const double within = inside > 1 ? bytes * (inside - 1) / g.size / near : 0,
                 sent = bytes * (g.size - inside) / g.size;
    return sp_smooth_max(within, sent > 0 ? across_s(in, g.size / inside, sent) : 0) +
           net->send_latency_s;
}

/* Rings that share a link of the axis with the fewest such rings: as many as TP's box is long
 * there. */
static double rings_on_link(const struct sp_step_inputs *in)
{
    const int32_t *const box = in->plan->tp_axes;
    double least = INFINITY;
    for (int axis = 0; axis < SP_MAX_AXES; axis++)
        if (box[axis] > 0 && in->hw->shape.axis[axis] > box[axis])
            least = sp_smaller(least, box[axis]);
    return isinf(least) ? 1 : least;
}

double sp_context_send_s(const struct sp_step_inputs *in, double bytes)
{
    const struct group g = context_group(in);
    const struct sp_network *const net = &in->hw->network;
    const double up = constant(in, SP_C_SCALE_UP), out = constant(in, SP_C_SCALE_OUT);
    if (g.size <= 1 || bytes <= 0)
        return 0;
    if (net->kind == SP_TORUS) /* one way over one link */
        return bytes * rings_on_link(in) / (net->link_bytes_per_s * up) + net->hop_latency_s;
    const double inside = ranks_inside(in, g);
    const double near = inside > 1 ? bytes / (sp_domain_bytes_per_s(net, 2) * up) : 0;
    const double far = inside < g.size ? bytes / (net->scaleout_bytes_per_s * out) : 0;
    return sp_larger(near, far) + net->send_latency_s;
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
    const double elements =
        sp_shard_tokens(p) / (double)p->tp * layer->sent * (double)p->etp * sp_expert_load(p);
    const double to = exchange_s(in, g, layer->picks,
                                 elements * sp_dispatch_bytes(p, in->framework)),
                 back = exchange_s(in, g, layer->picks, elements * sp_combine_bytes());
    /* to the experts and back in both passes; repeated if their input, or the block's output, is
     * not kept */
    const double to_again = again->of[SP_OP_EXPERT_UP] >= 1,
                 back_again = again->of[SP_OP_EXPERT_DOWN] >= 1;
    return (2 + p->recompute_layers * to_again) * to +
           (2 + p->recompute_layers * back_again) * back;
}

/* Devices with the same weights apart from sharding: `replicas` groups of `shards`, `here` of all
 * in one slice. */
struct spread {
    double shards, replicas, here, stride;
    enum place place;
};

/* Slices that replicas span, or stages if replicas are fewer; TP, CP and EP have no links between
 * slices. Sums inside a slice cross between slices once. */
static double slices_of_replicas(const struct sp_step_inputs *in)
{
    const bool spans = in->hw->network.kind == SP_TORUS && in->plan->dp % in->hw->slices == 0;
    return spans ? (double)in->hw->slices : 1;
}

/* `experts`: EP's ranks are among these. Routed experts are sharded and reduced over the dp cp tp
 * / (ep etp) ranks with the same experts, for time as for memory. */
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

/* Gather or reduction of the whole array over the shards. Across slices each chip forwards its
 * part. */
static double shards_s(const struct sp_step_inputs *in, const struct spread *s, double bytes)
{
    if (in->hw->network.kind != SP_TORUS || s->shards <= s->here)
        return gather_s(in, (struct group){s->shards, s->stride, s->place}, bytes);
    const double slices = s->shards / s->here;
    const double within = gather_s(in, (struct group){s->here, s->stride, s->place}, bytes);
    return sp_smooth_max(within, bytes * (slices - 1) / slices / (s->here * dcn_bytes_per_s(in)));
}

/* All-reduce of each shard over the replicas: first inside a slice, then each chip's part between
 * slices. */
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

/* Either collective over dense weights and experts. */
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

/* A broadcast passes from rank to rank in pieces of 512 KiB, an eighth of NCCL's buffer of 4 MiB,
 * so that the last of N ranks has all bytes N - 2 pieces later than the first, at the rate of a
 * node's line; then the next broadcast begins. There are as many as ranks or tensors, whichever are
 * fewer. */
double sp_broadcasts_s(const struct sp_step_inputs *in)
{
    static const double piece_bytes = 524288;
    const struct sp_plan *const p = in->plan;
    if (in->framework->broadcast_tensors <= 0) /* the usual */
        return 0;
    const struct spread s = spread_of(in, false);
    const struct group g = {s.shards, s.stride, s.place};
    const double tensors =
        in->framework->broadcast_tensors * (double)in->model->layers / (double)p->pp;
    if (in->hw->network.kind == SP_TORUS || s.shards <= ranks_inside(in, g))
        return 0;
    return sp_broadcasts_fill_s(sp_smaller(s.shards, tensors), s.shards, piece_bytes,
                                sp_node_bytes_per_s(&in->hw->network));
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

/* Bytes/s of a send inside a domain: the profile's share of a device's egress through switches, at
 * most one direct link. */
static double send_bytes_per_s(const struct sp_step_inputs *in)
{
    const struct sp_network *const net = &in->hw->network;
    const double link = sp_domain_bytes_per_s(net, 2) * constant(in, SP_C_SCALE_UP);
    if (net->domain_links == 0)
        return net->domain_bytes_per_s;
    return sp_smaller(net->domain_bytes_per_s, link / constant(in, SP_C_SEND));
}

/* Mean over the boundaries between stages, of which only some leave a node: assuming the slowest
 * made nanotron's two-node run 2.2 times too slow. */
double sp_stage_hop_s(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    const struct sp_network *net = &in->hw->network;
    if (p->pp <= 1)
        return 0;
    const double bytes =
        SP_ELEMENT * sp_shard_tokens(p) * sp_carried_width(in->model) / (double)p->tp;
    const int64_t apart = p->stages_inside ? p->tp * p->cp : p->tp * p->cp * p->dp;
    /* how many of the pp - 1 boundaries leave a node or slice */
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
