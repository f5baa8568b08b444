/* show: one config whole, with the source of every figure, and what follows from it. */
#include <math.h>
#include <string.h>

#include "../config/text.h"
#include "command.h"

static const struct sp_option options[] = {
    {"kind", "KIND", SP_CHOICE, 0, 0,
     (const char *const[]){"model", "hardware", "precision", "network", NULL}, NULL,
     "what NAME is, where several kinds share a name"},
};

static const cJSON *node_at(const cJSON *root, const char *path)
{
    const cJSON *node = root;
    while (node && *path) {
        char name[80];
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        node = cJSON_GetObjectItemCaseSensitive(node, name);
        path += n + (path[n] == '.');
    }
    return node;
}

static const char *text_at(const cJSON *root, const char *path)
{
    const cJSON *node = node_at(root, path);
    return cJSON_IsString(node) ? node->valuestring : "";
}

/* "gcp-v5p: https://..." for the key of a source, else the text itself. */
static void describe_source(const cJSON *root, const char *source, char *out, size_t size)
{
    const cJSON *sources = cJSON_GetObjectItemCaseSensitive(root, "sources");
    const char *const full = text_at(sources, source);
    snprintf(out, size, "%s%s%s", source, *full ? ": " : "", full);
}

static enum sp_unit unit_of(const struct sp_field *field)
{
    static const struct {
        const char *name;
        enum sp_unit unit;
    } units[] = {{"FLOP/s", SP_FLOPS_PER_S}, {"bytes", SP_BYTES},   {"bytes/s", SP_BYTES_PER_S},
                 {"s", SP_SECONDS},          {"Hz", SP_HERTZ},      {"W", SP_WATTS},
                 {"USD/h", SP_USD},          {"tokens", SP_TOKENS}, {"parameters", SP_PARAMETERS}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, field->unit) == 0)
            return units[i].unit;
    return field->type == SP_FIELD_INT ? SP_COUNT : SP_NUMBER;
}

/* One row per field that has a value in the file. */
static void put_fields(struct sp_report *report, const struct sp_field_table *table,
                       const cJSON *root, const void *base)
{
    static const struct sp_column columns[] = {
        {NULL, "field", true}, {"value", "value", false}, {"source", "source", true}};
    static struct sp_row rows[128];
    size_t n = 0;
    for (size_t i = 0; i < table->n && n < 128; i++) {
        const struct sp_field *field = &table->fields[i];
        const cJSON *node = node_at(root, field->key);
        char value[256], source[512], path[160];
        if (!node || field->type == SP_FIELD_SHAPES ||
            (field->type == SP_FIELD_PROSE && !cJSON_IsString(node)))
            continue;
        if (field->type == SP_FIELD_PROSE)
            snprintf(value, sizeof value, "%s", node->valuestring);
        else
            sp_format_field(field, base, value, sizeof value);
        describe_source(root, text_at(node, "source"), source, sizeof source);
        const char *const note = text_at(node, "note");
        if (*note)
            snprintf(source + strlen(source), sizeof source - strlen(source), " (%s)", note);
        const bool number = field->type == SP_FIELD_INT || field->type == SP_FIELD_REAL ||
                            field->type == SP_FIELD_FIGURE;
        snprintf(path, sizeof path, "fields.%s", field->key);
        sp_scope(report, path);
        sp_put_described(report, "value", field->key, number ? unit_of(field) : SP_WORDS, source,
                         field->help, number ? sp_field_number(field, base) : NAN,
                         number ? NULL : value);
        sp_put_described(report, "unit", field->key, SP_WORDS, "", "", NAN, field->unit);
        sp_put_described(report, "source", field->key, SP_WORDS, "", "", NAN, source);
        snprintf(rows[n].label, sizeof rows[n].label, "%s", field->key);
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "fields.%.90s", field->key);
        n++;
    }
    sp_table(report, columns, 3, rows, n);
    sp_scope(report, "");
}

/* A line for each derived quantity put since entry `first`. */
static void put_lines(struct sp_report *report, size_t first)
{
    const size_t end = sp_report_size(report);
    for (size_t i = first; i < end; i++) {
        const struct sp_entry *entry = sp_report_entry(report, i);
        if (entry->kind != SP_VALUE_NONE)
            sp_line(report, "%-32s {%s}  (%s)", entry->info.label, entry->path,
                    entry->info.meaning);
    }
}

