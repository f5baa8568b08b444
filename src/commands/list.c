/* list: the built-in and the user's own configs. */
#include <math.h>
#include <string.h>

#include "cli/command.h"

struct listing {
    struct sp_report *report;
    const struct sp_sources *sources;
    enum sp_config_kind kind;
    size_t n;
    struct sp_row rows[1024];
};

static void put_model(struct listing *l, const char *name)
{
    struct sp_model model;
    struct sp_error error = {0};
    if (!sp_load_model(name, l->sources, &model, &error))
        return;
    const struct sp_params params = sp_count_params(&model);
    sp_put_described(l->report, "family", "family", SP_WORDS, "", "", NAN, model.family);
    sp_put_described(l->report, "params", "parameters", SP_PARAMETERS, "", "", params.total, NULL);
    sp_put_described(l->report, "params_active", "active", SP_PARAMETERS, "", "", params.active,
                     NULL);
    sp_put_described(l->report, "layers", "layers", SP_COUNT, "", "",
                     model.layers > 0 ? (double)model.layers : NAN, NULL);
    sp_put_described(l->report, "d_model", "d_model", SP_COUNT, "", "",
                     model.layers > 0 ? (double)model.d_model : NAN, NULL);
}

static void put_hardware(struct listing *l, const char *name)
{
    struct sp_hardware hw;
    struct sp_error error = {0};
    if (!sp_load_hardware(name, l->sources, &hw, &error))
        return;
    const enum sp_dtype dtype = sp_compute_dtype(&hw.chip, SP_BF16);
    const bool torus = hw.network.kind == SP_TORUS;
    sp_put_described(l->report, "network", "network", SP_WORDS, "", "", NAN,
                     torus ? "torus" : "switched");
    sp_put_described(l->report, "peak_flops_per_s", "16-bit peak", SP_FLOPS_PER_S, "", "",
                     hw.chip.peak_flops_per_s[dtype], NULL);
    sp_put_described(l->report, "hbm_bytes", "memory", SP_BYTES, "", "", hw.chip.hbm_bytes, NULL);
    sp_put_described(l->report, "hbm_bytes_per_s", "bandwidth", SP_BYTES_PER_S, "", "",
                     hw.chip.hbm_bytes_per_s, NULL);
    sp_put_described(l->report, "link_bytes_per_s", "link", SP_BYTES_PER_S, "", "",
                     torus ? hw.network.link_bytes_per_s : hw.network.domain_bytes_per_s, NULL);
}

static void put_precision(struct listing *l, const char *name)
{
    struct sp_precision p;
    struct sp_error error = {0};
    if (!sp_load_precision(name, l->sources, &p, &error))
        return;
    sp_put_described(l->report, "bytes_per_param", "bytes/parameter", SP_NUMBER, "", "",
                     sp_state_bytes_per_param(&p), NULL);
    sp_put_described(l->report, "compute_dtype", "matmuls", SP_WORDS, "", "", NAN,
                     sp_dtype_names[p.compute_dtype]);
}

static void put_network(struct listing *l, const char *name)
{
    struct sp_scaleout s;
    struct sp_error error = {0};
    if (!sp_load_scaleout(name, l->sources, &s, &error))
        return;
    sp_put_described(l->report, "bytes_per_s", "one way", SP_BYTES_PER_S, "", "", s.bytes_per_s,
                     NULL);
    sp_put_described(l->report, "per", "per", SP_WORDS, "", "", NAN,
                     s.per_node ? "node" : "device");
}

static void put_law(struct listing *l, const char *name)
{
    struct sp_scaling_law law;
    struct sp_error error = {0};
    if (!sp_load_law(name, l->sources, &law, &error))
        return;
    const struct sp_law_power n = sp_law_power(&law);
    sp_put_described(l->report, "exponent", "a", SP_NUMBER, "", "", n.exponent, NULL);
    sp_put_described(l->report, "irreducible_loss", "E", SP_NUMBER, "", "",
                     law.form == SP_FORM_SUM ? law.E : NAN, NULL);
}

static void put_framework(struct listing *l, const char *name)
{
    struct sp_framework_file file;
    struct sp_error error = {0};
    if (!sp_load_framework(name, l->sources, &file, &error))
        return;
    sp_put_described(l->report, "precision", "precision", SP_WORDS, "", "", NAN,
                     file.framework.precision);
    sp_put_described(l->report, "schedules", "schedules", SP_WORDS, "", "", NAN, file.schedules);
    sp_put_described(l->report, "zero", "ZeRO", SP_WORDS, "", "", NAN, file.zero);
}

static void put_profile(struct listing *l, const char *name)
{
    struct sp_profile profile;
    struct sp_error error = {0};
    if (!sp_load_profile(name, l->sources, &profile, &error))
        return;
    sp_put_described(l->report, "chip", "chip", SP_WORDS, "", "", NAN, profile.chip);
    sp_put_described(l->report, "framework", "framework", SP_WORDS, "", "", NAN, profile.framework);
    sp_put_described(l->report, "matmul_16bit", "matmuls", SP_NUMBER, "", "",
                     profile.value[SP_C_MATMUL_16], NULL);
    sp_put_described(l->report, "residual", "residual", SP_NUMBER, "", "", profile.residual, NULL);
}

