/* comm: one collective on torus axes or on a hierarchy of switches. */
#include <math.h>
#include <string.h>

#include "../config/array.h"
#include "../config/text.h"
#include "command.h"

static const char *const ops[] = {"all-gather", "reduce-scatter",
                                  "all-reduce", "all-to-all",
                                  "send",       "ag",
                                  "rs",         "ar",
                                  "a2a",        "p2p",
                                  NULL};
enum { SEND = 4, N_OPS = 5 };
static const char *const wrap_choices[] = {"auto", "yes", "no", NULL};

static const struct sp_option options[] = {
    {"op", "NAME", SP_CHOICE, 0, 0, ops, "all-gather",
     "all-gather (ag), reduce-scatter (rs), all-reduce (ar), all-to-all (a2a) or send (p2p)"},
    {"bytes", "BYTES", SP_NUMBER_OPTION, 0, 1e18, NULL, NULL, "bytes of the whole array"},
    {"array", "TYPE[SIZES]", SP_TEXT, 0, 0, NULL, NULL,
     "the array, such as bf16[1024,16384], in place of --bytes"},
    {"sharded-by", "N", SP_WHOLE, 1, 1e9, NULL, "1",
     "chips over which other axes shard the array: divides it"},
    SP_OPTION_HW,
    SP_OPTION_NETWORK,
    {"axes", "AxB", SP_TEXT, 0, 0, NULL, NULL,
     "lengths of the torus axes that the group runs on (default: all of the slice)"},
    {"wrap", "WHETHER", SP_CHOICE, 0, 0, wrap_choices, "auto",
     "auto: whole axes of the slice wrap as it has it, parts are lines; yes and no force it"},
    {"ports", "N", SP_WHOLE, 1, 6, NULL, NULL, "send: links used at once (default: one an axis)"},
    {"hops", "N", SP_WHOLE, 0, 10000, NULL, NULL, "send: hops (default: between opposite corners)"},
    {"group", "N", SP_WHOLE, 1, 1e9, NULL, NULL,
     "devices of the group on switches (default: all of --hw)"},
    {"inner", "Y", SP_WHOLE, 1, 1e9, NULL, "1",
     "degree of an inner axis that shards the array too"},
    {"top-k", "K", SP_WHOLE, 1, 1e6, NULL, NULL, "all-to-all: devices that a token goes to"},
    {"half-size", "BYTES", SP_NUMBER_OPTION, 0, 1e18, NULL, NULL,
     "size of V at which half of the bandwidth is reached: derates smaller messages"},
    {"bandwidth", "BYTES/S", SP_NUMBER_OPTION, 1, 1e18, NULL, NULL,
     "measured bandwidth of a device, in place of the published one"},
};

static const struct sp_example examples[] = {
    {"scaleplan comm --op all-gather --array 'bf16[2048,8192]' --hw v5e-32 --axes 4",
     "on one axis without wraparound"},
    {"scaleplan comm --op all-reduce --bytes 1GB --hw h100-8",
     "in a node, with and without in-network reduction"},
    {"scaleplan comm --op send --array 'bf16[8,128,8192]' --hw v5e-16", "from corner to corner"},
    {NULL, NULL},
};

struct comm {
    struct sp_hardware hw;
    int op;
    double V;
    const struct sp_args *args;
    struct sp_report *report;
};

/* Lengths of --axes, or the slice's own; which of them wrap. */
static bool read_group(const struct comm *f, struct sp_torus_group *g, struct sp_error *error)
{
    const char *const text = sp_text_of(f->args, "axes");
    const int wrap = sp_choice_of(f->args, "wrap");
    const struct sp_network *net = &f->hw.network;
    bool used[SP_MAX_AXES] = {false};
    double dims[SP_MAX_AXES];
    *g = (struct sp_torus_group){.link_bytes_per_s = net->link_bytes_per_s,
                                 .hop_latency_s = net->hop_latency_s};
    if (text) {
        g->n = sp_parse_dims(text, dims, SP_MAX_AXES);
        if (g->n == 0)
            return sp_fail(error, SP_INPUT,
                           "--axes: \"%s\" is no product of up to three lengths, such as 4x8",
                           sp_safe(text));
    } else {
        g->n = (int)net->axes;
        for (int i = 0; i < g->n; i++)
            dims[i] = (double)f->hw.shape.axis[i];
    }
    for (int i = 0; i < g->n; i++) {
        int at = 0;
        while (at < SP_MAX_AXES && (used[at] || (double)f->hw.shape.axis[at] != dims[i]))
            at++;
        if (dims[i] < 1 || dims[i] > 1e6)
            return sp_fail(error, SP_INPUT, "--axes: a length is from 1 to 10^6");
        g->length[i] = (int64_t)dims[i];
        g->wraps[i] = wrap == 1 || (wrap == 0 && at < SP_MAX_AXES && sp_axis_wraps(&f->hw, at));
        if (at < SP_MAX_AXES)
            used[at] = true;
    }
    return true;
}

