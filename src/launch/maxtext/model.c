/* MaxText: the model of its options. */
#include <string.h>

#include "launch/maxtext/maxtext.h"

/* Other names that it has for a model here. */
static const char *const others[][2] = {
    {"llama3.1-70b", "llama3.3-70b"},
    {"llama3-405b", "llama3-405b"},
    {"deepseek-v3", "deepseek3-671b-2dfsdp"},
    {"deepseek-v3", "deepseek3-671b-batchsplit"},
    {"qwen3-8b", "qwen3-8b-base"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b-base"},
};

/* The scale is a power of two. */
static bool check_scale(struct sp_settings *s, struct sp_error *error)
{
    const int64_t scale = sp_setting_whole(s, "global_parameter_scale", 1, 1, error);
    return (scale & (scale - 1)) == 0 ||
           sp_fail(error, SP_INPUT, "%s: global_parameter_scale: %lld: expected a power of two",
                   sp_safe(s->origin), (long long)scale);
}

/* A dimension times its power of two of global_parameter_scale: of its exponent's thirds heads and
 * MLP get the first rest, the width the second (get_individual_scales of MaxText's types.py). */
static int64_t scaled(struct sp_settings *s, int i, struct sp_error *error)
{
    const int64_t scale = sp_setting_whole(s, "global_parameter_scale", 1, 1, error);
    const char *const key = sp_maxtext_dimensions[i].key;
    int exponent = 0;
    while (exponent < 30 && (int64_t)1 << (exponent + 1) <= scale)
        exponent++;
    const int third = exponent / 3, rest = exponent % 3;
    const bool heads = strstr(key, "heads") || strcmp(key, "base_mlp_dim") == 0,
               width = strcmp(key, "base_emb_dim") == 0,
               layers = strcmp(key, "base_num_decoder_layers") == 0;
    const int times = heads ? third + (rest > 0) : width ? third + (rest > 1) : layers ? third : 0;
    return sp_setting_whole(s, key, 1, sp_maxtext_dimensions[i].otherwise, error) << times;
}

/* A model by its dimensions: gated, RMSNorm, as Llama. */
static void read_shape(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    char out[700] = "name=options";
    const size_t size = sizeof out;
    const char *const decoder = sp_setting(s, "decoder_block");
    const int64_t experts = sp_setting_whole(s, "num_experts", 1, 1, error);
#define ADD(...) snprintf(out + strlen(out), size - strlen(out), __VA_ARGS__)
    for (int i = 0; i < SP_MAXTEXT_DIMENSIONS; i++)
        ADD(",%s=%lld", sp_maxtext_dimensions[i].field, (long long)scaled(s, i, error));
    if (sp_setting_on(s, "logits_via_embedding"))
        ADD(",tied_embeddings=true");
    if (sp_setting_on(s, "use_qk_norm"))
        ADD(",qk_norm=head");
    if (experts > 1)
        ADD(",moe.experts=%lld,moe.top_k=%lld", (long long)experts,
            (long long)sp_setting_whole(s, "num_experts_per_tok", 1, 1, error));
    if (experts > 1 && sp_setting(s, "base_moe_mlp_dim"))
        ADD(",moe.d_ff_expert=%lld",
            (long long)sp_setting_whole(s, "base_moe_mlp_dim", 1, 1, error));
#undef ADD
    sp_launch_option(launch, "shape", "%s", out);
    if (decoder && strncmp(decoder, "llama", 5) != 0 && strncmp(decoder, "qwen3", 5) != 0 &&
        strncmp(decoder, "mi", 2) != 0)
        sp_launch_note(launch, "decoder_block %s: its dimensions, read as a block of Llama",
                       sp_safe(decoder));
}

/* The model of its name, with the dimensions that override_model_config puts over it; or one of
 * dimensions alone. */
void sp_read_maxtext_model(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    const char *model = sp_setting(s, "model_name");
    const char *const file = sp_peek_setting(s, "config_file");
    const bool overrides = sp_setting_on(s, "override_model_config");
    bool given = sp_setting(s, "global_parameter_scale") != NULL;
    for (int i = 0; i < SP_MAXTEXT_DIMENSIONS; i++)
        given = given || sp_setting(s, sp_maxtext_dimensions[i].key);
    if (!model || strcmp(model, "default") == 0) {
        if (given && check_scale(s, error))
            read_shape(s, launch, error);
        else if (!given)
            snprintf(launch->no_model, sizeof launch->no_model,
                     "no model in it, and none found in %.80s: give --model",
                     file ? sp_safe(file) : "base.yml");
        return;
    }
    for (size_t i = 0; i < SP_MAXTEXT_MODELS; i++)
        if (strcmp(sp_maxtext_models[i][1], model) == 0)
            model = sp_maxtext_models[i][0];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i][1], model) == 0)
            model = others[i][0];
    sp_launch_option(launch, "model", "%s", model);
    for (int i = 0; i < SP_MAXTEXT_DIMENSIONS; i++)
        if (overrides && sp_setting(s, sp_maxtext_dimensions[i].key))
            sp_launch_option(launch, "set", "model.%s=%lld", sp_maxtext_dimensions[i].field,
                             (long long)sp_setting_whole(s, sp_maxtext_dimensions[i].key, 1,
                                                         sp_maxtext_dimensions[i].otherwise,
                                                         error));
    if (given && !overrides)
        sp_launch_note(launch,
                       "dimensions beside model_name %s count with override_model_config "
                       "alone",
                       sp_safe(model));
}

const struct sp_model *sp_maxtext_model(const struct sp_sources *sources,
                                        const struct sp_launch *launch)
{
    static struct sp_model model;
    struct sp_error unknown = {0};
    for (int i = 0; i < launch->options; i++)
        if (strcmp(launch->option[i].name, "model") == 0 &&
            sp_load_model(launch->option[i].value, sources, &model, &unknown))
            return &model;
    return NULL;
}
