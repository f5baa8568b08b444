/* comm: one collective on torus axes or on a hierarchy of switches. */
#include <math.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/array.h"
#include "config/sharded.h"
#include "pictures/curves.h"
#include "study/group_time.h"
#include "study/reached.h"

static const char *const ops[] = {"all-gather", "reduce-scatter",
                                  "all-reduce", "all-to-all",
                                  "send",       "ag",
                                  "rs",         "ar",
                                  "a2a",        "p2p",
                                  NULL};
static const char *const wrap_choices[] = {"auto", "yes", "no", NULL};

static const struct sp_taken options[] = {
    SP_TAKE(op, .fallback = "all-gather", .choices = ops),
    SP_TAKE(bytes, .excludes = SP_THESE(SP_O_array)),
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
    SP_TAKE(copies, .fallback = "1", .excludes = SP_THESE(SP_O_top_k)),
    SP_TAKE(unit),
    SP_TAKE(unit_bandwidth),
    SP_TAKE(half_size),
    SP_TAKE(bandwidth),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"comm --op all-gather --array 'bf16[2048,8192]' --hw v5e-32 --group-axes 4",
     "one axis without wraparound"},
    {"comm --op all-reduce --bytes 1GB --hw h100-8",
     "in a node, with and without in-network reduction"},
    {"comm --op a2a --array 'bf16[262144,7168]' --copies 8 --hw h100-64",
     "MoE dispatch: 8 experts per token"},
    {"comm --op ar --array 'bf16[1024_X,4096_Y]' --mesh X=4,Y=4,Z=4 --group-axes Z --hw v4-64",
     "array sharded over the other two axes"},
    {"comm --op all-gather --bytes 1GB --hw h100-1024", "the limiting level of a SuperPOD"},
    {"comm --op send --array 'bf16[8,128,8192]' --hw v5e-16", "from corner to corner"},
    {NULL, NULL},
};

/* Kinds of questions, by the kind of network. */
enum kind { TORUS, TORUS_SEND, SWITCH, SWITCH_SEND };

enum { MOST_SIZES = 24 };

/* A part of the machine, against one node. */
struct sized {
    struct sp_reached of;
    double V, one_s;
};

/* The question, and the values shown by the rows of comm.def. */
struct comm {
    const struct sp_args *args;
    struct sp_hardware hw;
    struct sp_mesh mesh; /* of --mesh; no axes without */
    unsigned axes;       /* of the mesh that the group runs on */
    enum kind kind;
    bool sends; /* between two chips: --op is none of the collectives */
    bool is_switched, is_collective, exchanges;
    enum sp_collective op; /* SP_COLLECTIVES: a send */
    double array, copies, sharded_by, V, top_k, half;
    struct sp_device_group group;
    struct sp_group_answer of;
    char axes_text[160];
    bool is_lone, assumes_rings, stays_inside, is_folded, is_ringed; /* what is remarked */
    char folded[96]; /* the group's axes where --group-axes has a length of none: "2 x 2 x 4" */
    double passes;
    bool is_measured; /* the time follows the curve of a transport */
    bool is_ragged;   /* an all-to-all to --top-k devices */
    struct sp_reached sizes[MOST_SIZES];
    int n_sizes; /* 0: no collective over a whole machine of switches */
};

#define SP_PART comm_size
#define SP_PART_OF struct sized
#include "answer/put_rows.h"

static void put_sizes(struct sp_report *r, const struct comm *s)
{
    for (int i = 0; i < s->n_sizes; i++) {
        char label[32];
        snprintf(label, sizeof label, "%.0f", s->sizes[i].devices);
        sp_begin_row(r, label, "sizes.%d", i);
        put_comm_size_rows(r, &(struct sized){s->sizes[i], s->V, s->sizes[0].time_s});
    }
    sp_scope(r, "");
}