/* What small messages lose, on any network. */
static void put_derated(const struct comm *f)
{
    const double half = sp_number_of(f->args, "half-size");
    if (isnan(half) || f->V <= 0)
        return;
    sp_symbol(f->report, "half", half, "bytes", "option --half-size");
    sp_put(f->report, SP_Q_COMM_DERATED,
           sp_derated_s(sp_find(f->report, "time_s")->number, f->V, half));
    sp_line(f->report,
            "derated      {derated_s} when half of the bandwidth is reached at %s (--half-size)",
            sp_human_text(half, SP_BYTES));
}

static void put_send(const struct comm *f, const struct sp_torus_group *g)
{
    struct sp_report *r = f->report;
    const double given = sp_number_of(f->args, "hops"), ports = sp_number_of(f->args, "ports");
    int axes = 0;
    for (int i = 0; i < g->n; i++)
        axes += g->length[i] > 1;
    const double hops = isnan(given) ? (double)sp_corner_hops(g) : given;
    const double links = isnan(ports) ? fmax(axes, 1) : ports;
    const double send = sp_send_s(f->V, links, g->link_bytes_per_s),
                 first = hops * g->hop_latency_s;
    sp_symbol(r, "hops", hops, "", "links one after the other");
    sp_symbol(r, "ports", links, "", "links used at once");
    sp_put(r, SP_Q_COMM_HOPS, hops);
    sp_put(r, SP_Q_COMM_FIRST_BYTE, first);
    sp_put(r, SP_Q_COMM_SEND, send);
    sp_put(r, SP_Q_COMM_LATENCY, first);
    sp_put_text(r, SP_Q_COMM_BOUND, "%s", first > send ? "latency" : "throughput");
    sp_put(r, SP_Q_COMM_TIME_SEND, send + first);
    sp_line(r,
            "time         {time_s}: {bandwidth_bound_s} over %s link(s), first byte after "
            "{first_byte_s} ({hops} hops)",
            sp_human_text(links, SP_COUNT));
}

static double bound_if(const struct comm *f, enum sp_collective op, struct sp_torus_group g,
                       bool wraps)
{
    for (int i = 0; i < g.n; i++)
        g.wraps[i] = wraps;
    return sp_torus_bandwidth_s(op, f->V, &g);
}

