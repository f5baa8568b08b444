/* show: one config whole, with the source of every figure, and what follows from it. */
#include <string.h>

#include "base/suggest.h"
#include "commands/show.h"

static const struct sp_option options[] = {
    {"kind", "KIND", SP_CHOICE, 0, 0,
     (const char *const[]){"model", "hardware", "precision", "network", "law", "framework",
                           "profile", NULL},
     NULL, "what NAME is, where several kinds share a name, or it is a file"},
    SP_OPTION_NETWORK,
};

/* What was asked for: a config of one kind, and for hardware the size that the name gave. */
struct wanted {
    enum sp_config_kind kind;
    const char *spec; /* as typed */
    char name[512];   /* without the size */
};

static union {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_scaleout scaleout;
    struct sp_scaling_law law;
    struct sp_framework_file framework;
    struct sp_profile profile;
} loaded;

static bool load(const struct wanted *wanted, const struct sp_sources *sources, const char *network,
                 struct sp_error *error)
{
    struct sp_scaleout scaleout;
    switch (wanted->kind) {
    case SP_MODELS:
        return sp_load_model(wanted->spec, sources, &loaded.model, error);
    case SP_PRECISIONS:
        return sp_load_precision(wanted->spec, sources, &loaded.precision, error);
    case SP_NETWORKS:
        return sp_load_scaleout(wanted->spec, sources, &loaded.scaleout, error);
    case SP_LAWS:
        return sp_load_law(wanted->spec, sources, &loaded.law, error);
    case SP_FRAMEWORKS:
        return sp_load_framework(wanted->spec, sources, &loaded.framework, error);
    case SP_PROFILES:
        return sp_load_profile(wanted->spec, sources, &loaded.profile, error);
    default:
        break;
    }
    if (!sp_load_hardware(wanted->spec, sources, &loaded.hw, error))
        return false;
    if (!network)
        return true;
    if (loaded.hw.network.kind == SP_TORUS)
        return sp_fail(error, SP_INPUT,
                       "--network %s: %s is a torus and has no scale-out network to replace",
                       sp_safe(network), loaded.hw.name);
    if (!sp_load_scaleout(network, sources, &scaleout, error))
        return false;
    sp_use_scaleout(&loaded.hw.network, &scaleout);
    return true;
}

/* The texts of a list in one line. */
static void join(const cJSON *list, const char *separator, char *out, size_t size)
{
    const cJSON *item;
    out[0] = '\0';
    cJSON_ArrayForEach(item, list)
    {
        const size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", used ? separator : "", sp_text_at(item, ""));
    }
}

/* Name, other names and slices on offer. */
static void put_title(struct sp_report *report, const struct sp_shown *shown)
{
    char text[4096];
    join(cJSON_GetObjectItemCaseSensitive(shown->root, "aliases"), ", ", text, sizeof text);
    sp_put_text(report, SP_Q_SHOW_NAME, "%s", sp_text_at(shown->root, "name"));
    sp_put_text(report, SP_Q_SHOW_ALIASES, "%s", text);
    sp_line(report, *text ? "{name}, also called {aliases}" : "{name}");
    const cJSON *shapes = sp_node_at(shown->root, "network.shapes");
    if (shown->kind != SP_HARDWARE || !cJSON_IsArray(shapes))
        return;
    join(shapes, " ", text, sizeof text);
    sp_put_text(report, SP_Q_SHOW_SHAPES, "%s", text);
    sp_put(report, SP_Q_SHOW_N_SHAPES, cJSON_GetArraySize(shapes));
}

/* "slices on offer: 96, from 2x2x1 to 16x20x28" */
static void line_of_shapes(struct sp_report *report, const struct sp_shown *shown)
{
    const cJSON *shapes = sp_node_at(shown->root, "network.shapes");
    const int n = cJSON_GetArraySize(shapes);
    if (n == 0)
        return;
    sp_line(report, " ");
    sp_line(report, "slices on offer: {n_shapes}, from %s to %s (--get shapes lists them)",
            sp_text_at(cJSON_GetArrayItem(shapes, 0), ""),
            sp_text_at(cJSON_GetArrayItem(shapes, n - 1), ""));
}

