/* Collectives on a torus and on switches. */
#include <math.h>

#include <scaleplan/collective.h>
#include <scaleplan/hardware.h>

double sp_torus_bandwidth_s(enum sp_collective op, double V_bytes, const struct sp_torus_group *g)
{
    double W = 0;
    bool rings = true;
    for (int i = 0; i < g->n; i++) {
        W += sp_axis_bytes_per_s(g->link_bytes_per_s, g->length[i], g->wraps[i]);
        rings = rings && (g->wraps[i] || g->length[i] <= 1);
    }
    if (W <= 0)
        return 0;
    const double gather = V_bytes / W;
    switch (op) {
    case SP_ALL_REDUCE:
        return 2 * gather;
    case SP_ALL_TO_ALL:
        return rings ? gather / 4 : gather / 2;
    default:
        return gather;
    }
}

double sp_one_way_ring_link_bytes(enum sp_collective op, double V_bytes, double X)
{
    const double share = op == SP_ALL_REDUCE ? 2 : op == SP_ALL_TO_ALL ? 0.5 : 1;
    return share * V_bytes * (X - 1) / X;
}

double sp_torus_latency_s(enum sp_collective op, const struct sp_torus_group *g)
{
    double hops = 0;
    for (int i = 0; i < g->n; i++)
        hops += (double)(g->wraps[i] ? (g->length[i] + 1) / 2 : g->length[i] - 1);
    return (op == SP_ALL_REDUCE ? 2 : 1) * hops * g->hop_latency_s;
}

double sp_latency_threshold_bytes(double link_bytes_per_s, double hop_latency_s)
{
    return link_bytes_per_s * hop_latency_s;
}

double sp_send_s(double bytes, double ports, double link_bytes_per_s)
{
    return bytes / (ports * link_bytes_per_s);
}

int64_t sp_corner_hops(const struct sp_torus_group *g)
{
    int64_t hops = 0;
    for (int i = 0; i < g->n; i++)
        hops += g->wraps[i] ? g->length[i] / 2 : g->length[i] - 1;
    return hops;
}

struct sp_switch_time sp_switch_collective(enum sp_collective op, double V_bytes,
                                           const struct sp_switch_group *g)
{
    const double D = fmin(g->devices, g->domain), M = fmax(g->devices / g->domain, 1);
    const double factor = op == SP_ALL_REDUCE ? 2 : 1;
    const double node_share = op == SP_ALL_TO_ALL ? 1 / D : 1,
                 cross_share = op == SP_ALL_TO_ALL ? 1 / M : 1;
    const double inside = 1 / fmin(g->inner, D), outside = D / fmax(D, g->inner);
    const double node = V_bytes / g->domain_bytes_per_s * inside * node_share;
    const double cross = M > 1 ? V_bytes / g->node_bytes_per_s * outside * cross_share : 0;
    struct sp_switch_time t = {
        .node_s = factor * node * (D - 1) / D,
        .cross_s = factor * cross * (M - 1) / M,
        .rough_s = factor * fmax(D > 1 ? node : 0, cross),
    };
    t.node_rate = t.node_s > 0 ? V_bytes / t.node_s : INFINITY;
    t.cross_rate = t.cross_s > 0 ? V_bytes / t.cross_s : INFINITY;
    return t;
}

double sp_derated_s(double time_s, double V_bytes, double half_bytes)
{
    return V_bytes > 0 ? time_s * (1 + half_bytes / V_bytes) : 0;
}

double sp_in_network_all_reduce_s(double V_bytes, double domain_bytes_per_s)
{
    return V_bytes / domain_bytes_per_s;
}

double sp_ragged_share(double k, double Z)
{
    return fmin(k / Z, 1) * (Z - 1) / Z;
}

double sp_ragged_share_exact(double k, double Z)
{
    return (1 - pow((Z - 1) / Z, k)) * (Z - 1) / Z;
}
