/* comm: one collective on torus axes or on a hierarchy of switches. */
#include <math.h>
#include <string.h>

#include "config/array.h"
#include "config/sharded.h"
#include "base/number.h"
#include "commands/comm.h"

static const char *const ops[] = {"all-gather", "reduce-scatter",
                                  "all-reduce", "all-to-all",
                                  "send",       "ag",
                                  "rs",         "ar",
                                  "a2a",        "p2p",
                                  NULL};
static const char *const wrap_choices[] = {"auto", "yes", "no", NULL};

static const struct sp_taken options[] = {
    SP_TAKE(op, .fallback = "all-gather", .choices = ops),
    SP_TAKE(bytes),
    SP_TAKE(array),
    SP_TAKE(dims),
    SP_TAKE(sharded_by, .fallback = "1"),
    SP_OPTIONS_MACHINE,
    SP_TAKE(group_axes, .alias = "axes"),
    SP_TAKE(mesh),
    SP_TAKE(wrap, .fallback = "auto", .choices = wrap_choices),
    SP_TAKE(ports),
    SP_TAKE(hops),
    SP_TAKE(group),
    SP_TAKE(inner, .fallback = "1"),
    SP_TAKE(top_k),
    SP_TAKE(copies, .fallback = "1"),
    SP_TAKE(unit),
    SP_TAKE(unit_bandwidth),
    SP_TAKE(half_size),
    SP_TAKE(bandwidth),
};

static const struct sp_example examples[] = {
    {"scaleplan comm --op all-gather --array 'bf16[2048,8192]' --hw v5e-32 --group-axes 4",
     "on one axis without wraparound"},
    {"scaleplan comm --op all-reduce --bytes 1GB --hw h100-8",
     "in a node, with and without in-network reduction"},
    {"scaleplan comm --op a2a --array 'bf16[262144,7168]' --copies 8 --hw h100-64",
     "tokens of a mixture to 8 experts each"},
    {"scaleplan comm --op ar --array 'bf16[1024_X,4096_Y]' --mesh X=4,Y=4,Z=4 --group-axes Z --hw "
     "v4-64",
     "an array that the other two axes shard"},
    {"scaleplan comm --op all-gather --bytes 1GB --hw h100-1024",
     "which level of a SuperPOD binds"},
    {"scaleplan comm --op send --array 'bf16[8,128,8192]' --hw v5e-16", "from corner to corner"},
    {NULL, NULL},
};

/* Lengths of "4x8", or those of the mesh's axes in "XY". */
static int read_lengths(const struct sp_comm *f, const char *text, int64_t lengths[],
                        struct sp_error *error)
{
    double dims[SP_LAYOUT_AXES];
    const int n = sp_parse_dims(text, dims, SP_MAX_AXES);
    for (int i = 0; i < n; i++) {
        if (dims[i] < 1 || dims[i] > 1e6)
            return sp_fail(error, SP_INPUT, "--group-axes: a length is from 1 to 10^6"), 0;
        lengths[i] = (int64_t)dims[i];
    }
    if (n == 0)
        sp_fail(error, SP_INPUT,
                "--group-axes: \"%s\" is no product of up to three lengths, such as 4x8%s",
                sp_safe(text), f->mesh.n > 0 ? "" : ", nor axes of a --mesh, such as XY");
    return n;
}

/* A chip named without a size has no slice to lie on: the axes are what the user says, as rings. */
static bool group_without_slice(const struct sp_comm *f, const int64_t lengths[], int n,
                                unsigned axes, struct sp_torus_group *g, struct sp_error *error)
{
    for (int i = 0; i < n; i++) {
        if (!(axes >> i & 1) || lengths[i] == 1)
            continue;
        if (g->n == f->hw.network.axes)
            return sp_fail(error, SP_INPUT, "--group-axes: the torus of %s has %lld axes",
                           f->hw.name, (long long)f->hw.network.axes);
        g->length[g->n] = lengths[i];
        g->wraps[g->n++] = true;
    }
    if (g->n == 0 && f->op != SP_COMM_SEND)
        sp_note(f->report, "one chip: nothing moves; name a slice, or --group-axes");
    else if (g->n > 0 && f->args->value.wrap == 0)
        sp_note(f->report, "%s without a size: whole rings (--wrap no, or name a slice such as %s)",
                f->hw.name, f->hw.network.axes == 2 ? "v5e-64" : "v5p-64");
    return true;
}

