/* Times a collective or a send on a torus or on switches. */
#include "study/group_time.h"

#include <math.h>

#include <scaleplan/forms.h>

/* A send: hops one after the other, links used at once. */
static void send_on_torus(const struct sp_group_question *q, struct sp_group_answer *a)
{
    const struct sp_torus_group *const g = &q->group.torus;
    int axes = 0;
    for (int i = 0; i < g->n; i++)
        axes += g->length[i] > 1;
    a->hops = isnan(q->hops) ? (double)sp_corner_hops(g) : q->hops;
    a->ports = isnan(q->ports) ? fmax(axes, 1) : q->ports;
    a->t.throughput_s = sp_send_s(q->V, a->ports, a->w);
    a->t.latency_s = sp_hops_latency_s(a->hops, a->T_min);
    a->t.time_s = sp_both_bounds_s(a->t.throughput_s, a->t.latency_s);
    a->bound = a->t.latency_s > a->t.throughput_s ? "latency" : "throughput";
}

static void run_on_torus(const struct sp_group_question *q, struct sp_group_answer *a)
{
    a->t = sp_time_of_collective(q->op, q->V, &q->group);
    a->on = sp_torus_bounds(q->op, q->V, &q->group);
    a->devices = sp_group_devices(&q->group);
    a->one_way_share = sp_one_way_ring_share(q->op);
    a->bound = a->t.latency_s > a->t.throughput_s ? "latency"
               : a->t.dcn_s > a->t.ici_s          ? "dcn"
                                                  : "throughput";
}

static void send_on_switches(const struct sp_group_question *q, struct sp_group_answer *a)
{
    const struct sp_switch_group *const g = &q->group.nodes;
    a->is_far = g->devices > g->domain;
    a->w = a->is_far ? sp_scaleout_share(g->node_bytes_per_s, g->domain) : g->domain_bytes_per_s;
    a->ports = 1;
    a->t.time_s = a->t.throughput_s = sp_send_s(q->V, a->ports, a->w);
    a->t.hops = a->t.latency_s = NAN;
    a->bound = a->is_far ? "cross" : "node";
}

/* The level whose links take longest. */
static const char *slowest(const struct sp_switch_time *t)
{
    if (t->spine_s > fmax(t->node_s, t->cross_s))
        return "spine";
    return t->cross_s > t->node_s ? "cross" : "node";
}

static void run_on_switches(const struct sp_group_question *q, struct sp_group_answer *a)
{
    const struct sp_switch_group *const g = &q->group.nodes;
    a->t = sp_time_of_collective(q->op, q->V, &q->group);
    a->bound = a->t.latency_s > a->t.throughput_s ? "latency" : slowest(&a->t.levels);
    a->traffic = g->inner <= 1 && g->devices > 1 && isnan(q->top_k)
                     ? sp_node_switch_bytes(q->op, q->V, g)
                     : (struct sp_switch_bytes){NAN, NAN};
    a->in_node = fmin(g->devices, g->domain);
    a->inner = fmin(g->inner, a->in_node);
    a->node_bytes_per_s = g->domain_bytes_per_s;
    a->over_nodes = sp_group_nodes(g);
    a->nodes = g->devices > g->domain ? a->over_nodes : NAN;
    a->ragged_over_dense = sp_ragged_over_dense(q->top_k, g->devices);
    if (q->op != SP_ALL_REDUCE || a->t.curve.share > 0)
        return;
    /* the time if switches add up; a measured time already includes it */
    a->in_network_s = sp_in_network_all_reduce_s(a->t.levels.rough_s);
    a->gain = sp_in_network_gain(a->t.throughput_s, a->in_network_s);
    a->measured_gain = sp_in_network_measured_gain(a->gain);
}

void sp_time_on_group(const struct sp_group_question *q, struct sp_group_answer *a)
{
    *a = (struct sp_group_answer){.bound = ""};
    if (q->group.switched) {
        a->devices = q->group.nodes.devices;
        a->T_min = q->group.hop_latency_s;
        (q->sends ? send_on_switches : run_on_switches)(q, a);
    } else {
        a->w = q->group.torus.link_bytes_per_s;
        a->T_min = q->group.torus.hop_latency_s;
        (q->sends ? send_on_torus : run_on_torus)(q, a);
    }
}
