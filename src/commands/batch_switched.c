/* batch on switches: nodes, the machine of exactly so many of them, replicas and experts. */
#include <math.h>

#include <scaleplan/fit.h>
#include <scaleplan/machine.h>
#include <scaleplan/network.h>

#include "commands/batch.h"

/* Seconds a byte of a gather over so many devices, each level with its (n-1)/n. */
static struct sp_collective_time gather_over(const struct batch *f, double devices)
{
    struct sp_device_group group = sp_machine_group(&f->hw);
    group.nodes.devices = devices;
    return sp_time_of_collective(SP_ALL_GATHER, 1, &group);
}

/* The thresholds of this very number of nodes: the levels above drop the (n-1)/n. */
static void put_machine(const struct batch *f)
{
    struct sp_report *r = f->report;
    if (f->N <= 1)
        return;
    const struct sp_collective_time t = gather_over(f, f->N);
    const double critical = sp_critical_tokens_per_chip(f->C_wire, 1 / t.throughput_s, f->r);
    sp_symbol(r, "gather", t.throughput_s, "s/byte", "of an all-gather over all N, (n-1)/n kept");
    sp_symbol(r, "gather_node", t.levels.node_s, "s/byte", "inside nodes");
    sp_symbol(r, "gather_cross", t.levels.cross_s, "s/byte", "across the nodes");
    sp_put(r, SP_Q_BATCH_MACHINE, critical);
    sp_put(r, SP_Q_BATCH_MACHINE_NODE,
           sp_critical_tokens_per_chip(f->C_wire, 1 / t.levels.node_s, f->r));
    if (t.levels.cross_s > 0)
        sp_put(r, SP_Q_BATCH_MACHINE_CROSS,
               sp_critical_tokens_per_chip(f->C_wire, 1 / t.levels.cross_s, f->r));
    sp_put(r, SP_Q_BATCH_MACHINE_TOTAL, f->N * critical);
    if (f->has_batch)
        sp_put_bool(r, SP_Q_BATCH_MACHINE_OK, f->B / f->N >= critical);
    sp_line(r,
            "this machine {critical.machine} tokens a chip, (n-1)/n of each level kept%s; "
            "{batch_needed.machine} for {chips} chips",
            t.levels.cross_s > 0
                ? ": inside nodes {critical.machine_node}, across {critical.machine_cross}"
                : "");
}

/* TP of exactly so many devices, over two nodes where none is given: both levels carry it at once,
 * and the slower one binds. */
static void put_exact_tp(const struct batch *f, double domain)
{
    struct sp_report *r = f->report;
    const bool given = f->tp > 1;
    const double Y = given ? f->tp : 2 * domain, nodes = ceil(Y / domain);
    const double gather = gather_over(f, Y).throughput_s;
    if (isnan(f->F) && !given)
        return;
    sp_symbol(r, "gather_tp", gather, "s/byte",
              "of an all-gather over %s devices, the slower level with its (n-1)/n",
              sp_human_text(Y, SP_COUNT));
    sp_put(r, SP_Q_BATCH_TP_NODES_OF, nodes);
    if (!isnan(f->F))
        sp_put(r, SP_Q_BATCH_TP_NODES, sp_max_tp_degree(f->C_wire, 1 / gather, f->F));
    if (given)
        sp_put(r, SP_Q_BATCH_DFF_NODES, sp_min_d_ff_for_tp(Y, f->C_wire, 1 / gather));
    if (given && !isnan(f->F))
        sp_put_bool(r, SP_Q_BATCH_TP_NODES_OK, Y <= sp_max_tp_degree(f->C_wire, 1 / gather, f->F));
    char degree[32] = "TP", width[96] = "";
    if (given)
        snprintf(degree, sizeof degree, "TP %s", sp_human_text(Y, SP_COUNT));
    if (given)
        snprintf(width, sizeof width, " an MLP width of {d_ff_min.over_nodes} hides it%s",
                 isnan(f->F) ? "" : ", and this one: {tp_hides.over_nodes};");
    sp_line(r, "%-12s over {tp_limit.nodes} %s, each level with its (n-1)/n:%s%s", degree,
            nodes > 1 ? "nodes" : "node", width,
            isnan(f->F) ? "" : " TP up to {tp_limit.over_nodes}");
}

