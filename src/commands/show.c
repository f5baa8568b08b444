/* show: one config in full, with the source of every figure and the figures derived from it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/config_table.h"
#include "pictures/curves.h"
#include "pictures/report_data.h"

enum { MOST_TEXT = 4096, DEVICES_OF_NODE = 8 };

#define COMMA ,
static const struct sp_taken options[] = {
    SP_TAKE(kind, .choices = (const char *const[]){SP_KINDS(SP_KIND_NAME, COMMA), NULL}),
    SP_TAKE(example), SP_TAKE(network), /* of the machine that is shown */
    SP_OPTION_PLOT,                     /* of a trend */
};

/* The question: a config of one kind, and for hardware the size given in the name. */
struct wanted {
    enum sp_config_kind kind;
    const char *spec; /* as typed */
    char name[512];   /* without the size */
};

/* A config and its title. */
struct shown {
    struct sp_config_shown of;
    const char *name;
    char aliases[MOST_TEXT], shapes[MOST_TEXT];
    bool has_shapes;
    const char *first_shape, *last_shape;
    double n_shapes;
};
#define SP_PART show
#define SP_PART_OF struct shown
#include "answer/put_rows.h"

#define SP_PART show_slices
#define SP_PART_OF struct shown
#include "answer/put_rows.h"

struct shown_model {
    struct sp_params p;
    double published;
};
#define SP_PART show_model
#define SP_PART_OF struct shown_model
#include "answer/put_rows.h"

#define SP_PART show_precision
#define SP_PART_OF struct sp_precision
#include "answer/put_rows.h"

struct shown_line {
    double bytes_per_s, sharers;
};
#define SP_PART show_network
#define SP_PART_OF struct shown_line
#include "answer/put_rows.h"

struct shown_format {
    double bits, e, m; /* e: NAN for an integer */
    bool floats;
    struct sp_number_range r;
};
#define SP_PART show_format
#define SP_PART_OF struct shown_format
#include "answer/put_rows.h"

struct shown_trend {
    const struct sp_trend *t;
    double fitted;
};
#define SP_PART show_trend
#define SP_PART_OF struct shown_trend
#include "answer/put_rows.h"

#define SP_PART show_trend_point
#define SP_PART_OF struct sp_trend_point
#include "answer/put_rows.h"

struct shown_chip {
    const struct sp_chip *chip;
    const struct sp_network *net;
    struct sp_gpu_units gpu;
    struct sp_tpu_units tpu;
    struct sp_chip_networks of;
    double C, axes, chips_per_host, node_bytes_per_s;
    bool is_gpu, is_tpu, is_torus;
};
#define SP_PART show_chip
#define SP_PART_OF struct shown_chip
#include "answer/put_rows.h"

struct shown_machine {
    const struct sp_hardware *hw;
    struct sp_aggregate sum;
    double slices, slice_chips, chips_per_host, domain, C, usable;
    double halved; /* chips of one piece; NAN: too few to halve */
    char shape[64], rings[64], cloud[64];
    bool is_torus;
};
#define SP_PART show_machine
#define SP_PART_OF struct shown_machine
#include "answer/put_rows.h"

struct shown_fabric {
    const struct sp_fabric *of;
    struct sp_fabric_size size;
    double nodes;
};
#define SP_PART show_fabric
#define SP_PART_OF struct shown_fabric
#include "answer/put_rows.h"

#define SP_PART show_switches
#define SP_PART_OF struct sp_switch_level
#include "answer/put_rows.h"

static void show_model(struct sp_report *report, const struct shown *shown)
{
    const struct sp_model *const model = shown->of.base;
    const double published = model->published_params;
    put_show_model_rows(
        report, &(struct shown_model){sp_count_params(model), published > 0 ? published : NAN});
    if (model->published_rounded)
        sp_note(report, "the published total is rounded; the count cannot be checked more closely");
}

