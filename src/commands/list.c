/* list: the built-in and the user's own configs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "hf/huggingface.h"

struct listing {
    struct sp_report *report;
    const struct sp_sources *sources;
    enum sp_config_kind kind;
    size_t n, room;
    struct sp_row *rows;
};

static void list_model(struct sp_report *r, const void *config)
{
    const struct sp_model *const model = config;
    const struct sp_params params = sp_count_params(model);
    sp_put_described(r, "family", "family", SP_WORDS, "", "", NAN, model->family);
    sp_put_described(r, "params", "parameters", SP_PARAMETERS, "", "", params.total, NULL);
    sp_put_described(r, "params_active", "active", SP_PARAMETERS, "", "", params.active, NULL);
    sp_put_described(r, "layers", "layers", SP_COUNT, "", "",
                     model->layers > 0 ? (double)model->layers : NAN, NULL);
    sp_put_described(r, "d_model", "d_model", SP_COUNT, "", "",
                     model->layers > 0 ? (double)model->d_model : NAN, NULL);
}

static void list_hardware(struct sp_report *r, const void *config)
{
    const struct sp_hardware *const hw = config;
    const enum sp_dtype dtype = sp_compute_dtype(&hw->chip, SP_BF16);
    const bool torus = hw->network.kind == SP_TORUS;
    sp_put_described(r, "network", "network", SP_WORDS, "", "", NAN, torus ? "torus" : "switched");
    sp_put_described(r, "peak_flops_per_s", "16-bit peak", SP_FLOPS_PER_S, "", "",
                     hw->chip.peak_flops_per_s[dtype], NULL);
    sp_put_described(r, "hbm_bytes", "memory", SP_BYTES, "", "", hw->chip.hbm_bytes, NULL);
    sp_put_described(r, "hbm_bytes_per_s", "bandwidth", SP_BYTES_PER_S, "", "",
                     hw->chip.hbm_bytes_per_s, NULL);
    sp_put_described(r, "link_bytes_per_s", "link", SP_BYTES_PER_S, "", "",
                     torus ? hw->network.link_bytes_per_s : hw->network.domain_bytes_per_s, NULL);
}

static void list_precision(struct sp_report *r, const void *config)
{
    const struct sp_precision *const p = config;
    sp_put_described(r, "bytes_per_param", "bytes/parameter", SP_NUMBER, "", "",
                     sp_state_bytes_per_param(p), NULL);
    sp_put_described(r, "compute_dtype", "matmuls", SP_WORDS, "", "", NAN,
                     sp_dtype_names[p->compute_dtype]);
}

static void list_network(struct sp_report *r, const void *config)
{
    const struct sp_scaleout *const s = config;
    sp_put_described(r, "bytes_per_s", "one way", SP_BYTES_PER_S, "", "", s->bytes_per_s, NULL);
    sp_put_described(r, "per", "per", SP_WORDS, "", "", NAN, s->per_node ? "node" : "device");
}

static void list_law(struct sp_report *r, const void *config)
{
    const struct sp_scaling_law *const law = config;
    const struct sp_law_power n = sp_law_power(law);
    sp_put_described(r, "exponent", "a", SP_NUMBER, "", "", n.exponent, NULL);
    sp_put_described(r, "irreducible_loss", "E", SP_NUMBER, "", "",
                     law->form == SP_FORM_SUM ? law->E : NAN, NULL);
}

static void list_framework(struct sp_report *r, const void *config)
{
    const struct sp_framework_file *const file = config;
    sp_put_described(r, "precision", "precision", SP_WORDS, "", "", NAN, file->framework.precision);
    sp_put_described(r, "schedules", "schedules", SP_WORDS, "", "", NAN, file->schedules);
    sp_put_described(r, "zero", "ZeRO", SP_WORDS, "", "", NAN, file->zero);
}

static void list_profile(struct sp_report *r, const void *config)
{
    const struct sp_profile *const profile = config;
    sp_put_described(r, "chip", "chip", SP_WORDS, "", "", NAN, profile->chip);
    sp_put_described(r, "framework", "framework", SP_WORDS, "", "", NAN, profile->framework);
    sp_put_described(r, "matmul_16bit", "matmuls", SP_NUMBER, "", "",
                     profile->value[SP_C_MATMUL_16], NULL);
    sp_put_described(r, "residual", "residual", SP_NUMBER, "", "", profile->residual, NULL);
}

static void list_kernels(struct sp_report *r, const void *config)
{
    const struct sp_kernels *const k = config;
    sp_put_described(r, "matmul_bf16", "bf16 matmuls", SP_NUMBER, "", "",
                     k->matmul[SP_KERNEL_BF16].share, NULL);
    sp_put_described(r, "matmul_fp8", "fp8 matmuls", SP_NUMBER, "", "",
                     k->matmul[SP_KERNEL_FP8].share, NULL);
    sp_put_described(r, "attention_bf16", "attention", SP_NUMBER, "", "",
                     k->attention[SP_KERNEL_BF16].share, NULL);
    sp_put_described(r, "all_gather", "all-gather", SP_NUMBER, "", "",
                     k->collective[SP_ALL_GATHER].share, NULL);
}

static void list_engine(struct sp_report *r, const void *config)
{
    const struct sp_engine *const e = config;
    sp_put_described(r, "memory_fraction", "memory", SP_FRACTION, "", "", e->memory_fraction, NULL);
    sp_put_described(r, "block_tokens", "block", SP_TOKENS, "", "", e->block_tokens, NULL);
}

static void list_serving(struct sp_report *r, const void *config)
{
    const struct sp_profile *const p = config;
    sp_put_described(r, "chip", "chip", SP_WORDS, "", "", NAN, p->chip);
    sp_put_described(r, "engine", "engine", SP_WORDS, "", "", NAN, p->framework);
    sp_put_described(r, "cache", "cache", SP_NUMBER, "", "", p->value[SP_V_CACHE], NULL);
    sp_put_described(r, "layer_s", "a layer", SP_SECONDS, "", "", p->value[SP_V_LAYER], NULL);
}

static void list_number_format(struct sp_report *r, const void *config)
{
    const struct sp_number_range range = sp_number_range(config);
    sp_put_described(r, "bytes", "bytes", SP_NUMBER, "", "", range.bytes, NULL);
    sp_put_described(r, "largest", "largest", SP_NUMBER, "", "", range.largest, NULL);
    sp_put_described(r, "min_normal", "smallest normal", SP_NUMBER, "", "", range.min_normal, NULL);
    sp_put_described(r, "epsilon", "epsilon", SP_NUMBER, "", "", range.epsilon, NULL);
    sp_put_described(r, "digits", "digits", SP_NUMBER, "", "", range.digits, NULL);
}

static void list_trend(struct sp_report *r, const void *config)
{
    const struct sp_trend *const t = &((const struct sp_trend_file *)config)->trend;
    sp_put_described(r, "growth_per_year", "a year", SP_NUMBER, "", "", sp_trend_growth(t), NULL);
    sp_put_described(r, "doubling_years", "years to double", SP_NUMBER, "", "",
                     sp_trend_doubling_years(t), NULL);
    sp_put_described(r, "unit", "of", SP_WORDS, "", "", NAN, t->unit);
}

static void list_storage(struct sp_report *r, const void *config)
{
    const struct sp_drive *const s = config;
    sp_put_described(r, "read_bytes_per_s", "read", SP_BYTES_PER_S, "", "", s->read_bytes_per_s,
                     NULL);
    sp_put_described(r, "write_bytes_per_s", "write", SP_BYTES_PER_S, "", "", s->write_bytes_per_s,
                     NULL);
    sp_put_described(r, "capacity_bytes", "capacity", SP_BYTES, "", "", s->capacity_bytes, NULL);
    sp_put_described(r, "endurance_bytes", "endurance", SP_BYTES, "", "", s->endurance_bytes, NULL);
}

/* What a line of `list` says of a config behind its name: a kind without a row has its names alone.
 */