static void put_experts(const struct batch *f, double W_node)
{
    struct sp_report *r = f->report;
    const double domain = (double)f->hw.network.domain, W_gpu = f->hw.network.domain_bytes_per_s;
    if (isnan(f->ep) && isnan(f->experts))
        return;
    sp_symbol(r, "alpha_cross", f->C_wire / W_node, "FLOPs/byte", "C b / (2 W_node)");
    sp_put(r, SP_Q_BATCH_EP_LIMIT, sp_min_d_ff_for_ep_limit(domain, f->C_wire, W_node));
    if (!isnan(f->ep)) {
        const double least = sp_min_d_ff_for_ep(f->ep, f->top_k, domain, f->C_wire, W_gpu, W_node);
        sp_symbol(r, "alpha_node", f->C_wire / W_node, "FLOPs/byte", "C b / (2 W_node)");
        sp_symbol(r, "alpha_gpu", f->C_wire / W_gpu, "FLOPs/byte", "C b / (2 W_gpu)");
        sp_symbol(r, "Z", f->ep, "", "expert-parallel degree");
        sp_symbol(r, "k", f->top_k, "", "experts of a token");
        sp_put(r, SP_Q_BATCH_EP, least);
        if (!isnan(f->d_expert))
            sp_put_bool(r, SP_Q_BATCH_EP_OK, f->d_expert >= least);
        sp_line(r, "experts      EP over %s devices hides from an expert width of {ep.d_ff_min}%s",
                sp_human_text(f->ep, SP_COUNT),
                isnan(f->d_expert) ? "" : ": hidden at this one: {ep.compute_bound}");
    }
    sp_line(r, "%-12s EP of any degree hides from an expert width of {ep.d_ff_min_limit}",
            isnan(f->ep) ? "experts" : "");
}

void sp_put_batch_switched(const struct batch *f, const struct sp_args *args)
{
    struct sp_report *r = f->report;
    const struct sp_network *net = &f->hw.network;
    const double W_node = sp_node_bytes_per_s(net), domain = (double)net->domain;
    const double tp = isnan(f->tp) ? 1 : f->tp, pp = args->value.pp;
    const double nodes = sp_model_parallel_nodes(tp, pp, domain);
    const double critical = sp_critical_tokens_per_chip(f->C_wire, W_node, f->r) / nodes;
    sp_put_batch_level(f, "node", net->domain_bytes_per_s, "in a node");
    sp_put_batch_level(f, "cross", W_node, "across nodes");
    sp_scope(r, "");
    sp_put_null(r, SP_Q_BATCH_MIXED);
    sp_put_null(r, SP_Q_BATCH_DCN);
    sp_symbol(r, "W_node", W_node, "bytes/s", "scale-out egress of one node");
    sp_symbol(r, "mp_nodes", nodes, "", "nodes that the model-parallel ranks of a replica span");
    sp_symbol(r, "W_gpu", net->domain_bytes_per_s, "bytes/s", "scale-up egress of one device");
    sp_symbol(r, "domain", domain, "devices", "devices of a node");
    put_machine(f);
    if (!isnan(f->F))
        sp_put(r, SP_Q_BATCH_TP_CHOICE,
               sp_practical_tp(f->F, net->domain_bytes_per_s, f->C_wire, domain));
    put_exact_tp(f, domain);
    sp_put(r, SP_Q_BATCH_MP, critical);
    sp_put(r, SP_Q_BATCH_REPLICA, nodes * W_node);
    if (f->has_batch)
        sp_put_bool(r, SP_Q_BATCH_MP_OK, f->B / f->N >= critical);
    sp_line(r,
            "replicas     {critical.model_parallel} tokens a chip across nodes when a replica "
            "spans %s %s (--tp, --pp), which %s {replica.bytes_per_s}%s",
            sp_human_text(nodes, SP_COUNT), nodes > 1 ? "nodes" : "node",
            nodes > 1 ? "send" : "sends", nodes > 1 ? " together" : "");
    put_experts(f, W_node);
}