/* The value of the key "bound" as words of a sentence. */
static const char *level_words(const char *bound)
{
    return strcmp(bound, "node") == 0    ? "the links inside nodes"
           : strcmp(bound, "cross") == 0 ? "the links between nodes"
           : strcmp(bound, "spine") == 0 ? "the links between units"
                                         : bound;
}

#define SP_PART comm
#define SP_PART_OF struct comm
#include "answer/put_rows.h"

/* Lengths of "4x8", or those of the mesh's axes in "XY". */
static int read_lengths(const struct comm *s, const char *text, int64_t lengths[],
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
                "--group-axes: \"%s\": expected up to three lengths, such as 4x8%s", sp_safe(text),
                s->mesh.n > 0 ? "" : ", or axes of --mesh, such as XY");
    return n;
}

/* A chip named without a size has no slice to lie on: the axes are those that the user gives, as
 * rings. */
static bool group_without_slice(struct comm *s, const int64_t lengths[], int n, unsigned axes,
                                struct sp_torus_group *g, struct sp_error *error)
{
    for (int i = 0; i < n; i++) {
        if (!(axes >> i & 1) || lengths[i] == 1)
            continue;
        if (g->n == s->hw.network.axes)
            return sp_fail(error, SP_INPUT, "--group-axes: the torus of %s has %lld axes",
                           s->hw.name, (long long)s->hw.network.axes);
        g->length[g->n] = lengths[i];
        g->wraps[g->n++] = true;
    }
    s->is_lone = g->n == 0 && !s->sends;
    s->assumes_rings = g->n > 0 && s->args->value.wrap == 0;
    return true;
}

/* Says where a length that was given is no axis of the slice: the group spans several instead. */
static void note_folded(struct comm *s, const int64_t lengths[], int n,
                        const struct sp_torus_group *g)
{
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < g->n && g->length[k] != lengths[i])
            k++;
        s->is_folded = s->is_folded || (lengths[i] > 1 && k == g->n);
    }
    for (int k = 0; k < g->n && s->is_folded; k++)
        sp_append(s->folded, sizeof s->folded, "%s%lld", k > 0 ? " x " : "",
                  (long long)g->length[k]);
}

/* The physical axes of --group-axes, or all axes of the slice, and which of them wrap. */
static bool read_group(struct comm *s, struct sp_torus_group *g, struct sp_error *error)
{
    const char *const text = s->args->value.group_axes;
    const int wrap = s->args->value.wrap;
    int64_t lengths[SP_LAYOUT_AXES];
    struct sp_layout layout;
    char shape[96];
    int n = s->mesh.n;
    unsigned axes = s->axes;
    if (n > 0) {
        memcpy(lengths, s->mesh.length, sizeof lengths);
    } else if (text) {
        n = read_lengths(s, text, lengths, error);
        axes = ~0u;
        if (n == 0)
            return false;
    } else {
        for (n = 0; n < SP_MAX_AXES; n++)
            lengths[n] = s->hw.shape.axis[n];
        axes = ~0u;
    }
    *g = (struct sp_torus_group){.link_bytes_per_s = s->hw.network.link_bytes_per_s,
                                 .hop_latency_s = s->hw.network.hop_latency_s};
    sp_shape_name(&s->hw, shape, sizeof shape);
    if (s->hw.chips_per_slice == 1) {
        if (!group_without_slice(s, lengths, n, axes, g, error))
            return false;
    } else if (sp_lay_out(&s->hw, lengths, n, &layout)) {
        *g = sp_group_of(&s->hw, &layout, axes);
        if (text && s->mesh.n == 0)
            note_folded(s, lengths, n, g);
    } else {
        return sp_fail(error, SP_INPUT, "%s cannot be laid on the slice's axes, %s",
                       s->mesh.n > 0 ? "--mesh" : "--group-axes", shape);
    }
    for (int i = 0; i < g->n; i++)
        g->wraps[i] = wrap == 0 ? g->wraps[i] : wrap == 1;
    return true;
}