static void put_torus(const struct comm *f, const struct sp_torus_group *g)
{
    struct sp_report *r = f->report;
    const enum sp_collective op = (enum sp_collective)f->op;
    const double throughput = sp_torus_bandwidth_s(op, f->V, g),
                 latency = sp_torus_latency_s(op, g);
    double devices = 1;
    for (int i = 0; i < g->n; i++)
        devices *= (double)g->length[i];
    sp_symbol(r, "hops", g->hop_latency_s > 0 ? latency / g->hop_latency_s : 0, "",
              "hops one after the other");
    sp_put(r, SP_Q_COMM_DEVICES, devices);
    sp_put(r, SP_Q_COMM_BANDWIDTH, throughput);
    sp_put(r, SP_Q_COMM_LATENCY, latency);
    sp_put_text(r, SP_Q_COMM_BOUND, "%s", latency > throughput ? "latency" : "throughput");
    sp_put_bool(r, SP_Q_COMM_LATENCY_BOUND, latency > throughput);
    sp_put(r, SP_Q_COMM_TIME, fmax(throughput, latency));
    sp_put(r, SP_Q_COMM_SUM, throughput + latency);
    sp_put(r, SP_Q_COMM_RING, bound_if(f, op, *g, true));
    sp_put(r, SP_Q_COMM_LINE, bound_if(f, op, *g, false));
    sp_put(r, SP_Q_COMM_PER_HOP, f->V / devices / g->link_bytes_per_s);
    sp_put(r, SP_Q_COMM_THRESHOLD,
           sp_latency_threshold_bytes(g->link_bytes_per_s, g->hop_latency_s));
    sp_symbol(r, "X", devices, "chips", "chips of the group");
    sp_symbol(r, "share", sp_one_way_ring_link_bytes(op, 2, 2), "", "of an all-gather's traffic");
    sp_put(r, SP_Q_COMM_LINK_BYTES, sp_one_way_ring_link_bytes(op, f->V, devices));
    sp_put(r, SP_Q_COMM_OVER_GATHER_ONE_WAY, sp_one_way_ring_link_bytes(op, 2, 2));
    if (f->V > 0 && devices > 1)
        sp_put(r, SP_Q_COMM_OVER_GATHER,
               bound_if(f, op, *g, true) / bound_if(f, SP_ALL_GATHER, *g, true));
    if (fmax(throughput, latency) > 0)
        sp_put(r, SP_Q_COMM_RATE, f->V / fmax(throughput, latency));
    sp_line(r, "time         {time_s}, bound by {bound}: throughput {bandwidth_bound_s}, latency "
               "{latency_bound_s}");
    sp_line(r, "             as rings {ring_s}, as lines {line_s}; a hop moves a shard in "
               "{per_hop_s}, latency binds "
               "below {latency_threshold_bytes}");
}

static void put_ragged(const struct comm *f, double devices)
{
    struct sp_report *r = f->report;
    const double k = sp_number_of(f->args, "top-k");
    if (isnan(k))
        return;
    sp_symbol(r, "k", k, "", "devices that a token goes to");
    sp_symbol(r, "Z", devices, "", "devices of the group");
    sp_put(r, SP_Q_COMM_RAGGED, sp_ragged_share(k, devices));
    sp_put(r, SP_Q_COMM_RAGGED_EXACT, sp_ragged_share_exact(k, devices));
    sp_put(r, SP_Q_COMM_RAGGED_RATIO, fmin(k / devices, 1));
    sp_put(r, SP_Q_COMM_RAGGED_S, sp_find(r, "rough_s")->number * fmin(k / devices, 1));
    sp_line(r,
            "ragged       {ragged_share} of the bytes ({ragged_share_exact} exactly): {ragged_s}");
}

static bool put_switched(const struct comm *f, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const struct sp_network *net = &f->hw.network;
    const double group = sp_number_of(f->args, "group"),
                 measured = sp_number_of(f->args, "bandwidth");
    const double devices = isnan(group) ? (double)sp_chips(&f->hw) : group;
    const double W_gpu = isnan(measured) ? net->domain_bytes_per_s : measured;
    const struct sp_switch_group g = {devices, (double)net->domain, W_gpu, sp_node_bytes_per_s(net),
                                      sp_number_of(f->args, "inner")};
    const enum sp_collective op = (enum sp_collective)f->op;
    if (devices > g.domain && fmod(devices, g.domain) != 0)
        return sp_fail(error, SP_INPUT,
                       "--group: beyond one domain of %s devices, whole domains only",
                       sp_human_text(g.domain, SP_COUNT));
    const struct sp_switch_time t = sp_switch_collective(op, f->V, &g);
    const double time = fmax(t.node_s, t.cross_s);
    sp_symbol(r, "W_gpu", W_gpu, "bytes/s", "egress of one device");
    sp_symbol(r, "D_n", fmin(devices, g.domain), "devices", "devices of one node");
    sp_symbol(r, "node_s", t.node_s, "s", "inside nodes");
    sp_symbol(r, "cross_s", t.cross_s, "s", "across nodes");
    sp_put(r, SP_Q_COMM_DEVICES, devices);
    sp_put(r, SP_Q_COMM_NODE, t.node_s);
    sp_put(r, SP_Q_COMM_CROSS, t.cross_s);
    sp_put(r, SP_Q_COMM_ROUGH, t.rough_s);
    sp_put(r, SP_Q_COMM_BANDWIDTH_EXACT, time);
    sp_put_null(r, SP_Q_COMM_LATENCY);
    sp_put_text(r, SP_Q_COMM_BOUND, "%s", t.cross_s > t.node_s ? "cross" : "node");
    sp_put(r, SP_Q_COMM_TIME_SWITCHED, time);
    sp_put(r, SP_Q_COMM_NODE_RATE, t.node_rate);
    sp_put(r, SP_Q_COMM_CROSS_RATE, t.cross_rate);
    if (time > 0)
        sp_put(r, SP_Q_COMM_RATE, f->V / time);
    sp_put(r, SP_Q_COMM_SWITCH_IN, f->V);
    sp_put(r, SP_Q_COMM_SWITCH_OUT, f->V * fmin(devices, g.domain));
    sp_line(r, "time         {time_s}, bound by the {bound} level: inside nodes {node_s} "
               "({node_bytes_per_s}), across "
               "{cross_s} ({cross_bytes_per_s}); rough {rough_s}");
    sp_line(r, "             a node's switch takes in {switch.ingress_bytes} and gives out "
               "{switch.egress_bytes}");
    if (op == SP_ALL_REDUCE && f->V > 0) {
        const double sharp = sp_in_network_all_reduce_s(f->V, W_gpu);
        sp_put(r, SP_Q_COMM_SHARP, sharp);
        sp_put(r, SP_Q_COMM_SHARP_GAIN, time / sharp);
        sp_line(r, "in-network   {in_network_s} if the switches add up (SHARP), {in_network_gain} "
                   "times as fast in theory; "
                   "about 1.3 is measured");
    }
    if (op == SP_ALL_TO_ALL)
        put_ragged(f, devices);
    return true;
}

