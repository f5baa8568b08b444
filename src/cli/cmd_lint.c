/* lint: what is wrong with a config file. */
#include <string.h>

#include "command.h"

/* The kind of a config by the keys that only it has. */
static enum sp_config_kind guess_kind(const cJSON *root)
{
    if (cJSON_GetObjectItemCaseSensitive(root, "constants"))
        return SP_PROFILES;
    if (cJSON_GetObjectItemCaseSensitive(root, "chip"))
        return SP_HARDWARE;
    if (cJSON_GetObjectItemCaseSensitive(root, "weight_bytes"))
        return SP_PRECISIONS;
    if (cJSON_GetObjectItemCaseSensitive(root, "bytes_per_s"))
        return SP_NETWORKS;
    if (cJSON_GetObjectItemCaseSensitive(root, "optimum"))
        return SP_LAWS;
    if (cJSON_GetObjectItemCaseSensitive(root, "logit_bytes") ||
        cJSON_GetObjectItemCaseSensitive(root, "marks"))
        return SP_FRAMEWORKS;
    return SP_MODELS;
}

static bool load_one(enum sp_config_kind kind, const char *file, const struct sp_sources *sources,
                     struct sp_error *error)
{
    static struct sp_model model;
    static struct sp_hardware hw;
    static struct sp_precision precision;
    static struct sp_scaleout scaleout;
    static struct sp_scaling_law law;
    static struct sp_framework_file framework;
    static struct sp_profile profile;
    switch (kind) {
    case SP_HARDWARE:
        return sp_load_hardware(file, sources, &hw, error);
    case SP_PRECISIONS:
        return sp_load_precision(file, sources, &precision, error);
    case SP_NETWORKS:
        return sp_load_scaleout(file, sources, &scaleout, error);
    case SP_LAWS:
        return sp_load_law(file, sources, &law, error);
    case SP_FRAMEWORKS:
        return sp_load_framework(file, sources, &framework, error);
    case SP_PROFILES:
        return sp_load_profile(file, sources, &profile, error);
    default:
        return sp_load_model(file, sources, &model, error);
    }
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (args->n_operands == 0)
        return sp_fail(error, SP_USAGE, "a file is needed: scaleplan lint FILE...");
    for (int i = 0; i < args->n_operands; i++) {
        const char *const file = args->operands[i];
        struct sp_config config;
        char prefix[32];
        if (!strchr(file, '/') && !strstr(file, ".json")) {
            sp_fail(error, SP_INPUT, "%s: not a file name; expected FILE.json", sp_safe(file));
            continue;
        }
        if (!sp_open_config(SP_MODELS, file, &sources, &config, error))
            continue;
        const enum sp_config_kind kind = guess_kind(config.json.root);
        sp_config_free(&config);
        if (!load_one(kind, file, &sources, error))
            continue;
        snprintf(prefix, sizeof prefix, "files.%d", i);
        sp_scope(report, prefix);
        sp_put_described(report, "file", "file", SP_WORDS, "", "", 0, sp_safe(file));
        sp_put_described(report, "kind", "kind", SP_WORDS, "", "", 0, sp_config_kinds[kind].noun);
        sp_line(report, "%s: a correct %s file", sp_safe(file), sp_config_kinds[kind].noun);
    }
    return error->lines == 0;
}

static const struct sp_example examples[] = {
    {"scaleplan lint my-chip.json", "says what is wrong with it, and where"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_lint = {
    .name = "lint",
    .summary = "what is wrong with a config file",
    .operands = "FILE...",
    .about = "Checks model, hardware, precision, network, law, framework and profile files: "
             "syntax, keys, ranges, and "
             "whether the "
             "values agree with each other. Every fault is one line with its place.",
    .options = NULL,
    .n_options = 0,
    .examples = examples,
    .run = run,
};
