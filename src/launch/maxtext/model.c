/* MaxText: the model of its options. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/maxtext/maxtext.h"

/* The scale is a power of two. */
static bool check_scale(struct sp_settings *s)
{
    const int64_t scale = sp_setting_whole(s, "global_parameter_scale", 1, 1);
    return (scale & (scale - 1)) == 0 ||
           sp_fail_in(s, "global_parameter_scale: %lld: expected a power of two", (long long)scale);
}

/* A dimension times its power of two of global_parameter_scale. Each gets a third of the exponent;
 * of the rest, heads and MLP get the first, the width the second (get_individual_scales). */
static int64_t scaled(struct sp_settings *s, const struct sp_launch_row *row)
{
    const int64_t scale = sp_setting_whole(s, "global_parameter_scale", 1, 1);
    const char *const key = row->name;
    int exponent = 0;
    while (exponent < 30 && (int64_t)1 << (exponent + 1) <= scale)
        exponent++;
    const int third = exponent / 3, rest = exponent % 3;
    const bool heads = strstr(key, "heads") || sp_is(key, "base_mlp_dim"),
               width = sp_is(key, "base_emb_dim"), layers = sp_is(key, "base_num_decoder_layers");
    const int times = heads ? third + (rest > 0) : width ? third + (rest > 1) : layers ? third : 0;
    return sp_setting_whole(s, key, 1, strtoll(row->unsaid, NULL, 10)) << times;
}

/* A model by its dimensions: gated, RMSNorm, as Llama. */
static void read_shape(struct sp_settings *s)
{
    char out[700] = "name=options";
    const size_t size = sizeof out;
    const char *const decoder = sp_setting(s, "decoder_block");
    const int64_t experts = sp_setting_whole(s, "num_experts", 1, 1);
    if (sp_setting_is(s, "attention_type", "mla")) {
        sp_launch_no_model(s, "its attention_type mla cannot be read");
        return;
    }
#define ADD(...) sp_append(out, size, __VA_ARGS__)
    for (const struct sp_launch_row *row = NULL; (row = sp_next_dimension(s->words, row));)
        ADD(",%s=%lld", row->model, (long long)scaled(s, row));
    if (sp_setting_on(s, "logits_via_embedding"))
        ADD(",tied_embeddings=true");
    if (sp_setting_on(s, "use_qk_norm"))
        ADD(",qk_norm=head");
    if (experts > 1)
        ADD(",moe.experts=%lld,moe.top_k=%lld", (long long)experts,
            (long long)sp_setting_whole(s, "num_experts_per_tok", 1, 1));
    if (experts > 1 && sp_setting(s, "base_moe_mlp_dim"))
        ADD(",moe.d_ff_expert=%lld", (long long)sp_setting_whole(s, "base_moe_mlp_dim", 1, 1));
#undef ADD
    sp_launch_option(s, "shape", "%s", out);
    if (decoder && strncmp(decoder, "llama", 5) != 0 && strncmp(decoder, "qwen3", 5) != 0 &&
        strncmp(decoder, "mi", 2) != 0)
        sp_launch_note(s, "decoder_block %s: its dimensions, read as a Llama block",
                       sp_safe(decoder));
}

/* The model of its name, with the dimensions that override_model_config puts over it; or one given
 * only by dimensions. */
void sp_read_maxtext_model(struct sp_settings *s)
{
    const char *model = sp_setting(s, "model_name");
    const char *const file = sp_peek_setting(s, "config_file");
    char ours[SP_ROW_WORD];
    const bool overrides = sp_setting_on(s, "override_model_config");
    bool given = sp_chooses(s, "global_parameter_scale");
    const struct sp_launch_row *row = NULL;
    while ((row = sp_next_dimension(s->words, row)))
        given = given || sp_chooses(s, row->name);
    if (!model || sp_is(model, "default")) {
        if (!given && file)
            sp_launch_no_model(s, "no model in it, and none found in %.80s", sp_safe(file));
        else if (check_scale(s))
            read_shape(s);
        if (!given && !file)
            sp_launch_note(s, "no model in it: base.yml has one");
        return;
    }
    sp_model_ours(s->words, model, ours);
    model = ours[0] ? ours : model;
    sp_launch_option(s, "model", "%s", model);
    while ((row = sp_next_dimension(s->words, row)))
        if (overrides && sp_chooses(s, row->name))
            sp_launch_option(s, "set", "model.%s=%lld", row->model,
                             (long long)sp_setting_whole(s, row->name, 1, 1));
    if (given && !overrides)
        sp_launch_note(s, "dimensions besides model_name %s need override_model_config",
                       sp_safe(model));
}

const struct sp_model *sp_maxtext_model(const struct sp_sources *sources,
                                        const struct sp_launch *launch, struct sp_model *model)
{
    struct sp_error unknown = {0};
    for (int i = 0; i < launch->options; i++)
        if (sp_is(launch->option[i].name, "model") &&
            sp_load_model(launch->option[i].value, sources, model, &unknown))
            return model;
    return NULL;
}
