/* comm on switches: nodes, scalable units, spine. */
#include <math.h>

#include "commands/comm.h"

/* The level whose links take longest. */
static const char *slowest(const struct sp_switch_time *t)
{
    if (t->spine_s > fmax(t->node_s, t->cross_s))
        return "spine";
    return t->cross_s > t->node_s ? "cross" : "node";
}

static double put_send(const struct sp_comm *f, const struct sp_switch_group *g)
{
    struct sp_report *r = f->report;
    const bool far = g->devices > g->domain;
    const double W = far ? g->node_bytes_per_s / g->domain : g->domain_bytes_per_s;
    const double send = sp_send_s(f->V, 1, W);
    sp_symbol(r, "W", W, "bytes/s",
              far ? "scale-out egress of one device" : "egress of one device");
    sp_put_text(r, SP_Q_COMM_BOUND, "%s", far ? "cross" : "node");
    sp_put(r, SP_Q_COMM_SEND_SWITCHED, send);
    sp_put_null(r, SP_Q_COMM_LATENCY);
    sp_put(r, SP_Q_COMM_TIME_SWITCHED, send);
    sp_put(r, SP_Q_COMM_RATE, send > 0 ? f->V / send : NAN);
    sp_line(r, "time         {time_s} at {effective_bytes_per_s}, %s",
            far ? "from node to node" : "inside a node");
    return send;
}

static void put_levels(const struct sp_comm *f, const struct sp_switch_time *t)
{
    struct sp_report *r = f->report;
    sp_symbol(r, "node_s", t->node_s, "s", "inside nodes");
    sp_symbol(r, "cross_s", t->cross_s, "s", "across nodes");
    sp_symbol(r, "spine_s", t->spine_s, "s", "between scalable units");
    sp_put(r, SP_Q_COMM_NODE, t->node_s);
    sp_put(r, SP_Q_COMM_CROSS, t->cross_s);
    sp_put(r, SP_Q_COMM_SPINE, t->spine_s);
    sp_put(r, SP_Q_COMM_ROUGH, t->rough_s);
    sp_put(r, SP_Q_COMM_NODE_RATE, t->node_rate);
    sp_put(r, SP_Q_COMM_CROSS_RATE, t->cross_rate);
    sp_put(r, SP_Q_COMM_SPINE_RATE, t->spine_rate);
    sp_line(r,
            "time         {time_s}, bound by {bound}: inside nodes {node_s} "
            "({node_bytes_per_s})%s%s; rough {rough_s}",
            t->cross_s > 0 ? ", across {cross_s} ({cross_bytes_per_s})" : "",
            t->spine_s > 0 ? ", between units {spine_s} ({spine_bytes_per_s})" : "");
}

static void put_traffic(const struct sp_comm *f, const struct sp_switch_group *g)
{
    struct sp_report *r = f->report;
    const struct sp_switch_bytes bytes = sp_node_switch_bytes((enum sp_collective)f->op, f->V, g);
    const bool known = g->inner <= 1 && g->devices > 1 && isnan(f->args->value.top_k);
    sp_put(r, SP_Q_COMM_SWITCH_IN, known ? bytes.in : NAN);
    sp_put(r, SP_Q_COMM_SWITCH_OUT, known ? bytes.out : NAN);
    sp_line(r, "             a node's switch takes in {switch.ingress_bytes} and gives out "
               "{switch.egress_bytes}");
}

static void put_in_network(const struct sp_comm *f, const struct sp_switch_time *t)
{
    struct sp_report *r = f->report;
    const double sharp = sp_in_network_all_reduce_s(t);
    const double gain = sp_switch_bound_s(t) / sharp,
                 measured = fmin(SP_IN_NETWORK_MEASURED_GAIN, gain);
    if (f->op != SP_ALL_REDUCE || !(sharp > 0))
        return;
    sp_symbol(r, "measured_gain", measured, "", "of in-network reduction, at most that of theory");
    sp_put(r, SP_Q_COMM_SHARP, sharp);
    sp_put(r, SP_Q_COMM_SHARP_GAIN, gain);
    sp_put(r, SP_Q_COMM_SHARP_MEASURED, sp_switch_bound_s(t) / measured);
    sp_line(r,
            "in-network   {in_network_s} if the switches add up (SHARP), {in_network_gain} "
            "times as fast in theory; {in_network_measured_s} at the %s that is measured%s",
            sp_human_text(measured, SP_NUMBER),
            gain < SP_IN_NETWORK_MEASURED_GAIN ? " at most" : "");
}

