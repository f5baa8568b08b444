/* Critical batches of a machine, per network and for its exact number of chips. */
#include "study/critical_batches.h"

#include <math.h>

#include <scaleplan/machine.h>

static void add_level(struct sp_critical_batches *s, const char *key, const char *name, double W)
{
    s->levels[s->n_levels++] = (struct sp_critical_level){
        .of = s,
        .key = key,
        .name = name,
        .W = W,
        .critical = sp_critical_tokens_per_chip(s->C_wire, W, s->r),
        .tp_max = sp_max_tp_degree(s->C_wire, W, s->F),
        .tp_is_split = s->hw.network.kind == SP_SWITCHED && s->tp > s->domain};
}

static void find_mixed(struct sp_critical_batches *s)
{
    const double one_axis = s->levels[0].W;
    if (s->n_levels < 2 || isnan(s->F))
        return;
    s->W_X = one_axis * (double)(s->hw.network.axes - 1);
    s->W_Y = one_axis;
    s->critical_mixed = sp_critical_fsdp_tp(s->C_wire, s->W_X, s->W_Y, s->F, s->r, s->turns);
    if (!s->has_batch)
        return;
    s->has_split = true;
    s->x_opt = sp_optimal_fsdp_degree(s->B, s->N, s->W_X, s->W_Y, s->F, s->r);
    s->x_pow2 = sp_nearest_pow2(s->x_opt);
    s->split =
        sp_best_pow2_split(s->B, (int64_t)s->N, s->F, s->C_wire, s->W_X, s->W_Y, s->r, s->overlap);
}

/* The axes of this slice; open ones are lines. */
static void find_slice(struct sp_critical_batches *s)
{
    const double W = sp_slice_axes_bytes_per_s(&s->hw, (1U << s->hw.network.axes) - 1);
    s->closes = true;
    for (int i = 0; i < s->hw.network.axes; i++)
        s->closes = s->closes && (s->hw.shape.axis[i] == 1 || sp_axis_wraps(&s->hw, i));
    if (W <= 0)
        return;
    s->W_slice = W;
    s->critical_slice = sp_critical_tokens_per_chip(s->C_wire, W, s->r);
}

/* Experts placed on chips of this slice; a chip without a size has no axes for them. */
static void find_torus_experts(struct sp_critical_batches *s)
{
    s->has_experts = s->ep > 1;
    if (!s->has_experts)
        return;
    const struct sp_torus_group box = sp_exchange_box(&s->hw, (int64_t)s->ep);
    s->has_box = box.n > 0;
    if (!s->has_box)
        return;
    s->exchange = sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1, &box);
    s->d_ff_torus = sp_min_d_ff_for_ep_torus(s->top_k, s->C_wire, s->ep, s->exchange);
}

static void find_torus(struct sp_critical_batches *s)
{
    static const char *const keys[] = {"1", "2", "3"};
    static const char *const names[] = {"1 axis", "2 axes", "3 axes"};
    const struct sp_network *const net = &s->hw.network;
    for (int n = 1; n <= net->axes && n <= SP_MAX_AXES; n++)
        add_level(s, keys[n - 1], names[n - 1], 2 * n * net->link_bytes_per_s);
    s->W_1 = 2 * net->link_bytes_per_s;
    find_mixed(s);
    find_slice(s);
    find_torus_experts(s);
    s->W_dcn = sp_dcn_bytes_per_s_per_chip(net);
    s->critical_dcn = sp_critical_tokens_per_chip(s->C_wire, s->W_dcn, s->r);
}

/* Time to gather a byte over `devices` devices, with the factor (n-1)/n per level. */
static struct sp_collective_time gather_over(const struct sp_critical_batches *s, double devices)
{
    struct sp_device_group group = sp_machine_group(&s->hw);
    group.nodes.devices = devices;
    return sp_time_of_collective(SP_ALL_GATHER, 1, &group);
}

/* Critical batches for this number of nodes, with the factor (n-1)/n. */
static void find_machine(struct sp_critical_batches *s)
{
    if (s->N <= 1)
        return;
    const struct sp_collective_time t = gather_over(s, s->N);
    s->W_machine = 1 / t.throughput_s;
    s->W_machine_node = 1 / t.levels.node_s;
    if (t.levels.cross_s > 0)
        s->W_machine_cross = 1 / t.levels.cross_s;
    s->critical_machine = sp_critical_tokens_per_chip(s->C_wire, s->W_machine, s->r);
}

/* Largest TP for a TP group over the given number of devices, or two nodes: both levels carry it at
 * once and the slower binds. */
static void find_exact_tp(struct sp_critical_batches *s)
{
    const bool given = s->tp > 1;
    if (isnan(s->F) && !given)
        return;
    s->exact_tp = given ? s->tp : 2 * s->domain;
    s->tp_nodes = ceil(s->exact_tp / s->domain);
    s->W_tp = 1 / gather_over(s, s->exact_tp).throughput_s;
    s->exact_tp_max = sp_max_tp_degree(s->C_wire, s->W_tp, s->F);
}

static void find_switched(struct sp_critical_batches *s)
{
    const struct sp_network *const net = &s->hw.network;
    s->domain = (double)net->domain;
    s->W_1 = s->W_gpu = net->domain_bytes_per_s;
    s->W_node = sp_node_bytes_per_s(net);
    s->mp_nodes = sp_model_parallel_nodes(isnan(s->tp) ? 1 : s->tp, s->pp, s->domain);
    s->critical_replica = sp_critical_model_parallel(s->C_wire, s->W_node, s->r, s->mp_nodes);
    s->d_ff_switched =
        sp_min_d_ff_for_ep(s->ep, s->top_k, s->domain, s->C_wire, s->W_gpu, s->W_node);
    add_level(s, "node", "in a node", s->W_gpu);
    add_level(s, "cross", "across nodes", s->W_node);
    find_machine(s);
    find_exact_tp(s);
}

void sp_find_critical_batches(struct sp_critical_batches *s)
{
    struct sp_hardware pod;
    s->slice = (double)s->hw.chips_per_slice;
    s->pod = sp_whole_pod(&s->hw, &pod) ? (double)pod.chips_per_slice : NAN;
    s->tokens_per_chip = sp_tokens_each(s->B, s->N);
    s->tokens_per_slice = sp_tokens_each(s->B, s->S);
    s->sequences = sp_sequences_of(s->B, s->T);
    s->has_widths = !isnan(s->D) && !isnan(s->F);
    s->turns = sp_turns(s->overlap);
    s->Y = !isnan(s->tp) ? s->tp : !isnan(s->fsdp) ? s->N / s->fsdp : 1;
    s->X = !isnan(s->fsdp) ? s->fsdp : s->N / s->Y;
    s->stationary_x = sp_stationary_x(s->N, s->D, s->F);
    s->W_X = s->W_Y = s->critical_mixed = s->critical_slice = s->W_slice = NAN;
    s->W_dcn = s->critical_dcn = s->W_machine_cross = s->critical_machine = s->exact_tp = NAN;
    if (s->hw.network.kind == SP_TORUS)
        find_torus(s);
    else
        find_switched(s);
}
