/* list: the built-in and the user's own configs. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "hf/huggingface.h"

/* A config of one kind. */
struct listed {
    const char *name;
    const struct sp_model *model;
    struct sp_params params; /* of it */
    const struct sp_hardware *hw;
    enum sp_dtype dtype; /* of its 16-bit matmuls */
    bool is_torus;
    const struct sp_precision *precision;
    const struct sp_scaleout *scaleout;
    const struct sp_scaling_law *law;
    const struct sp_framework_file *framework;
    const struct sp_profile *profile, *serving;
    const struct sp_kernels *kernels;
    const struct sp_engine *engine;
    const struct sp_number_format *format;
    struct sp_number_range range; /* of it */
    const struct sp_trend_file *trend;
    const struct sp_drive *drive;
    const struct sp_grid *grid;
    const struct sp_site *site;
};

#define SP_PART list
#define SP_PART_OF struct listed
#include "answer/put_rows.h"

/* The config as the member of its kind; kinds without one are listed only by their names. */
static struct listed listed_of(enum sp_config_kind kind, const char *name, const void *config)
{
    struct listed s = {
        .name = name,
        .model = kind == SP_MODELS ? config : NULL,
        .hw = kind == SP_HARDWARE ? config : NULL,
        .precision = kind == SP_PRECISIONS ? config : NULL,
        .scaleout = kind == SP_NETWORKS ? config : NULL,
        .law = kind == SP_LAWS ? config : NULL,
        .framework = kind == SP_FRAMEWORKS ? config : NULL,
        .profile = kind == SP_PROFILES ? config : NULL,
        .kernels = kind == SP_KERNELS ? config : NULL,
        .engine = kind == SP_ENGINES ? config : NULL,
        .serving = kind == SP_SERVING ? config : NULL,
        .format = kind == SP_FORMATS ? config : NULL,
        .trend = kind == SP_TRENDS ? config : NULL,
        .drive = kind == SP_DRIVES ? config : NULL,
        .grid = kind == SP_GRIDS ? config : NULL,
        .site = kind == SP_SITES ? config : NULL,
    };
    if (s.model)
        s.params = sp_count_params(s.model);
    if (s.format)
        s.range = sp_number_range(s.format);
    if (s.hw) {
        s.dtype = sp_compute_dtype(&s.hw->chip, SP_BF16);
        s.is_torus = s.hw->network.kind == SP_TORUS;
    }
    return s;
}

struct listing {
    struct sp_report *report;
    const struct sp_sources *sources;
    enum sp_config_kind kind;
    size_t n;
};

static void put_item(const char *name, void *context)
{
    struct listing *l = context;
    struct sp_error error = {0};
    void *const config = sp_load_config(l->kind, name, l->sources, &error);
    const struct listed s = listed_of(l->kind, sp_safe(name), config);
    sp_begin_row(l->report, s.name, "%s.%zu", sp_config_kinds[l->kind].folder, l->n++);
    put_list_rows(l->report, &s);
    free(config);
}

/* The families of Hugging Face configs that are read. */
static void put_families(struct sp_report *report)
{
    for (size_t i = 0; sp_huggingface_family(i); i++) {
        const struct listed s = {.name = sp_huggingface_family(i)};
        sp_begin_row(report, s.name, "families.%zu", i);
        put_list_rows(report, &s);
    }
    sp_list_table(report, "families", NULL);
}

/* The list that goes by another word too, else the word. */
static const char *folder_of(const char *word)
{
    static const struct {
        const char *said, *folder;
    } others[] = {{"machines", "hardware"},
                  {"chips", "hardware"},
                  {"gpus", "hardware"},
                  {"precisions", "precision"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].said, word) == 0)
            return others[i].folder;
    return word;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    bool wanted[SP_CONFIG_KINDS] = {false}, families = false;
    for (int i = 0; i < args->n_operands; i++) {
        bool known = strcmp(args->operands[i], "families") == 0;
        families = families || known;
        for (int kind = 0; kind < SP_CONFIG_KINDS; kind++)
            if (strcmp(folder_of(args->operands[i]), sp_config_kinds[kind].folder) == 0)
                known = wanted[kind] = true;
        if (!known)
            return sp_fail(
                error, SP_INPUT,
                "there is no list \"%s\"; the lists: " SP_KINDS(SP_KIND_FOLDER, ", ") ", families",
                sp_safe(args->operands[i]));
    }
    if (families)
        put_families(report);
    for (int kind = 0; kind < SP_CONFIG_KINDS; kind++) {
        if (args->n_operands > 0 && !wanted[kind])
            continue;
        const char *const folder = sp_config_kinds[kind].folder;
        struct listing l = {report, &sources, (enum sp_config_kind)kind, 0};
        sp_each_config(l.kind, &sources, put_item, &l);
        sp_list_table(
            report, folder,
            kind == SP_MODELS ? ": models, family, params, params_active, layers, +d_model" : NULL);
        if (args->n_operands == 1)
            sp_answer_is(report, folder);
    }
    return true;
}

static const struct sp_example examples[] = {
    {"list", "everything"},
    {"list models --format json | jq -r '.models[].name'", "names for a script"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_list = {
    .name = "list",
    .is_list = true,
    .summary = "list built-in models, machines, networks, precision recipes and other configs",
    .operands = "[" SP_KINDS(SP_KIND_FOLDER, "|") "|families]...",
    .about = "Lists the built-in configs and those in --config-dir, SCALEPLAN_CONFIG_PATH and "
             "~/.config/scaleplan with their main figures; families are the Hugging Face "
             "architectures that can be read.",
    .options = NULL,
    .n_options = 0,
    .examples = examples,
    .run = run,
};