/* The dense exchange beside the ragged one, and both forms of its share. */
static void put_ragged(const struct sp_comm *f, const struct sp_switch_group *g,
                       const struct sp_switch_time *dense)
{
    struct sp_report *r = f->report;
    const double k = f->args->value.top_k, nodes = fmax(g->devices / g->domain, 1);
    sp_put(r, SP_Q_COMM_DENSE, sp_switch_bound_s(dense));
    if (isnan(k))
        return;
    sp_symbol(r, "k", k, "", "devices that a token goes to");
    sp_symbol(r, "Z", g->devices, "", "devices of the group");
    sp_symbol(r, "M", nodes, "", "nodes of the group");
    sp_put(r, SP_Q_COMM_RAGGED, sp_ragged_share(k, g->devices));
    sp_put(r, SP_Q_COMM_RAGGED_EXACT, sp_ragged_share_exact(k, g->devices));
    sp_put(r, SP_Q_COMM_RAGGED_NODES, nodes > 1 ? sp_ragged_share(k, nodes) : NAN);
    sp_put(r, SP_Q_COMM_RAGGED_RATIO, fmin(k / g->devices, 1));
    sp_put(r, SP_Q_COMM_RAGGED_S, dense->rough_s * fmin(k / g->devices, 1));
    sp_line(r, "ragged       {ragged_share} of the bytes ({ragged_share_exact} exactly); roughly "
               "{ragged_s}; to all devices it would take {dense_s}");
}

/* The third level: units of --unit nodes, or those of the machine's own fabric. */
static void set_units(const struct sp_comm *f, struct sp_device_group *group)
{
    const struct sp_network *net = &f->hw.network;
    const struct sp_device_group own = sp_machine_group(&f->hw);
    const double given = f->args->value.unit, W = f->args->value.unit_bandwidth;
    const bool chosen = !isnan(given);
    group->unit_devices = chosen ? given * (double)net->domain : own.unit_devices;
    group->unit_bytes_per_s = !isnan(W) ? W
                              : chosen  ? given * sp_node_bytes_per_s(net)
                                        : own.unit_bytes_per_s;
}

static double put_collective(const struct sp_comm *f, struct sp_device_group *group)
{
    struct sp_report *r = f->report;
    const struct sp_switch_group *const g = &group->nodes;
    const enum sp_collective op = (enum sp_collective)f->op;
    const double k = f->args->value.top_k;
    set_units(f, group);
    group->ragged_to = isnan(k) ? 0 : k;
    const struct sp_collective_time t = sp_time_of_collective(op, f->V, group);
    const bool known = !isnan(t.latency_s);
    sp_symbol(r, "D_n", fmin(g->devices, g->domain), "devices", "devices of one node");
    sp_symbol(r, "hops", t.hops, "", "levels of a tree of all devices, log2");
    sp_symbol(r, "T_min", group->hop_latency_s, "s", "latency of one hop");
    sp_put_text(r, SP_Q_COMM_BOUND, "%s",
                t.latency_s > t.throughput_s ? "latency" : slowest(&t.levels));
    sp_put(r, SP_Q_COMM_BANDWIDTH_EXACT, t.throughput_s);
    sp_put(r, SP_Q_COMM_LATENCY_TREE, t.latency_s);
    sp_put(r, known ? SP_Q_COMM_TIME : SP_Q_COMM_TIME_SWITCHED, t.time_s);
    sp_put(r, SP_Q_COMM_RATE, t.time_s > 0 ? f->V / t.time_s : NAN);
    put_levels(f, &t.levels);
    put_traffic(f, g);
    put_in_network(f, &t.levels);
    if (op == SP_ALL_TO_ALL)
        put_ragged(f, g, &t.dense);
    if (!known)
        sp_note(r,
                "throughput only; --set hw.network.hop_latency_s=... adds a tree of log2 N hops");
    return t.time_s;
}

bool sp_comm_switched(const struct sp_comm *f, double *time_s, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const double group = f->args->value.group, W = f->args->value.bandwidth;
    const double of_mesh = f->mesh.n > 0 ? sp_axes_product(&f->mesh, f->axes) : NAN;
    struct sp_device_group on = sp_group_on(&f->hw);
    struct sp_switch_group *const g = &on.nodes;
    g->devices = !isnan(group) ? group : !isnan(of_mesh) ? of_mesh : (double)sp_chips(&f->hw);
    g->inner = f->args->value.inner;
    if (!isnan(W))
        g->domain_bytes_per_s = W;
    if (g->devices > g->domain && fmod(g->devices, g->domain) != 0)
        return sp_fail(error, SP_INPUT,
                       "--group: beyond one domain of %s devices, whole domains only",
                       sp_human_text(g->domain, SP_COUNT));
    if (g->inner > g->devices)
        return sp_fail(error, SP_INPUT, "--inner: more than the %s devices of the group",
                       sp_human_text(g->devices, SP_COUNT));
    sp_symbol(r, "W_gpu", g->domain_bytes_per_s, "bytes/s", "egress of one device");
    sp_symbol(r, "W_node", g->node_bytes_per_s, "bytes/s", "scale-out egress of one node");
    sp_put(r, SP_Q_COMM_DEVICES, g->devices);
    *time_s = f->op == SP_COMM_SEND ? put_send(f, g) : put_collective(f, &on);
    return true;
}
