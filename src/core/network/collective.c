/* Collectives on a torus and on switches. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/machine.h>
#include <scaleplan/network.h>

#include "core/require.h"

/* Every pair takes the shortest way, axis by axis, and the busiest link sets the time. On rings
 * this equals the book's later text, V max(A,B,C) / (4 N W); its first edition's "a quarter of the
 * gather" holds on a single ring only. An odd ring is faster by 1 - 1/X^2. */
double sp_exchange_pairs(int64_t length, bool wraps)
{
    const int64_t half = length / 2;
    const double crossing = (double)half * (double)(length - half);
    return crossing / (double)length / (wraps ? 2 : 1);
}

double sp_most_exchange_pairs(const struct sp_torus_group *g)
{
    double most = 0;
    for (int i = 0; i < g->n; i++)
        most = fmax(most, sp_exchange_pairs(g->length[i], g->wraps[i]));
    return most;
}

double sp_torus_axes_bytes_per_s(const struct sp_torus_group *g)
{
    return sp_axes_bytes_per_s(g->link_bytes_per_s, g->n, g->length, g->wraps);
}

double sp_torus_chips(const struct sp_torus_group *g)
{
    sp_require(g->n >= 0 && g->n <= 3, "the group must have at most three axes");
    double chips = 1;
    for (int i = 0; i < g->n; i++)
        chips *= (double)g->length[i];
    return chips;
}

double sp_collective_passes(enum sp_collective op)
{
    return op == SP_ALL_REDUCE ? 2 : 1;
}

double sp_one_way_ring_share(enum sp_collective op)
{
    return op == SP_ALL_TO_ALL ? 0.5 : sp_collective_passes(op);
}

struct sp_torus_group sp_wrapped(struct sp_torus_group g, bool wraps)
{
    for (int i = 0; i < g.n; i++)
        g.wraps[i] = wraps;
    return g;
}

double sp_torus_bandwidth_s(enum sp_collective op, double V_bytes, const struct sp_torus_group *g)
{
    const double W = sp_torus_axes_bytes_per_s(g);
    if (W <= 0)
        return 0;
    if (op == SP_ALL_TO_ALL)
        return sp_torus_exchange_s(V_bytes, sp_most_exchange_pairs(g), sp_torus_chips(g),
                                   g->link_bytes_per_s);
    return sp_torus_pass_s(sp_collective_passes(op), V_bytes, W);
}

static double axis_hops(double length, bool wraps)
{
    return wraps ? ceil(length / 2) : ceil(length) - 1;
}

double sp_torus_hops(enum sp_collective op, const struct sp_torus_group *g)
{
    double hops = 0;
    for (int i = 0; i < g->n; i++)
        hops += axis_hops((double)g->length[i], g->wraps[i]);
    return sp_collective_passes(op) * hops;
}

double sp_torus_latency_s(enum sp_collective op, const struct sp_torus_group *g)
{
    return sp_hops_latency_s(sp_torus_hops(op, g), g->hop_latency_s);
}

int64_t sp_corner_hops(const struct sp_torus_group *g)
{
    int64_t hops = 0;
    for (int i = 0; i < g->n; i++)
        hops += g->wraps[i] ? g->length[i] / 2 : g->length[i] - 1;
    return hops;
}

double sp_group_nodes(const struct sp_switch_group *g)
{
    return fmax(g->devices / g->domain, 1);
}

struct sp_switch_time sp_switch_collective(enum sp_collective op, double V_bytes,
                                           const struct sp_switch_group *g)
{
    const double N = g->devices, D = fmin(N, g->domain), M = sp_group_nodes(g);
    const double factor = sp_collective_passes(op);
    const double node_share = op == SP_ALL_TO_ALL ? D / (N * N) : 1,
                 cross_share = op == SP_ALL_TO_ALL ? 1 / M : 1;
    const double inner = fmin(g->inner, D), outside = D / fmax(D, g->inner);
    const double node = V_bytes * node_share / (g->domain_bytes_per_s * inner);
    const double cross = M > 1 ? V_bytes / g->node_bytes_per_s * outside * cross_share : 0;
    struct sp_switch_time t = {
        .node_s = sp_node_pass_s(factor, V_bytes * node_share, g->domain_bytes_per_s, inner, D),
        .cross_s = factor * cross * (M - 1) / M,
        .rough_s = factor * fmax(D > 1 ? node : 0, cross),
        .spine_rate = INFINITY,
    };
    t.node_rate = t.node_s > 0 ? V_bytes / t.node_s : INFINITY;
    t.cross_rate = t.cross_s > 0 ? V_bytes / t.cross_s : INFINITY;
    return t;
}