static void show_precision(struct sp_report *report, const struct shown *shown)
{
    put_show_precision_rows(report, shown->of.base);
}

static void show_line(struct sp_report *report, const struct shown *shown)
{
    const struct sp_scaleout *const line = shown->of.base;
    put_show_network_rows(
        report, &(struct shown_line){line->bytes_per_s, line->per_node ? DEVICES_OF_NODE : 1});
}

static void show_format(struct sp_report *report, const struct shown *shown)
{
    const struct sp_number_format *const f = shown->of.base;
    const bool floats = f->exponent_bits > 0;
    put_show_format_rows(report,
                         &(struct shown_format){.bits = (double)f->bits,
                                                .e = floats ? (double)f->exponent_bits : NAN,
                                                .m = (double)f->mantissa_bits,
                                                .floats = floats,
                                                .r = sp_number_range(f)});
}

static void show_trend(struct sp_report *report, const struct shown *shown)
{
    const struct sp_trend *const t = &((const struct sp_trend_file *)shown->of.base)->trend;
    put_show_trend_rows(report, &(struct shown_trend){t, sp_trend_fitted_growth(t)});
}

static void show_points(struct sp_report *report, const struct sp_trend *t)
{
    for (int i = 0; i < t->points; i++) {
        sp_begin_row(report, "", "points.%d", i);
        put_show_trend_point_rows(report, &t->point[i]);
    }
    sp_list_table(report, "points", "name: point, year!, value");
}

static void show_chip(struct sp_report *report, const struct sp_hardware *hw)
{
    const struct sp_network *const net = &hw->network;
    const size_t first = sp_report_size(report);
    put_show_chip_rows(report,
                       &(struct shown_chip){.chip = &hw->chip,
                                            .net = net,
                                            .gpu = sp_gpu_units(&hw->chip),
                                            .tpu = sp_tpu_units(&hw->chip),
                                            .of = sp_chip_networks(hw),
                                            .C = sp_peak16_flops_per_s(&hw->chip),
                                            .axes = (double)net->axes,
                                            .chips_per_host = (double)sp_chips_per_host(net),
                                            .node_bytes_per_s = sp_node_bytes_per_s(net),
                                            .is_gpu = !isnan(hw->chip.sms),
                                            .is_tpu = !isnan(hw->chip.cores),
                                            .is_torus = net->kind == SP_TORUS});
    sp_section(report, "one chip", first, "chip");
    sp_section(report, "ridge point", first, "ridge");
    sp_section(report, "networks", first, "alpha,network,ratio");
}

/* Sums under a scope, and in the text under a heading; NULL: in none. */
static void show_sums(struct sp_report *report, const char *scope, const char *heading,
                      const struct sp_hardware *hw)
{
    const double slice_chips = (double)hw->chips_per_slice;
    struct shown_machine s = {.hw = hw,
                              .sum = sp_aggregate(hw),
                              .slices = (double)hw->slices,
                              .slice_chips = slice_chips,
                              .chips_per_host = (double)sp_chips_per_host(&hw->network),
                              .domain = (double)hw->network.domain,
                              .C = sp_peak16_flops_per_s(&hw->chip),
                              .usable = sp_capacity_bytes(&hw->chip),
                              .halved = slice_chips < 2 ? NAN : slice_chips,
                              .is_torus = hw->network.kind == SP_TORUS};
    const size_t first = sp_report_size(report);
    sp_shape_name(hw, s.shape, sizeof s.shape);
    sp_cloud_name(hw, s.cloud, sizeof s.cloud);
    for (int i = 0; s.is_torus && i < hw->network.axes; i++)
        sp_append(s.rings, sizeof s.rings, "%s%s", i ? ", " : "",
                  sp_axis_wraps(hw, i) ? "ring" : "line");
    sp_scope(report, scope);
    put_show_machine_rows(report, &s);
    if (heading)
        sp_section(report, heading, first, NULL);
    sp_scope(report, "");
}