static void derive_model(struct sp_report *report, const struct sp_model *model)
{
    const struct sp_params p = sp_count_params(model);
    sp_symbol(report, "total", p.total, "parameters", "counted");
    sp_symbol(report, "published_params", model->published_params, "parameters", "published");
    sp_put(report, SP_Q_SHOW_PARAMS, p.total);
    sp_put(report, SP_Q_SHOW_PARAMS_ACTIVE, p.active);
    sp_put(report, SP_Q_SHOW_PARAMS_EMBEDDING, p.embedding);
    sp_put(report, SP_Q_SHOW_PARAMS_ATTENTION, p.attention);
    sp_put(report, SP_Q_SHOW_PARAMS_MLP, p.mlp);
    sp_put(report, SP_Q_SHOW_PARAMS_EXPERTS, p.experts);
    sp_put(report, SP_Q_SHOW_PARAMS_ROUTER, p.router);
    sp_put(report, SP_Q_SHOW_PARAMS_NORM, p.norm);
    sp_put(report, SP_Q_SHOW_PARAMS_OFF,
           model->published_params > 0 ? p.total / model->published_params - 1 : NAN);
}

static void derive_torus(struct sp_report *report, const struct sp_hardware *hw, double C)
{
    const struct sp_network *net = &hw->network;
    const double w = net->link_bytes_per_s, chips = (double)sp_shape_chips(&net->pod_shape);
    const double W_dcn = sp_dcn_bytes_per_s_per_chip(net);
    sp_symbol(report, "w", w, "bytes/s", "one link, one way");
    sp_symbol(report, "axes", (double)net->axes, "", "axes of the torus");
    sp_symbol(report, "W_dcn", W_dcn, "bytes/s", "a host's data-centre egress over its chips");
    sp_put(report, SP_Q_SHOW_ALPHA_AXIS, C / (2 * w));
    sp_put(report, SP_Q_SHOW_ALPHA_DCN, C / W_dcn);
    sp_put(report, SP_Q_SHOW_EGRESS, 2 * (double)net->axes * w);
    if (!(chips >= 1))
        return;
    sp_symbol(report, "chips", chips, "chips", "chips of a pod");
    sp_symbol(report, "chips_per_host", (double)net->chips_per_host, "chips", "chips of a host");
    sp_symbol(report, "cores", hw->chip.cores, "", "TensorCores of a chip");
    sp_put(report, SP_Q_SHOW_POD_CHIPS, chips);
    sp_put(report, SP_Q_SHOW_POD_HOSTS, chips / (double)net->chips_per_host);
    sp_put(report, SP_Q_SHOW_POD_CORES, chips * hw->chip.cores);
    sp_put(report, SP_Q_SHOW_POD_FLOPS, C * chips);
    sp_put(report, SP_Q_SHOW_POD_HBM, hw->chip.hbm_bytes * chips);
}

static void derive_switched(struct sp_report *report, const struct sp_hardware *hw, double C)
{
    const struct sp_network *net = &hw->network;
    const double domain = (double)net->domain, W_node = sp_node_bytes_per_s(net);
    sp_symbol(report, "W_gpu", net->domain_bytes_per_s, "bytes/s", "scale-up egress of one device");
    sp_symbol(report, "W_node", W_node, "bytes/s", "scale-out egress of one node");
    sp_symbol(report, "domain", domain, "devices", "devices of one scale-up domain");
    sp_symbol(report, "scaleout", net->scaleout_bytes_per_s, "bytes/s",
              "scale-out egress of a device");
    sp_put(report, SP_Q_SHOW_ALPHA_NODE, C / net->domain_bytes_per_s);
    sp_put(report, SP_Q_SHOW_ALPHA_CROSS, C / W_node);
    sp_put(report, SP_Q_SHOW_NODE_EGRESS, W_node);
    sp_put(report, SP_Q_SHOW_NODE_FLOPS, C * domain);
    sp_put(report, SP_Q_SHOW_NODE_HBM, hw->chip.hbm_bytes * domain);
    sp_put(report, SP_Q_SHOW_NODE_BISECTION, domain * net->domain_bytes_per_s);
}

static void derive_hardware(struct sp_report *report, const struct sp_hardware *hw)
{
    const struct sp_chip *chip = &hw->chip;
    const double C = chip->peak_flops_per_s[sp_compute_dtype(chip, SP_BF16)];
    const double C_int8 = chip->peak_flops_per_s[SP_INT8], C_fp8 = chip->peak_flops_per_s[SP_FP8];
    sp_symbol(report, "C", C, "FLOP/s", "dense 16-bit peak");
    sp_symbol(report, "C_int8", C_int8, "FLOP/s", "dense int8 peak");
    sp_symbol(report, "C_fp8", C_fp8, "FLOP/s", "dense fp8 peak");
    sp_symbol(report, "W_hbm", chip->hbm_bytes_per_s, "bytes/s", "memory bandwidth");
    sp_symbol(report, "hbm", chip->hbm_bytes, "bytes", "memory of a chip");
    sp_put(report, SP_Q_SHOW_RIDGE, C / chip->hbm_bytes_per_s);
    sp_put(report, SP_Q_SHOW_RIDGE_INT8, C_int8 / chip->hbm_bytes_per_s);
    sp_put(report, SP_Q_SHOW_RIDGE_FP8, C_fp8 / chip->hbm_bytes_per_s);
    if (hw->network.kind == SP_TORUS)
        derive_torus(report, hw, C);
    else
        derive_switched(report, hw, C);
}