/* What small messages lose, on any network. */
static void put_derated(const struct sp_comm *f, double time_s)
{
    const double half = f->args->value.half_size;
    if (isnan(half) || f->V <= 0)
        return;
    sp_symbol(f->report, "half", half, "bytes", "option --half-size");
    sp_put(f->report, SP_Q_COMM_DERATED, sp_derated_s(time_s, f->V, half));
    sp_line(f->report,
            "derated      {derated_s} when half of the bandwidth is reached at %s (--half-size)",
            sp_human_text(half, SP_BYTES));
}

/* The physical axes under --group-axes, or all of the slice's; which of them wrap. */
static bool read_group(const struct sp_comm *f, struct sp_torus_group *g, struct sp_error *error)
{
    const char *const text = f->args->value.group_axes;
    const int wrap = f->args->value.wrap;
    int64_t lengths[SP_LAYOUT_AXES];
    struct sp_layout layout;
    char shape[96];
    int n = f->mesh.n;
    unsigned axes = f->axes;
    if (n > 0) {
        memcpy(lengths, f->mesh.length, sizeof lengths);
    } else if (text) {
        n = read_lengths(f, text, lengths, error);
        axes = ~0u;
        if (n == 0)
            return false;
    } else {
        for (n = 0; n < SP_MAX_AXES; n++)
            lengths[n] = f->hw.shape.axis[n];
        axes = ~0u;
    }
    *g = (struct sp_torus_group){.link_bytes_per_s = f->hw.network.link_bytes_per_s,
                                 .hop_latency_s = f->hw.network.hop_latency_s};
    sp_shape_name(&f->hw, shape, sizeof shape);
    if (f->hw.chips_per_slice == 1) {
        if (!group_without_slice(f, lengths, n, axes, g, error))
            return false;
    } else if (sp_lay_out(&f->hw, lengths, n, &layout)) {
        *g = sp_group_of(&f->hw, &layout, axes);
    } else {
        return sp_fail(error, SP_INPUT, "%s cannot be laid on the slice's axes, %s",
                       f->mesh.n > 0 ? "--mesh" : "--group-axes", shape);
    }
    for (int i = 0; i < g->n; i++)
        g->wraps[i] = wrap == 0 ? g->wraps[i] : wrap == 1;
    return true;
}

static double put_send(const struct sp_comm *f, const struct sp_torus_group *g)
{
    struct sp_report *r = f->report;
    const double given = f->args->value.hops, ports = f->args->value.ports;
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
            "time         {time_s}: {bandwidth_bound_s} over %s link%s, first byte after "
            "{first_byte_s} ({hops} hops)",
            sp_human_text(links, SP_COUNT), links == 1 ? "" : "s");
    return send + first;
}

/* The group with all of its axes rings, or all lines. */
static struct sp_torus_group group_if(struct sp_torus_group g, bool wraps)
{
    for (int i = 0; i < g.n; i++)
        g.wraps[i] = wraps;
    return g;
}

/* The group's axes as people name them: "axes XY: ring of 4 x line of 8". */
static void put_axes(const struct sp_comm *f, const struct sp_torus_group *g)
{
    char text[160] = "";
    int n = 0;
    for (int i = 0; i < f->mesh.n; i++)
        if (f->axes >> i & 1)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%c", n ? "" : "axes ",
                          f->mesh.name[i]);
    if (n == 6) /* one axis */
        n = snprintf(text, sizeof text, "axis %c", text[5]);
    for (int i = 0; g && i < g->n; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s of %lld",
                      i   ? " x "
                      : n ? ": "
                          : "",
                      g->wraps[i] ? "ring" : "line", (long long)g->length[i]);
    if (n == 0)
        return;
    sp_put_text(f->report, SP_Q_COMM_AXES, "%s", text);
    sp_line(f->report, "group        {devices} chips, {axes}");
}