static void show_fabric(struct sp_report *report, const struct sp_network *net, double nodes)
{
    const struct shown_fabric s = {&net->fabric, sp_fabric_size(net, nodes), nodes};
    const size_t first = sp_report_size(report);
    if (isnan(s.size.spines))
        return;
    put_show_fabric_rows(report, &s);
    sp_section(report, "switches between the nodes", first, NULL);
}

/* Number, ports and bandwidth of the switches of each level. */
static void show_switches(struct sp_report *report, const struct sp_hardware *hw)
{
    static const char *const scopes[] = {"node", "leaf", "spine", "core"};
    static const char *const labels[] = {"in the nodes", "leaf", "spine", "core"};
    const struct sp_switches all = sp_switches_of(hw);
    for (int i = 0; i < SP_SWITCH_LEVELS; i++) {
        if (!(all.level[i].switches > 0))
            continue;
        sp_begin_row(report, labels[i], "switches.%s", scopes[i]);
        put_show_switches_rows(report, &all.level[i]);
    }
    sp_list_table(report, "switches",
                  ": switches, count: number, ports: ports each, bytes_per_s: all ports one way");
}

static void show_machine(struct sp_report *report, const struct sp_hardware *hw)
{
    char heading[96];
    snprintf(heading, sizeof heading, "%.60s, %lld chip%s", hw->name, (long long)sp_chips(hw),
             sp_chips(hw) == 1 ? "" : "s");
    show_sums(report, "machine", heading, hw);
    if (hw->network.kind != SP_SWITCHED)
        return;
    show_fabric(report, &hw->network, sp_aggregate(hw).nodes);
    show_switches(report, hw);
}

/* One whole pod or node; a machine that is one is not shown twice. */
static void show_pod(struct sp_report *report, const struct sp_hardware *hw)
{
    struct sp_hardware pod;
    const bool torus = hw->network.kind == SP_TORUS;
    if (!sp_whole_pod(hw, &pod))
        return;
    const struct sp_entry *const chips = sp_find(report, "machine.devices");
    const bool is_shown = chips && chips->number == (double)sp_chips(&pod);
    show_sums(report, torus ? "pod" : "node",
              is_shown ? NULL
              : torus  ? "one whole pod"
                       : "one whole node",
              &pod);
}

static void show_hardware(struct sp_report *report, const struct shown *shown)
{
    show_chip(report, shown->of.base);
    show_pod(report, shown->of.base);
    put_show_slices_rows(report, shown);
}

static void *load(const struct wanted *wanted, const struct sp_sources *sources,
                  const char *network, struct sp_error *error)
{
    void *const config = sp_load_config(wanted->kind, wanted->spec, sources, error);
    if (!config || !network || sp_put_network(network, sources, config, error))
        return config;
    free(config);
    return NULL;
}

/* The texts of a list in one line. */
static void join(const cJSON *list, const char *separator, char *out, size_t size)
{
    const cJSON *item;
    out[0] = '\0';
    cJSON_ArrayForEach(item, list)
        sp_append(out, size, "%s%s", out[0] ? separator : "", sp_json_text(item, ""));
}

/* Name, other names and slices on offer. */
static void show_title(struct sp_report *report, struct shown *shown)
{
    const cJSON *const shapes = sp_json_node(shown->of.root, "network.shapes");
    shown->name = sp_json_text(shown->of.root, "name");
    shown->has_shapes = shown->of.kind == SP_HARDWARE && cJSON_IsArray(shapes);
    shown->n_shapes = cJSON_GetArraySize(shapes);
    shown->first_shape = sp_json_text(cJSON_GetArrayItem(shapes, 0), "");
    shown->last_shape = sp_json_text(cJSON_GetArrayItem(shapes, (int)shown->n_shapes - 1), "");
    join(sp_json_node(shown->of.root, "aliases"), ", ", shown->aliases, sizeof shown->aliases);
    join(shapes, " ", shown->shapes, sizeof shown->shapes);
    put_show_rows(report, shown);
}