static bool load(const struct sp_args *args, struct comm *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const char *const text = sp_text_of(args, "array");
    const double bytes = sp_number_of(args, "bytes");
    struct sp_array array;
    if (!sp_hardware_of(args, &sources, &f->hw, error))
        return false;
    if (isnan(bytes) == (text == NULL))
        return sp_fail(error, SP_USAGE, "one of --bytes N and --array TYPE[SIZES] is needed");
    if (text && !sp_parse_array(text, "--array", &array, error))
        return false;
    f->op = sp_choice_of(args, "op") % N_OPS;
    f->V = (text ? sp_array_bytes(&array) : bytes) / sp_number_of(args, "sharded-by");
    if (f->V > 1e24)
        return sp_fail(error, SP_INPUT, "--array: more than 10^24 bytes");
    if (f->op == SEND && f->hw.network.kind == SP_SWITCHED)
        return sp_fail(error, SP_INPUT, "--op send: sends between chips are modelled on tori");
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct comm f = {.args = args, .report = report};
    struct sp_torus_group g;
    if (!load(args, &f, error))
        return false;
    sp_symbol(report, "V", f.V, "bytes", "array of the group");
    sp_put_text(report, SP_Q_COMM_OP, "%s", ops[f.op]);
    sp_put(report, SP_Q_COMM_BYTES, f.V);
    sp_line(report, "collective   {op} of {bytes} on %s", f.hw.name);
    if (f.hw.network.kind == SP_SWITCHED) {
        if (!put_switched(&f, error))
            return false;
        put_derated(&f);
        return true;
    }
    if (!read_group(&f, &g, error))
        return false;
    const double measured = sp_number_of(args, "bandwidth");
    if (!isnan(measured))
        g.link_bytes_per_s = measured;
    sp_symbol(report, "w", g.link_bytes_per_s, "bytes/s", "one link, one way");
    sp_symbol(report, "T_min", g.hop_latency_s, "s", "latency of one hop");
    if (f.op == SEND)
        put_send(&f, &g);
    else
        put_torus(&f, &g);
    put_derated(&f);
    return true;
}

const struct sp_command sp_cmd_comm = {
    .name = "comm",
    .summary = "time of one collective on a torus or on switches",
    .about = "Time of an all-gather, reduce-scatter, all-reduce, all-to-all or a send: on torus "
             "axes with or without "
             "wraparound, throughput- or latency-bound; on nodes and the network between them, "
             "with in-network "
             "reduction, ragged exchanges, an inner axis that shards the array too, or a measured "
             "bandwidth.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .run = run,
};