/* The formula of the throughput bound and what it takes, beside the group's. */
static void put_bound(const struct sp_comm *f, const struct sp_torus_group *g, double bound_s)
{
    struct sp_report *r = f->report;
    const enum sp_collective op = (enum sp_collective)f->op;
    const struct sp_torus_group rings = group_if(*g, true), lines = group_if(*g, false);
    double pairs = 0, ring = 0, line = 0;
    for (int i = 0; i < g->n; i++) {
        pairs = fmax(pairs, sp_exchange_pairs(g->length[i], g->wraps[i]));
        ring = fmax(ring, sp_exchange_pairs(g->length[i], true));
        line = fmax(line, sp_exchange_pairs(g->length[i], false));
    }
    sp_symbol(r, "N", sp_torus_chips(g), "chips", "chips of the group in a slice");
    const bool exchange = op == SP_ALL_TO_ALL;
    if (exchange) {
        sp_symbol(r, "pairs", pairs, "",
                  "shares V/N of a chip each way over the busiest link: X/8 a ring, X/4 a line");
        sp_symbol(r, "pairs_ring", ring, "", "the same if every axis were a ring");
        sp_symbol(r, "pairs_line", line, "", "the same if no axis wrapped");
    } else {
        sp_symbol(r, "passes", op == SP_ALL_REDUCE ? 2 : 1, "", "2 all-reduce, 1 the others");
        sp_symbol(r, "W_axes", sp_torus_axes_bytes_per_s(g), "bytes/s",
                  "axes together: 2w a ring, w N/(N-1) a line");
        sp_symbol(r, "W_rings", sp_torus_axes_bytes_per_s(&rings), "bytes/s",
                  "axes together if every one were a ring");
        sp_symbol(r, "W_lines", sp_torus_axes_bytes_per_s(&lines), "bytes/s",
                  "axes together if none wrapped");
    }
    const bool moves = g->n > 0 && sp_torus_chips(g) > 1;
    sp_put(r, exchange ? SP_Q_COMM_ICI_EXCHANGE : SP_Q_COMM_ICI, moves ? bound_s : NAN);
    sp_put(r, exchange ? SP_Q_COMM_RING_EXCHANGE : SP_Q_COMM_RING,
           moves ? sp_torus_bandwidth_s(op, f->V, &rings) : NAN);
    sp_put(r, exchange ? SP_Q_COMM_LINE_EXCHANGE : SP_Q_COMM_LINE,
           moves ? sp_torus_bandwidth_s(op, f->V, &lines) : NAN);
}

/* The array below which hops take longer than the transfer: the transfer is proportional to it. */
static void put_thresholds(const struct sp_comm *f, const struct sp_device_group *group,
                           const struct sp_collective_time *t)
{
    struct sp_report *r = f->report;
    const struct sp_torus_group *const g = &group->torus;
    const double second_a_byte =
        sp_time_of_collective((enum sp_collective)f->op, 1, group).throughput_s;
    sp_put(r, SP_Q_COMM_THRESHOLD,
           sp_latency_threshold_bytes(g->link_bytes_per_s, g->hop_latency_s));
    sp_symbol(r, "W_group", 1 / second_a_byte, "bytes/s", "bytes of V a second of throughput");
    sp_put(r, SP_Q_COMM_THRESHOLD_ARRAY, second_a_byte > 0 ? t->latency_s / second_a_byte : NAN);
}

/* Whether the group spans all slices, as it does without --group-axes and --mesh. */
static bool spans_slices(const struct sp_comm *f, const struct sp_torus_group *g)
{
    const bool all = !f->args->value.group_axes && f->mesh.n == 0;
    if (f->hw.slices <= 1 || isnan(f->hw.network.dcn_bytes_per_s_per_host) || g->n == 0)
        return false;
    if (!all)
        sp_note(f->report,
                "inside each slice; without --group-axes and --mesh the group spans all slices");
    return all;
}

static void put_dcn(const struct sp_comm *f, const struct sp_device_group *group, double dcn_s)
{
    struct sp_report *r = f->report;
    const double S = group->slices;
    sp_symbol(r, "W_dcn", group->dcn_bytes_per_s, "bytes/s", "data-centre egress of one chip");
    sp_symbol(r, "M", sp_group_devices(group) / S, "chips", "chips of a slice");
    sp_symbol(r, "passes", sp_dcn_s((enum sp_collective)f->op, 1, S, 1, 1), "",
              "2 all-reduce, 1/S all-to-all, 1 others");
    sp_put(r, SP_Q_COMM_DCN, dcn_s);
}

static void put_one_way(const struct sp_comm *f, double devices)
{
    struct sp_report *r = f->report;
    const enum sp_collective op = (enum sp_collective)f->op;
    sp_symbol(r, "X", devices, "chips", "chips of the group");
    sp_symbol(r, "share", sp_one_way_ring_link_bytes(op, 2, 2), "", "of an all-gather's traffic");
    sp_put(r, SP_Q_COMM_LINK_BYTES, sp_one_way_ring_link_bytes(op, f->V, devices));
    sp_put(r, SP_Q_COMM_OVER_GATHER_ONE_WAY, sp_one_way_ring_link_bytes(op, 2, 2));
}