enum { VIEW_COLUMNS = 6 };
struct view {
    void (*list)(struct sp_report *report, const void *config);
    struct sp_column columns[VIEW_COLUMNS];
};

/* clang-format off */
static const struct view views[SP_CONFIG_KINDS] = {
    [SP_MODELS] = {list_model,
                   {{"family", "family", true}, {"params", "parameters", false},
                    {"params_active", "active", false}, {"layers", "layers", false},
                    {"d_model", "d_model", false}}},
    [SP_HARDWARE] = {list_hardware,
                     {{"network", "network", true}, {"peak_flops_per_s", "16-bit peak", false},
                      {"hbm_bytes", "memory", false}, {"hbm_bytes_per_s", "bandwidth", false},
                      {"link_bytes_per_s", "link, one way", false}}},
    [SP_PRECISIONS] = {list_precision,
                       {{"bytes_per_param", "bytes/parameter", false},
                        {"compute_dtype", "matmuls", true}}},
    [SP_NETWORKS] = {list_network,
                     {{"bytes_per_s", "one way", false}, {"per", "per", true}}},
    [SP_LAWS] = {list_law,
                 {{"exponent", "N grows as C^", false},
                  {"irreducible_loss", "irreducible loss", false}}},
    [SP_FRAMEWORKS] = {list_framework,
                       {{"precision", "precision", true}, {"schedules", "schedules", true},
                        {"zero", "ZeRO stages", true}}},
    [SP_PROFILES] = {list_profile,
                     {{"chip", "chip", true}, {"framework", "framework", true},
                      {"matmul_16bit", "large 16-bit matmuls", false},
                      {"residual", "residual", false}}},
    [SP_KERNELS] = {list_kernels,
                    {{"matmul_bf16", "bf16 matmuls", false}, {"matmul_fp8", "fp8", false},
                     {"attention_bf16", "attention", false}, {"all_gather", "all-gather", false}}},
    [SP_ENGINES] = {list_engine,
                    {{"memory_fraction", "memory", false}, {"block_tokens", "block", false}}},
    [SP_SERVING] = {list_serving,
                             {{"chip", "chip", true}, {"engine", "engine", true},
                              {"cache", "cache read", false}, {"layer_s", "a layer", false}}},
    [SP_FORMATS] = {list_number_format,
                           {{"bytes", "bytes", false}, {"largest", "largest", false},
                            {"min_normal", "smallest normal", false},
                            {"epsilon", "epsilon", false}, {"digits", "digits", false}}},
    [SP_TRENDS] = {list_trend,
                   {{"growth_per_year", "a year", false}, {"doubling_years", "doubles in years", false},
                    {"unit", "of", true}}},
    [SP_DRIVES] = {list_storage,
                     {{"read_bytes_per_s", "read", false}, {"write_bytes_per_s", "write", false},
                      {"capacity_bytes", "capacity", false},
                      {"endurance_bytes", "endurance", false}}},
};
/* clang-format on */