struct sp_switch_time sp_unit_collective(enum sp_collective op, double V_bytes,
                                         const struct sp_switch_group *g, double unit_devices,
                                         double unit_bytes_per_s)
{
    if (!(unit_devices > 0 && unit_bytes_per_s > 0) || g->devices <= unit_devices)
        return sp_switch_collective(op, V_bytes, g);
    struct sp_switch_group below = *g, above = *g;
    if (op != SP_ALL_TO_ALL) /* each node's link carries everything that leaves the node */
        below.devices = unit_devices;
    above.devices = ceil(g->devices / unit_devices) * unit_devices;
    above.domain = unit_devices;
    above.domain_bytes_per_s = INFINITY;
    above.node_bytes_per_s = unit_bytes_per_s;
    struct sp_switch_time t = sp_switch_collective(op, V_bytes, &below);
    const struct sp_switch_time up = sp_switch_collective(op, V_bytes, &above);
    t.spine_s = up.cross_s;
    t.spine_rate = up.cross_rate;
    t.rough_s = fmax(t.rough_s, up.rough_s);
    return t;
}

double sp_switch_bound_s(const struct sp_switch_time *t)
{
    return sp_slowest_level_s(t->node_s, t->cross_s, t->spine_s);
}

struct sp_switch_bytes sp_node_switch_bytes(enum sp_collective op, double V_bytes,
                                            const struct sp_switch_group *g)
{
    const double D = fmin(g->devices, g->domain), V = V_bytes;
    const bool alone = g->devices <= g->domain;
    const double whole = alone ? V * (D - 1) : V * D;
    switch (op) {
    case SP_ALL_GATHER:
        return (struct sp_switch_bytes){V, whole};
    case SP_REDUCE_SCATTER:
        return (struct sp_switch_bytes){whole, V};
    case SP_ALL_REDUCE:
        return alone ? (struct sp_switch_bytes){V * D, V * D} : (struct sp_switch_bytes){NAN, NAN};
    default:
        return alone ? (struct sp_switch_bytes){V * (D - 1) / D, V * (D - 1) / D}
                     : (struct sp_switch_bytes){NAN, NAN};
    }
}

double sp_dcn_passes(enum sp_collective op, double S)
{
    return op == SP_ALL_TO_ALL ? 1 / S : sp_collective_passes(op);
}

double sp_dcn_s(enum sp_collective op, double V_bytes, double S, double chips, double W_dcn)
{
    return S > 1 ? sp_slices_s(sp_dcn_passes(op, S), V_bytes, chips, W_dcn) : 0;
}

struct sp_device_group sp_group_on(const struct sp_hardware *hw)
{
    const struct sp_network *const net = &hw->network;
    return (struct sp_device_group){
        .switched = net->kind == SP_SWITCHED,
        .torus = {.link_bytes_per_s = net->link_bytes_per_s, .hop_latency_s = net->hop_latency_s},
        .slices = 1,
        .dcn_bytes_per_s = sp_dcn_bytes_per_s_per_chip(net),
        .nodes = {.domain = (double)net->domain,
                  .domain_bytes_per_s = net->domain_bytes_per_s,
                  .node_bytes_per_s = sp_node_bytes_per_s(net),
                  .inner = 1},
        .hop_latency_s = net->hop_latency_s,
        .transport = net->transport,
    };
}

void sp_set_units(struct sp_device_group *g, double nodes, double bytes_per_s)
{
    g->unit_devices = nodes * g->nodes.domain;
    g->unit_bytes_per_s = isnan(bytes_per_s) ? nodes * g->nodes.node_bytes_per_s : bytes_per_s;
}

struct sp_device_group sp_machine_group(const struct sp_hardware *hw)
{
    const struct sp_network *const net = &hw->network;
    struct sp_device_group group = sp_group_on(hw);
    const double links = sp_fabric_size(net, 2).su_spine_bytes_per_s;
    group.nodes.devices = (double)sp_chips(hw);
    if (!group.switched || isnan(net->fabric.nodes_per_su))
        return group;
    sp_set_units(&group, net->fabric.nodes_per_su, links);
    return group;
}