static void put_item(const char *name, void *context)
{
    static void (*const put[SP_CONFIG_KINDS])(struct listing *, const char *) = {
        [SP_MODELS] = put_model,     [SP_HARDWARE] = put_hardware, [SP_PRECISIONS] = put_precision,
        [SP_NETWORKS] = put_network, [SP_LAWS] = put_law,          [SP_FRAMEWORKS] = put_framework,
        [SP_PROFILES] = put_profile,
    };
    struct listing *l = context;
    if (l->n == sizeof l->rows / sizeof *l->rows)
        return;
    struct sp_row *row = &l->rows[l->n];
    snprintf(row->label, sizeof row->label, "%s", sp_safe(name));
    snprintf(row->prefix, sizeof row->prefix, "%s.%zu", sp_config_kinds[l->kind].folder, l->n);
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->rows[i].label, row->label) == 0)
            return; /* the user's own hides the built-in one */
    l->n++;
    sp_scope(l->report, row->prefix);
    sp_put_described(l->report, "name", "name", SP_WORDS, "", "", NAN, row->label);
    put[l->kind](l, name);
}

static void put_kind(enum sp_config_kind kind, const struct sp_sources *sources,
                     struct sp_report *report)
{
    static const struct sp_column columns[SP_CONFIG_KINDS][6] = {
        [SP_MODELS] = {{NULL, "models", true},
                       {"family", "family", true},
                       {"params", "parameters", false},
                       {"params_active", "active", false},
                       {"layers", "layers", false},
                       {"d_model", "d_model", false}},
        [SP_HARDWARE] = {{NULL, "hardware", true},
                         {"network", "network", true},
                         {"peak_flops_per_s", "16-bit peak", false},
                         {"hbm_bytes", "memory", false},
                         {"hbm_bytes_per_s", "bandwidth", false},
                         {"link_bytes_per_s", "link, one way", false}},
        [SP_PRECISIONS] = {{NULL, "precision", true},
                           {"bytes_per_param", "bytes/parameter", false},
                           {"compute_dtype", "matmuls", true}},
        [SP_NETWORKS] = {{NULL, "networks", true},
                         {"bytes_per_s", "one way", false},
                         {"per", "per", true}},
        [SP_LAWS] = {{NULL, "laws", true},
                     {"exponent", "N grows as C^", false},
                     {"irreducible_loss", "irreducible loss", false}},
        [SP_FRAMEWORKS] = {{NULL, "frameworks", true},
                           {"precision", "precision", true},
                           {"schedules", "schedules", true},
                           {"zero", "ZeRO stages", true}},
        [SP_PROFILES] = {{NULL, "profiles", true},
                         {"chip", "chip", true},
                         {"framework", "framework", true},
                         {"matmul_16bit", "large 16-bit matmuls", false},
                         {"residual", "residual", false}},
    };
    static const size_t n_columns[SP_CONFIG_KINDS] = {6, 6, 3, 3, 3, 4, 5};
    static struct listing l;
    l = (struct listing){.report = report, .sources = sources, .kind = kind};
    sp_each_config(kind, sources, put_item, &l);
    sp_table(report, columns[kind], n_columns[kind], l.rows, l.n);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    bool wanted[SP_CONFIG_KINDS] = {false};
    for (int i = 0; i < args->n_operands; i++) {
        bool known = false;
        for (int kind = 0; kind < SP_CONFIG_KINDS; kind++)
            if (strcmp(args->operands[i], sp_config_kinds[kind].folder) == 0)
                known = wanted[kind] = true;
        if (!known)
            return sp_fail(error, SP_INPUT,
                           "\"%s\" is not one of models, hardware, precision, networks, laws, "
                           "frameworks, profiles",
                           sp_safe(args->operands[i]));
    }
    bool first = true;
    for (int kind = 0; kind < SP_CONFIG_KINDS; kind++) {
        if (args->n_operands > 0 && !wanted[kind])
            continue;
        if (!first)
            sp_line(report, " ");
        first = false;
        put_kind((enum sp_config_kind)kind, &sources, report);
    }
    return true;
}

static const struct sp_example examples[] = {
    {"scaleplan list", "everything"},
    {"scaleplan list models --format json | jq -r '.models[].name'", "names for a script"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_list = {
    .name = "list",
    .summary =
        "what names stand for: models, hardware, precisions, networks, laws, frameworks, profiles",
    .operands = "[models|hardware|precision|networks|laws|frameworks|profiles]...",
    .about = "Lists the built-in configs and those of --config-dir, SCALEPLAN_CONFIG_PATH and "
             "~/.config/scaleplan, with their main figures.",
    .options = NULL,
    .n_options = 0,
    .examples = examples,
    .run = run,
};