/* Derived figures of a config of a kind, with the heading of their table; a kind without a row
 * shows only its fields. */
static const struct {
    void (*show)(struct sp_report *report, const struct shown *shown);
    const char *heading; /* NULL: several tables */
} views[SP_CONFIG_KINDS] = {
    [SP_MODELS] = {show_model, "parameters"},
    [SP_HARDWARE] = {show_hardware, NULL},
    [SP_PRECISIONS] = {show_precision, "training state"},
    [SP_NETWORKS] = {show_line, "share"},
    [SP_FORMATS] = {show_format, "range and precision"},
    [SP_TRENDS] = {show_trend, "growth"},
};

static bool show(const struct wanted *wanted, const struct sp_sources *sources, const char *network,
                 struct sp_report *report, struct sp_error *error)
{
    struct sp_config config;
    void *const loaded = load(wanted, sources, network, error);
    if (!loaded || !sp_open_config(wanted->kind, wanted->name, sources, &config, error)) {
        free(loaded);
        return false;
    }
    if (wanted->kind == SP_MODELS && !sp_nativise_model(&config.json, sources, error)) {
        sp_config_free(&config);
        free(loaded);
        return false;
    }
    struct shown shown = {.of = {wanted->kind, sources, config.json.root, loaded}};
    const struct sp_hardware *const hw = wanted->kind == SP_HARDWARE ? loaded : NULL;
    show_title(report, &shown);
    if (hw && strcmp(wanted->name, wanted->spec) != 0)
        show_machine(report, hw);
    sp_put_config_fields(report, &shown.of);
    const size_t first = sp_report_size(report);
    if (views[wanted->kind].show)
        views[wanted->kind].show(report, &shown);
    if (views[wanted->kind].heading)
        sp_section(report, views[wanted->kind].heading, first, NULL);
    if (wanted->kind == SP_TRENDS)
        show_points(report, &((const struct sp_trend_file *)loaded)->trend);
    sp_put_config_sources(report, &shown.of);
    if (hw && network)
        sp_note(report, "the scale-out network is %s (--network), not the machine's own",
                hw->network.scaleout_name);
    if (hw)
        sp_note(report,
                sources->textbook
                    ? "constants: the scaling book's, rounded (--constants textbook)"
                    : "constants: published (--constants textbook: the scaling book's, rounded)");
    sp_config_free(&config);
    free(loaded);
    return true;
}

/* Whether the text before the last dash or colon is a machine: "h100-0" is not an unknown name. */
static bool names_a_machine(const char *spec, const struct sp_sources *sources)
{
    char name[128];
    const char *const end = strrchr(spec, strchr(spec, ':') ? ':' : '-');
    if (!end || end == spec || (size_t)(end - spec) >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - spec), spec);
    return sp_config_exists(SP_HARDWARE, name, sources);
}

