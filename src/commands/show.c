/* show: one config whole, with the source of every figure, and what follows from it. */
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "commands/show.h"

#define COMMA ,
static const struct sp_taken options[] = {
    SP_TAKE(kind, .choices = (const char *const[]){SP_KINDS(SP_KIND_NAME, COMMA), NULL}),
    SP_TAKE(network), /* of the machine that is shown */
};

/* What was asked for: a config of one kind, and for hardware the size that the name gave. */
struct wanted {
    enum sp_config_kind kind;
    const char *spec; /* as typed */
    char name[512];   /* without the size */
};

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
    const struct sp_shown shown = {wanted->kind, sources, config.json.root, loaded};
    const struct sp_hardware *const hw = wanted->kind == SP_HARDWARE ? loaded : NULL;
    put_title(report, &shown);
    if (hw && strcmp(wanted->name, wanted->spec) != 0)
        sp_show_machine(report, hw);
    sp_show_fields(report, &shown);
    if (sp_kind_views[wanted->kind].show)
        sp_kind_views[wanted->kind].show(report, &shown);
    sp_show_sources(report, &shown);
    if (hw && network)
        sp_note(report, "the scale-out network is %s (--network), not the machine's own",
                hw->network.scaleout_name);
    if (hw)
        sp_note(report, sources->textbook
                            ? "constants: the scaling book's rounded ones (--constants textbook)"
                            : "constants: published ones (default; --constants textbook takes the "
                              "scaling book's rounded ones)");
    sp_config_free(&config);
    free(loaded);
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

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const char *const network = args->value.network;
    struct wanted wanted;
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE, "one name is needed: scaleplan show NAME");
    if (!identify(args->operands[0], args->value.kind, &sources, &wanted, error))
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
    {"scaleplan show bf16", "a number format: range, precision, bytes"},
    {"scaleplan show training-compute", "a trend: growth, doubling time, notable models"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_show = {
    .name = "show",
    .summary =
        "one model, chip, machine, precision, network, number format or trend whole, with sources",
    .operands = "NAME",
    .about = "Prints every figure of a config with its source, the figures that follow from it "
             "(parameter counts; a chip's units, clocks, ridge points and alpha; pod and node "
             "sums, bisection), and where sources disagree. A name with a size (v5p-4096, "
             "v5p:8x8x8, h100-1024) adds that machine's sums, bisection and switches.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