/* The group's axes as people name them: "axes XY: ring of 4 x line of 8". */
static void name_axes(struct comm *s)
{
    const struct sp_torus_group *const g = &s->group.torus;
    char *const text = s->axes_text;
    const size_t size = sizeof s->axes_text;
    for (int i = 0; i < s->mesh.n; i++)
        if (s->axes >> i & 1)
            sp_append(text, size, "%s%c", text[0] ? "" : "axes ", s->mesh.name[i]);
    if (strlen(text) == 6) /* one axis */
        snprintf(text, size, "axis %c", text[5]);
    for (int i = 0; i < g->n; i++)
        sp_append(text, size, "%s%s of %lld",
                  i         ? " x "
                  : text[0] ? ": "
                            : "",
                  g->wraps[i] ? "ring" : "line", (long long)g->length[i]);
}

/* A collective spans all slices unless --group-axes or --mesh say on which axes it runs. */
static bool load_torus(struct comm *s, struct sp_error *error)
{
    const double measured = s->args->value.bandwidth;
    struct sp_torus_group *const g = &s->group.torus;
    if (!read_group(s, g, error))
        return false;
    if (!isnan(measured))
        g->link_bytes_per_s = measured;
    const bool several =
        !s->sends && s->hw.slices > 1 && g->n > 0 && !isnan(s->hw.network.dcn_bytes_per_s_per_host);
    const bool all = !s->args->value.group_axes && s->mesh.n == 0;
    s->stays_inside = several && !all;
    if (several && all)
        s->group.slices = (double)s->hw.slices;
    if (!s->sends)
        name_axes(s);
    return true;
}

/* The third level: units of --unit nodes, or those of the machine's own fabric. */
static void set_units(struct comm *s)
{
    const struct sp_device_group own = sp_machine_group(&s->hw);
    const double given = s->args->value.unit, W = s->args->value.unit_bandwidth;
    if (!isnan(given)) {
        sp_set_units(&s->group, given, W);
        return;
    }
    s->group.unit_devices = own.unit_devices;
    s->group.unit_bytes_per_s = isnan(W) ? own.unit_bytes_per_s : W;
}

static bool load_switches(struct comm *s, struct sp_error *error)
{
    const double group = s->args->value.group, W = s->args->value.bandwidth;
    struct sp_switch_group *const g = &s->group.nodes;
    g->devices = !isnan(group)   ? group
                 : s->mesh.n > 0 ? sp_axes_product(&s->mesh, s->axes)
                                 : (double)sp_chips(&s->hw);
    g->inner = s->args->value.inner;
    if (!isnan(W))
        g->domain_bytes_per_s = W;
    if (g->devices > g->domain && fmod(g->devices, g->domain) != 0)
        return sp_fail(error, SP_INPUT,
                       "--group: above a domain of %s devices, only whole domains are allowed",
                       sp_human_text(g->domain, SP_COUNT));
    if (g->inner > g->devices)
        return sp_fail(error, SP_INPUT, "--inner: more than the %s devices of the group",
                       sp_human_text(g->devices, SP_COUNT));
    set_units(s);
    s->group.ragged_to = isnan(s->top_k) ? 0 : s->top_k;
    s->is_ragged = s->exchanges && !isnan(s->top_k);
    return true;
}

/* The axes that a collective of an array runs on without --group-axes: those that shard it; for an
 * all-reduce those of its partial sums ({U_Z}) or, if it has none, those that do not shard it. Only
 * these can be gathered or hold partial sums. */
static unsigned axes_of_array(const struct comm *s, const struct sp_sharded *array)
{
    const unsigned all = (1u << s->mesh.n) - 1, sharding = sp_sharding_axes(array);
    if (!s->sends && s->op == SP_ALL_REDUCE)
        return array->partial ? array->partial : all & ~sharding;
    if (!s->sends && s->op == SP_REDUCE_SCATTER && array->partial)
        return array->partial;
    return sharding && !s->sends ? sharding : all;
}

/* --array in the textbook's notation: V is the whole array, over all axes that shard it and do not
 * belong to the group. */