static void put_derived(struct sp_report *report, const struct sp_shown *shown)
{
    switch (shown->kind) {
    case SP_MODELS:
        sp_show_model(report, &loaded.model);
        break;
    case SP_PRECISIONS:
        sp_show_precision(report, &loaded.precision);
        break;
    case SP_NETWORKS:
        sp_show_scaleout(report, &loaded.scaleout);
        break;
    case SP_LAWS:       /* `scaling` derives */
    case SP_FRAMEWORKS: /* `step` does */
    case SP_PROFILES:
        break;
    default:
        sp_show_chip(report, &loaded.hw);
        sp_show_pod(report, &loaded.hw);
        line_of_shapes(report, shown);
        break;
    }
}

static bool show(const struct wanted *wanted, const struct sp_sources *sources, const char *network,
                 struct sp_report *report, struct sp_error *error)
{
    struct sp_config config;
    if (!load(wanted, sources, network, error) ||
        !sp_open_config(wanted->kind, wanted->name, sources, &config, error))
        return false;
    const struct sp_shown shown = {wanted->kind, sources, config.json.root, &loaded};
    put_title(report, &shown);
    if (wanted->kind == SP_HARDWARE && strcmp(wanted->name, wanted->spec) != 0)
        sp_show_machine(report, &loaded.hw);
    sp_show_fields(report, &shown);
    put_derived(report, &shown);
    sp_show_sources(report, &shown);
    if (network)
        sp_note(report, "the scale-out network is %s (--network), not the machine's own",
                loaded.hw.network.scaleout_name);
    if (wanted->kind == SP_HARDWARE)
        sp_note(report, sources->textbook
                            ? "constants: the scaling book's rounded ones (--constants textbook)"
                            : "constants: published ones (default; --constants textbook takes the "
                              "scaling book's rounded ones)");
    sp_config_free(&config);
    return true;
}

/* Whether what stands before the last dash or colon is a machine: "h100-0" is no unknown name. */
static bool names_a_machine(const char *spec, const struct sp_sources *sources)
{
    char name[128];
    const char *const end = strrchr(spec, strchr(spec, ':') ? ':' : '-');
    if (!end || end == spec || (size_t)(end - spec) >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - spec), spec);
    return sp_config_exists(SP_HARDWARE, name, sources);
}

/* Finds out what the name stands for. */
static bool identify(const char *spec, int kind, const struct sp_sources *sources,
                     struct wanted *wanted, struct sp_error *error)
{
    wanted->spec = spec;
    snprintf(wanted->name, sizeof wanted->name, "%s", spec);
    for (int k = 0; k < SP_CONFIG_KINDS && kind < 0; k++)
        if (sp_config_exists((enum sp_config_kind)k, spec, sources))
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
        return sp_fail(
            error, SP_USAGE,
            "--kind model|hardware|precision|network|law|framework|profile is needed for a file");
    if (names_a_machine(spec, sources) && !sp_load_hardware(spec, sources, &loaded.hw, error))
        return false; /* with what is wrong about the size */
    struct sp_nearest nearest = {.wanted = spec};
    sp_nearest_config(&nearest, sources);
    return sp_fail(error, SP_INPUT, "unknown name \"%s\"%s (`scaleplan list` shows all)",
                   sp_safe(spec), sp_nearest_hint(&nearest));
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const char *const network = sp_text_of(args, "network");
    struct wanted wanted;
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE, "one name is needed: scaleplan show NAME");
    if (!identify(args->operands[0], sp_choice_of(args, "kind"), &sources, &wanted, error))
        return false;
    if (network && wanted.kind != SP_HARDWARE)
        return sp_fail(error, SP_USAGE, "--network belongs to a machine; \"%s\" is a %s",
                       sp_safe(wanted.name), sp_config_kinds[wanted.kind].noun);
    return show(&wanted, &sources, network, report, error);
}

static const struct sp_example examples[] = {
    {"scaleplan show v5p", "a chip: every figure with its source, and what follows from them"},
    {"scaleplan show v5p-4096", "a slice: memory, peak, hosts, bisection"},
    {"scaleplan show h100-1024", "a cluster: nodes, leaf and spine switches, their bandwidths"},
    {"scaleplan show h100 --explain=ridge.fp8", "one figure: formula, numbers, source"},
    {"scaleplan show llama3-70b --get params.total", "one number"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_show = {
    .name = "show",
    .summary = "one model, chip, machine, precision or network whole, with sources",
    .operands = "NAME",
    .about = "Prints every figure of a config with its source, the figures that follow from it "
             "(parameter counts; a chip's units, clocks, ridge points and alpha; pod and node "
             "sums, bisection), and where sources disagree. A name with a size (v5p-4096, "
             "v5p:8x8x8, h100-1024) adds that machine's sums, bisection and switches.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = examples,
    .run = run,
};