static void put_item(const char *name, void *context)
{
    struct listing *l = context;
    struct sp_error error = {0};
    const struct sp_config_kind_info *const info = &sp_config_kinds[l->kind];
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->rows = realloc(l->rows, l->room * sizeof *l->rows);
        if (!l->rows)
            abort();
    }
    struct sp_row *const row = &l->rows[l->n];
    snprintf(row->label, sizeof row->label, "%s", sp_safe(name));
    snprintf(row->prefix, sizeof row->prefix, "%s.%zu", info->folder, l->n);
    l->n++;
    sp_scope(l->report, row->prefix);
    sp_put_described(l->report, "name", "name", SP_WORDS, "", "", NAN, row->label);
    void *const config = sp_load_config(l->kind, name, l->sources, &error);
    if (config && views[l->kind].list)
        views[l->kind].list(l->report, config);
    free(config);
}

static void put_kind(enum sp_config_kind kind, const struct sp_sources *sources,
                     struct sp_report *report)
{
    struct sp_column columns[VIEW_COLUMNS + 1] = {{NULL, sp_config_kinds[kind].folder, true}};
    size_t n = 0;
    for (; n < VIEW_COLUMNS && views[kind].columns[n].key; n++)
        columns[n + 1] = views[kind].columns[n];
    struct listing l = {.report = report, .sources = sources, .kind = kind};
    sp_each_config(kind, sources, put_item, &l);
    sp_table(report, columns, n + 1, l.rows, l.n);
    free(l.rows);
}

/* The families of Hugging Face configs that are read. */
static void put_families(struct sp_report *report)
{
    static const struct sp_column columns[] = {{NULL, "families", true}};
    size_t n = 0;
    while (sp_huggingface_family(n))
        n++;
    struct sp_row *const rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        abort();
    for (size_t i = 0; i < n; i++) {
        snprintf(rows[i].label, sizeof rows[i].label, "%s", sp_huggingface_family(i));
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "families.%zu", i);
        sp_scope(report, rows[i].prefix);
        sp_put_described(report, "name", "name", SP_WORDS, "", "", NAN, rows[i].label);
    }
    sp_table(report, columns, 1, rows, n);
    free(rows);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    bool wanted[SP_CONFIG_KINDS] = {false}, families = false;
    for (int i = 0; i < args->n_operands; i++) {
        bool known = false;
        for (int kind = 0; kind < SP_CONFIG_KINDS; kind++)
            if (strcmp(args->operands[i], sp_config_kinds[kind].folder) == 0)
                known = wanted[kind] = true;
        if (strcmp(args->operands[i], "families") == 0)
            known = families = true;
        if (!known)
            return sp_fail(error, SP_INPUT,
                           "\"%s\" is not one of " SP_KINDS(SP_KIND_FOLDER, ", ") ", families",
                           sp_safe(args->operands[i]));
    }
    bool first = true;
    for (int kind = 0; args->n_operands == 1 && kind < SP_CONFIG_KINDS; kind++)
        if (wanted[kind])
            sp_answer_is(report, sp_config_kinds[kind].folder);
    if (families)
        put_families(report);
    first = !families;
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
    .summary = "what names stand for: " SP_KINDS(SP_KIND_NOUNS, ", "),
    .operands = "[" SP_KINDS(SP_KIND_FOLDER, "|") "|families]...",
    .about = "Lists the built-in configs and those of --config-dir, SCALEPLAN_CONFIG_PATH and "
             "~/.config/scaleplan, with their main figures; families are those of Hugging Face "
             "configs that are read.",
    .options = NULL,
    .n_options = 0,
    .examples = examples,
    .run = run,
};