static bool read_array(struct comm *s, const char *text, struct sp_error *error)
{
    struct sp_notation apart;
    struct sp_sharded array;
    if (!sp_split_sharded(text, s->args->value.dims, 'I', &apart, error) ||
        !sp_read_sharded(&s->mesh, apart.plain, apart.spec, &array, error))
        return false;
    if (s->mesh.n > 0 && !s->args->value.group_axes)
        s->axes = axes_of_array(s, &array);
    if (s->mesh.n > 0 && s->axes == 0)
        return sp_fail(error, SP_INPUT,
                       "--array is sharded over every mesh axis; none is left for the reduction "
                       "(--group-axes)");
    s->array = sp_shard_bytes(sp_whole_bytes(&array),
                              sp_axes_product(&s->mesh, sp_sharding_axes(&array) & ~s->axes));
    return true;
}

static bool read_bytes(struct comm *s, struct sp_error *error)
{
    const char *const text = s->args->value.array;
    s->array = s->args->value.bytes;
    s->copies = s->args->value.copies;
    s->sharded_by = s->args->value.sharded_by;
    if (s->args->given.copies && !s->exchanges)
        return sp_fail(error, SP_USAGE, "--copies is for all-to-all");
    if (isnan(s->array) && !text)
        return sp_fail(error, SP_USAGE, "one of --bytes N and --array TYPE[SIZES] is needed");
    if (text && !read_array(s, text, error))
        return false;
    s->V = sp_group_bytes(s->array, s->copies, s->sharded_by);
    return true;
}

/* Reads --mesh and, if --group-axes is given, which of its axes that names. */
static bool read_mesh(struct comm *s, struct sp_error *error)
{
    const char *const mesh = s->args->value.mesh, *axes = s->args->value.group_axes;
    if (!mesh)
        return true;
    if (!sp_parse_mesh(mesh, &s->mesh, error))
        return false;
    s->axes = axes ? 0 : (1u << s->mesh.n) - 1;
    for (; axes && *axes; axes++) {
        const int axis = sp_mesh_axis(&s->mesh, *axes);
        if (axis < 0)
            return sp_fail(error, SP_INPUT, "--group-axes: \"%s\": expected axes of --mesh %s",
                           sp_safe(axes), sp_safe(mesh));
        s->axes |= 1u << axis;
    }
    if (s->axes == 0)
        return sp_fail(error, SP_INPUT, "--group-axes names no axis of --mesh %s", sp_safe(mesh));
    return true;
}

/* Options for one kind of network are refused on the other. */
static bool check_kind(const struct comm *s, struct sp_error *error)
{
    static const enum sp_option_id of_torus[] = {SP_O_group_axes, SP_O_wrap, SP_O_ports, SP_O_hops,
                                                 SP_NO_OPTION};
    static const enum sp_option_id of_switches[] = {SP_O_group, SP_O_inner,          SP_O_top_k,
                                                    SP_O_unit,  SP_O_unit_bandwidth, SP_NO_OPTION};
    const enum sp_option_id *const others = s->is_switched ? of_torus : of_switches;
    for (int i = 0; others[i] != SP_NO_OPTION; i++)
        if (s->args->given_at[others[i]] && !(others[i] == SP_O_group_axes && s->mesh.n > 0))
            return sp_fail(error, SP_INPUT, "--%s: %s has %s; %s", sp_option_name(others[i]),
                           s->hw.name, s->is_switched ? "switches" : "torus axes",
                           s->is_switched ? "give the number of devices with --group"
                                          : "give the group's axes with --group-axes");
    return true;
}