static double put_torus(const struct sp_comm *f, const struct sp_torus_group *g)
{
    struct sp_report *r = f->report;
    const enum sp_collective op = (enum sp_collective)f->op;
    struct sp_device_group group = sp_group_on(&f->hw);
    group.torus = *g;
    const double devices = sp_group_devices(&group);
    if (spans_slices(f, g))
        group.slices = (double)f->hw.slices;
    const struct sp_collective_time t = sp_time_of_collective(op, f->V, &group);
    if (group.slices > 1)
        put_dcn(f, &group, t.dcn_s);
    sp_symbol(r, "hops", t.hops, "", "hops one after the other");
    sp_put(r, SP_Q_COMM_DEVICES, sp_group_devices(&group));
    put_axes(f, g);
    put_bound(f, g, t.ici_s);
    sp_put(r, SP_Q_COMM_BANDWIDTH, t.throughput_s);
    sp_put(r, SP_Q_COMM_LATENCY, t.latency_s);
    sp_put_text(r, SP_Q_COMM_BOUND, "%s",
                t.latency_s > t.throughput_s ? "latency"
                : t.dcn_s > t.ici_s          ? "dcn"
                                             : "throughput");
    sp_put_bool(r, SP_Q_COMM_LATENCY_BOUND, t.latency_s > t.throughput_s);
    sp_put(r, SP_Q_COMM_TIME, t.time_s);
    sp_put(r, SP_Q_COMM_SUM, t.throughput_s + t.latency_s);
    sp_put(r, SP_Q_COMM_PER_HOP, f->V / devices / g->link_bytes_per_s);
    put_thresholds(f, &group, &t);
    put_one_way(f, devices);
    const struct sp_torus_group rings = group_if(*g, true);
    if (f->V > 0 && devices > 1)
        sp_put(r, SP_Q_COMM_OVER_GATHER,
               sp_torus_bandwidth_s(op, f->V, &rings) /
                   sp_torus_bandwidth_s(SP_ALL_GATHER, f->V, &rings));
    sp_put(r, SP_Q_COMM_RATE, t.time_s > 0 ? f->V / t.time_s : NAN);
    sp_line(r, "time         {time_s}, bound by {bound}: throughput {bandwidth_bound_s}, latency "
               "{latency_bound_s}");
    sp_line(r, "             as rings {ring_s}, as lines {line_s}; a hop moves a shard in "
               "{per_hop_s}; latency binds below a V of {latency_threshold_array_bytes}, "
               "{latency_threshold_bytes} a hop");
    sp_line(r, "             over the data-centre network {dcn_s}");
    return t.time_s;
}

/* The axes that a collective of an array runs on if --group-axes is not given: those that shard it,
 * for an all-reduce those over which it is a sum, {U_Z}, else those that do not shard it. Nothing
 * else can be gathered or hold partial sums. */
static unsigned axes_of_array(const struct sp_comm *f, const struct sp_sharded *array)
{
    const unsigned all = (1u << f->mesh.n) - 1, sharding = sp_sharding_axes(array);
    if (f->op == SP_ALL_REDUCE)
        return array->partial ? array->partial : all & ~sharding;
    if (f->op == SP_REDUCE_SCATTER && array->partial)
        return array->partial;
    return sharding && f->op != SP_COMM_SEND ? sharding : all;
}

/* --array in the textbook's notation: V is the whole array over all axes that shard it and are none
 * of the group's. */
static bool read_array(struct sp_comm *f, const char *text, struct sp_error *error)
{
    struct sp_notation apart;
    struct sp_sharded array;
    if (!sp_split_sharded(text, f->args->value.dims, 'I', &apart, error) ||
        !sp_read_sharded(&f->mesh, apart.plain, apart.spec, &array, error))
        return false;
    if (f->mesh.n > 0 && !f->args->value.group_axes)
        f->axes = axes_of_array(f, &array);
    if (f->mesh.n > 0 && f->axes == 0)
        return sp_fail(error, SP_INPUT,
                       "--array: every axis of the mesh shards it, none is left to add up over "
                       "(--group-axes)");
    f->V = sp_whole_bytes(&array) / sp_axes_product(&f->mesh, sp_sharding_axes(&array) & ~f->axes);
    return true;
}