/* Finds the config that the name means. */
static bool identify(const char *spec, int kind, const struct sp_sources *sources,
                     struct wanted *wanted, struct sp_error *error)
{
    wanted->spec = spec;
    snprintf(wanted->name, sizeof wanted->name, "%s", spec);
    for (int k = 0; k < SP_CONFIG_KINDS && kind < 0; k++) /* "tpu" is no chip, but a record */
        if (k != SP_GROUNDS && sp_config_named((enum sp_config_kind)k, spec, sources))
            kind = k; /* a name takes precedence over another config's alias */
    for (int k = 0; k < SP_CONFIG_KINDS && kind < 0; k++)
        if (k != SP_GROUNDS && sp_config_exists((enum sp_config_kind)k, spec, sources))
            kind = k;
    if (kind < 0 || kind == SP_HARDWARE) {
        const bool sized = sp_machine_name(spec, sources, wanted->name, sizeof wanted->name);
        if (kind < 0 && sized && sp_config_exists(SP_HARDWARE, wanted->name, sources))
            kind = SP_HARDWARE;
    }
    wanted->kind = (enum sp_config_kind)kind;
    if (kind >= 0)
        return true;
    if (strcmp(spec, "-") == 0 || strchr(spec, '/') || strstr(spec, ".json"))
        return sp_fail(error, SP_USAGE,
                       "--kind " SP_KINDS(SP_KIND_NAME, "|") " is needed for a file");
    struct sp_hardware hw;
    if (names_a_machine(spec, sources) && !sp_load_hardware(spec, sources, &hw, error))
        return false; /* with what is wrong about the size */
    struct sp_nearest nearest = {.wanted = spec};
    sp_nearest_config(&nearest, sources);
    return sp_fail(error, SP_INPUT, "unknown name \"%s\"%s (`scaleplan list` shows all)",
                   sp_safe(spec), sp_nearest_hint(&nearest));
}

/* The config's file, to be changed and given back as a file. */
static bool print_file(const struct wanted *wanted, const struct sp_sources *sources,
                       struct sp_report *report, struct sp_error *error)
{
    struct sp_config config;
    if (!sp_open_config(wanted->kind, wanted->name, sources, &config, error))
        return false;
    if (wanted->kind == SP_HARDWARE &&
        !cJSON_GetObjectItemCaseSensitive(config.json.root, "made_from"))
        cJSON_AddStringToObject(config.json.root, "made_from",
                                sp_json_text(config.json.root, "name"));
    char *const printed = sp_must(cJSON_Print(config.json.root));
    char *const text = sp_make_text("%s\n", printed);
    sp_file_text(report, text);
    free(text);
    cJSON_free(printed);
    sp_config_free(&config);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const char *const network = args->value.network;
    struct wanted wanted;
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE, "give a name: scaleplan show NAME");
    if (!identify(args->operands[0], args->value.kind, &sources, &wanted, error))
        return false;
    if (args->given.example)
        return print_file(&wanted, &sources, report, error);
    if (network && wanted.kind != SP_HARDWARE)
        return sp_fail(error, SP_USAGE, "--network needs a machine; \"%s\" is a %s",
                       sp_safe(wanted.name), sp_config_kinds[wanted.kind].noun);
    return show(&wanted, &sources, network, report, error);
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_trend_file file;
    if (isnan(sp_rows_number(report, "points", 0, "year")))
        return sp_fail(error, SP_INPUT,
                       "--plot draws only trends with points (`scaleplan list trends`), such as "
                       "training-compute"),
               NULL;
    return sp_load_trend(args->operands[0], &sources, &file, error) ? sp_draw_trend(&file.trend)
                                                                    : NULL;
}

static const struct sp_example examples[] = {
    {"show v5p", "a chip: figures, sources and derived values"},
    {"show v5p-4096", "a slice: memory, peak, hosts, bisection"},
    {"show h100-1024", "a cluster: nodes, leaf and spine switches, their bandwidths"},
    {"show h100 --explain=ridge.fp8", "one figure: formula, numbers, source"},
    {"show llama3-70b --get params.total", "one number"},
    {"show bf16", "a number format: range, precision, bytes"},
    {"show training-compute", "a trend: growth, doubling time, notable models"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_show = {
    .name = "show",
    .is_list = true,
    .summary = "print a config in full, with sources",
    .operands = "NAME",
    .about = "Prints every figure of a config (" SP_KINDS(
        SP_KIND_NOUN, ", ") ") with its source, derived figures, and where sources disagree. A "
                            "name with a size (v5p-4096, v5p:8x8x8, "
                            "h100-1024) adds the machine's totals, bisection and switches.",
    SP_OPTIONS(options),
    .examples = examples,
    .reads_report = true,
    .run = run,
    .plot = plot,
};