static bool load(const struct sp_args *args, struct comm *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const int op = args->value.op % (SP_COLLECTIVES + 1); /* short names follow the long ones */
    s->op = (enum sp_collective)op;
    s->sends = op == SP_COLLECTIVES;
    s->exchanges = s->op == SP_ALL_TO_ALL;
    s->is_collective = !s->sends;
    s->top_k = args->value.top_k;
    s->half = args->value.half_size;
    if (!sp_hardware_of(args, &sources, &s->hw, error))
        return false;
    s->group = sp_group_on(&s->hw);
    s->is_switched = s->group.switched;
    s->kind = s->is_switched ? (s->sends ? SWITCH_SEND : SWITCH) : s->sends ? TORUS_SEND : TORUS;
    s->passes = s->sends ? 1 : sp_collective_passes(s->op);
    return read_mesh(s, error) && check_kind(s, error) && read_bytes(s, error) &&
           (s->is_switched ? load_switches(s, error) : load_torus(s, error));
}

/* The collective over one node, two, ... of the whole unchanged machine, which the estimate
 * knows. */
static bool find_sizes(struct comm *s, struct sp_error *error)
{
    static const enum sp_option_id others[] = {SP_O_group,          SP_O_mesh, SP_O_inner,
                                               SP_O_unit_bandwidth, SP_O_unit, SP_O_bandwidth};
    const struct sp_sources sources = sp_sources_of(s->args);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (s->args->given_at[others[i]])
            return true;
    if (s->kind != SWITCH || s->exchanges || sp_chips(&s->hw) < 2 || !(s->V > 0))
        return true;
    s->n_sizes = sp_reached_over_nodes(&s->hw, sp_default_framework(&s->hw, false), &sources, s->op,
                                       s->V, s->sizes, MOST_SIZES, error);
    return s->n_sizes >= 0;
}

static void time_group(struct comm *s)
{
    const struct sp_option_values *const v = &s->args->value;
    sp_time_on_group(
        &(struct sp_group_question){s->sends, s->op, s->V, v->hops, v->ports, s->top_k, s->group},
        &s->of);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct comm s = {.args = args};
    if (!load(args, &s, error) || !find_sizes(&s, error))
        return false;
    time_group(&s);
    s.is_measured = s.of.t.curve.share > 0;
    s.is_ringed = s.kind == TORUS && !s.exchanges && s.group.slices == 1 && s.of.on.chips > 1 &&
                  s.of.on.own.bytes_per_s == s.of.on.rings.bytes_per_s;
    put_comm_rows(report, &s);
    return true;
}

/* The seconds of a message of V bytes in one node and on the whole machine, or on the group. */
static struct sp_message time_message(struct comm *s, double V)
{
    struct sp_message message = {.bytes = V, .node_s = NAN};
    struct sp_error ignored = {0};
    s->V = V;
    if (find_sizes(s, &ignored) && s->n_sizes > 0) {
        const struct sp_reached *const first = s->sizes, *const last = &s->sizes[s->n_sizes - 1];
        message.node = first->devices;
        message.node_s = s->n_sizes > 1 ? first->time_s : NAN;
        message.whole = last->devices;
        message.whole_s = last->time_s;
        return message;
    }
    time_group(s);
    message.whole = s->of.devices;
    message.whole_s = sp_longer_bound_s(s->of.t.throughput_s, fmax(s->of.t.latency_s, 0));
    return message;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    enum { MESSAGES = 25 };
    struct sp_message messages[MESSAGES];
    struct comm s = {.args = args};
    char title[SP_PLOT_TEXT];
    if (!load(args, &s, error))
        return NULL;
    snprintf(title, sizeof title, "%s on %.60s", ops[args->value.op % (SP_COLLECTIVES + 1)],
             args->value.hw);
    for (int i = 0; i < MESSAGES; i++)
        messages[i] = time_message(&s, sp_spread(1e3, 1e10, i, MESSAGES));
    return sp_draw_bandwidth(report, title, messages, MESSAGES);
}

const struct sp_command sp_cmd_comm = {
    .name = "comm",
    .summary = "time of one collective on a torus or on switches",
    .about = "Computes the time of an all-gather, reduce-scatter, all-reduce, all-to-all or send: "
             "on torus axes with or without wraparound, throughput- or latency-bound; on nodes and "
             "the network between them, with in-network reduction, ragged exchanges, an inner axis "
             "that also shards the array, or a measured bandwidth.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