static bool read_bytes(struct sp_comm *f, struct sp_error *error)
{
    const char *const text = f->args->value.array;
    const double bytes = f->args->value.bytes;
    if (f->args->given.copies && (f->op != SP_ALL_TO_ALL || f->args->given.top_k))
        return sp_fail(error, SP_USAGE, "--copies is for all-to-all, and without --top-k");
    if (isnan(bytes) == (text == NULL))
        return sp_fail(error, SP_USAGE, "one of --bytes N and --array TYPE[SIZES] is needed");
    f->V = bytes;
    if (text && !read_array(f, text, error))
        return false;
    f->V *= f->args->value.copies / f->args->value.sharded_by;
    return true;
}

/* --mesh and, where --group-axes names some of its axes, which. */
static bool read_mesh(struct sp_comm *f, struct sp_error *error)
{
    const char *const mesh = f->args->value.mesh, *axes = f->args->value.group_axes;
    if (!mesh)
        return true;
    if (!sp_parse_mesh(mesh, &f->mesh, error))
        return false;
    f->axes = axes ? 0 : (1u << f->mesh.n) - 1;
    for (; axes && *axes; axes++) {
        const int axis = sp_mesh_axis(&f->mesh, *axes);
        if (axis < 0)
            return sp_fail(error, SP_INPUT, "--group-axes: \"%s\": expected axes of --mesh %s",
                           sp_safe(axes), sp_safe(mesh));
        f->axes |= 1u << axis;
    }
    if (f->axes == 0)
        return sp_fail(error, SP_INPUT, "--group-axes: names none of --mesh %s", sp_safe(mesh));
    return true;
}

/* What is said of one kind of network means nothing on the other. */
static bool check_kind(const struct sp_comm *f, struct sp_error *error)
{
    static const enum sp_option_id of_torus[] = {SP_O_group_axes, SP_O_wrap, SP_O_ports, SP_O_hops,
                                                 SP_NO_OPTION};
    static const enum sp_option_id of_switches[] = {SP_O_group, SP_O_inner,          SP_O_top_k,
                                                    SP_O_unit,  SP_O_unit_bandwidth, SP_NO_OPTION};
    const bool switched = f->hw.network.kind == SP_SWITCHED;
    const enum sp_option_id *const others = switched ? of_torus : of_switches;
    for (int i = 0; others[i] != SP_NO_OPTION; i++)
        if (f->args->given_at[others[i]] && !(others[i] == SP_O_group_axes && f->mesh.n > 0))
            return sp_fail(error, SP_INPUT, "--%s: %s has %s; %s", sp_option_name(others[i]),
                           f->hw.name, switched ? "switches" : "torus axes",
                           switched ? "--group says how many devices take part"
                                    : "--group-axes says on which a group runs");
    return true;
}

static bool load(const struct sp_args *args, struct sp_comm *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    f->op = args->value.op % SP_COMM_OPS;
    return sp_hardware_of(args, &sources, &f->hw, error) && read_mesh(f, error) &&
           check_kind(f, error) && read_bytes(f, error);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct sp_comm f = {.args = args, .report = report};
    struct sp_torus_group g;
    double time_s;
    if (!load(args, &f, error))
        return false;
    sp_symbol(report, "V", f.V, "bytes", "array of the group");
    sp_put_text(report, SP_Q_COMM_OP, "%s", ops[f.op]);
    sp_put(report, SP_Q_COMM_BYTES, f.V);
    sp_line(report, "collective   {op} of {bytes} on %s", f.hw.name);
    if (f.hw.network.kind == SP_SWITCHED) {
        if (!sp_comm_switched(&f, &time_s, error))
            return false;
        put_derated(&f, time_s);
        return true;
    }
    if (!read_group(&f, &g, error))
        return false;
    const double measured = args->value.bandwidth;
    if (!isnan(measured))
        g.link_bytes_per_s = measured;
    sp_symbol(report, "w", g.link_bytes_per_s, "bytes/s", "one link, one way");
    sp_symbol(report, "T_min", g.hop_latency_s, "s", "latency of one hop");
    time_s = f.op == SP_COMM_SEND ? put_send(&f, &g) : put_torus(&f, &g);
    put_derated(&f, time_s);
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
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