double sp_group_devices(const struct sp_device_group *g)
{
    return g->switched ? g->nodes.devices : sp_torus_chips(&g->torus) * g->slices;
}

/* The longer of throughput and latency, as in the textbook; their sum is reported too. */
static void time_on_torus(enum sp_collective op, double V, const struct sp_device_group *g,
                          struct sp_collective_time *t)
{
    t->ici_s = sp_torus_bandwidth_s(op, V, &g->torus);
    t->dcn_s = sp_dcn_s(op, V, g->slices, sp_torus_chips(&g->torus), g->dcn_bytes_per_s);
    t->throughput_s = fmax(t->ici_s, t->dcn_s);
    t->hops = sp_torus_hops(op, &g->torus);
    t->latency_s = sp_hops_latency_s(t->hops, g->torus.hop_latency_s);
}

struct sp_transport_curve sp_transport_of(const struct sp_transport_curves *curves,
                                          enum sp_collective op, double nodes)
{
    const struct sp_transport_curve *const of = nodes > 1 ? curves->across : curves->inside;
    struct sp_transport_curve c = of[op];
    if (c.share > 0 || op == SP_ALL_TO_ALL)
        return c;
    c = of[SP_ALL_REDUCE];
    c.share = fmin(c.share, 1);
    c.start_s /= 2;
    c.ramp_s /= 2;
    return c;
}

/* Levels pipeline, so the slower one counts. Latency is that of a tree of log2 N hops, if known. */
static void time_on_switches(enum sp_collective op, double V, const struct sp_device_group *g,
                             struct sp_collective_time *t)
{
    const bool ragged = g->ragged_to > 0 && op == SP_ALL_TO_ALL;
    const double share = ragged ? sp_ragged_over_dense(g->ragged_to, g->nodes.devices) : 1;
    const double ends = fmax(g->nodes.devices / g->nodes.inner, 1);
    t->dense = sp_unit_collective(op, V, &g->nodes, g->unit_devices, g->unit_bytes_per_s);
    t->levels = t->dense;
    t->levels.node_s *= share;
    t->levels.cross_s *= share;
    t->levels.spine_s *= share;
    t->throughput_s = sp_switch_bound_s(&t->levels);
    t->hops = sp_collective_passes(op) * ceil(log2(ends));
    t->latency_s = sp_hops_latency_s(t->hops, g->hop_latency_s);
    if (t->throughput_s > 0)
        t->curve = sp_transport_of(&g->transport, op, sp_group_nodes(&g->nodes));
}

struct sp_collective_time sp_time_of_collective(enum sp_collective op, double V,
                                                const struct sp_device_group *g)
{
    struct sp_collective_time t = {0};
    if (g->switched)
        time_on_switches(op, V, g, &t);
    else
        time_on_torus(op, V, g, &t);
    const struct sp_transport_curve *const c = &t.curve;
    t.time_s = c->share > 0 ? sp_transport_s(c->start_s, c->ramp_s, t.throughput_s, c->growth,
                                             sp_group_nodes(&g->nodes), c->share)
                            /* an unknown latency counts as none */
                            : sp_longer_bound_s(t.throughput_s, t.latency_s);
    return t;
}

double sp_collective_s(enum sp_collective op, double V, const struct sp_device_group *g)
{
    return sp_time_of_collective(op, V, g).time_s;
}

double sp_all_reduce_over_s(double X, double V, const struct sp_device_group *g)
{
    if (g->switched) {
        struct sp_device_group wanted = *g;
        wanted.nodes.devices = fmax(X, 1);
        return sp_collective_s(SP_ALL_REDUCE, V, &wanted);
    }
    const struct sp_torus_group *const t = &g->torus;
    int axes = 0;
    for (int i = 0; i < t->n; i++)
        axes += t->length[i] > 1;
    const double growth = pow(X / sp_torus_chips(t), 1.0 / axes);
    double W = 0, hops = 0;
    for (int i = 0; i < t->n; i++) {
        if (t->length[i] <= 1)
            continue;
        const double length = (double)t->length[i] * growth;
        if (!t->wraps[i] && length <= 1)
            return 0;
        W += sp_axis_rate(t->link_bytes_per_s, X, t->wraps[i]);
        hops += axis_hops(length, t->wraps[i]);
    }
    return axes > 0 ? 2 * fmax(V / W, hops * t->hop_latency_s) : 0;
}