static void put_conflicts(struct sp_report *report, const cJSON *root)
{
    const cJSON *conflict;
    cJSON_ArrayForEach(conflict, cJSON_GetObjectItemCaseSensitive(root, "conflicts"))
    {
        char chosen[64];
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(conflict, "chosen");
        if (cJSON_IsNumber(value))
            sp_format_double(value->valuedouble, chosen, sizeof chosen);
        else
            snprintf(chosen, sizeof chosen, "%s", cJSON_IsString(value) ? value->valuestring : "");
        sp_note(report, "sources disagree on %s: taken %s; others %s; %s",
                text_at(conflict, "item"), chosen, text_at(conflict, "others"),
                text_at(conflict, "why"));
    }
}

static bool show_kind(enum sp_config_kind kind, const char *name, const struct sp_sources *sources,
                      struct sp_report *report, struct sp_error *error)
{
    static struct sp_model model;
    static struct sp_hardware hw;
    static struct sp_precision precision;
    static struct sp_scaleout scaleout;
    struct sp_config config;
    bool ok = kind == SP_MODELS       ? sp_load_model(name, sources, &model, error)
              : kind == SP_HARDWARE   ? sp_load_hardware(name, sources, &hw, error)
              : kind == SP_PRECISIONS ? sp_load_precision(name, sources, &precision, error)
                                      : sp_load_scaleout(name, sources, &scaleout, error);
    const void *const bases[] = {&model, &hw, &precision, &scaleout};
    if (!ok || !sp_open_config(kind, name, sources, &config, error))
        return false;
    put_fields(report, sp_config_kinds[kind].table, config.json.root, bases[kind]);
    sp_line(report, " ");
    const size_t first = sp_report_size(report);
    if (kind == SP_MODELS)
        derive_model(report, &model);
    else if (kind == SP_HARDWARE)
        derive_hardware(report, &hw);
    else if (kind == SP_NETWORKS)
        sp_put(report, SP_Q_SHOW_NET_PER_DEVICE,
               scaleout.bytes_per_s / (scaleout.per_node ? 8 : 1));
    if (kind == SP_PRECISIONS) {
        sp_symbol(report, "weight", precision.weight_bytes, "bytes", "weights");
        sp_symbol(report, "grad", precision.grad_bytes, "bytes", "gradients");
        sp_symbol(report, "master", precision.master_bytes, "bytes", "master copy");
        sp_symbol(report, "optimizer", precision.optimizer_bytes, "bytes", "optimizer moments");
        sp_put(report, SP_Q_SHOW_STATE_BYTES, sp_state_bytes_per_param(&precision));
    }
    put_lines(report, first);
    put_conflicts(report, config.json.root);
    sp_config_free(&config);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const int wanted = sp_choice_of(args, "kind");
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE, "one name is needed: scaleplan show NAME");
    const char *const name = args->operands[0];
    if (wanted >= 0)
        return show_kind((enum sp_config_kind)wanted, name, &sources, report, error);
    for (int kind = 0; kind < SP_CONFIG_KINDS; kind++)
        if (sp_config_exists((enum sp_config_kind)kind, name, &sources))
            return show_kind((enum sp_config_kind)kind, name, &sources, report, error);
    if (strchr(name, '/') || strstr(name, ".json"))
        return sp_fail(error, SP_USAGE,
                       "--kind model|hardware|precision|network is needed for a file");
    struct sp_nearest nearest = {.wanted = name};
    sp_nearest_config(&nearest, &sources);
    return sp_fail(error, SP_INPUT, "unknown name \"%s\"%s (`scaleplan list` shows all)",
                   sp_safe(name), sp_nearest_hint(&nearest));
}

static const struct sp_example examples[] = {
    {"scaleplan show v5p", "a chip: every figure with its source, and what follows from them"},
    {"scaleplan show llama3-70b --get params.total", "one number"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_show = {
    .name = "show",
    .summary = "one model, chip, precision or network whole, with sources",
    .operands = "NAME",
    .about = "Prints every figure of a config with its source, the figures that follow from it "
             "(parameter "
             "counts, ridge points, alpha, pod and node aggregates), and where sources disagree.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .examples = examples,
    .run = run,
};
