/* Megatron-LM: the shape of the model that arguments hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/megatron/megatron.h"

#define ADD(...) sp_append(out, size, __VA_ARGS__)

/* The MLP's width if it is not given: 4 D, or two thirds of that for a gated one, rounded down
 * to 64 (validate_args of megatron/training/arguments.py). */
static int64_t usual_width(int64_t d_model, bool gated)
{
    return gated ? 8 * d_model / 192 * 64 : 4 * d_model;
}

/* Heads of keys and values where no groups are asked for: as in Megatron-DeepSpeed and forks.
 */
static int64_t key_value_heads(struct sp_settings *s, int64_t heads)
{
    const char *const type = sp_setting(s, "--attention-head-type");
    if (sp_is(type, "multiquery"))
        return 1;
    return sp_setting_whole(s, "--num-key-value-heads", 1, heads);
}

/* Windows, "127,0" before a token and after it, and the layers without: every n-th, or by a list
 * such as "[0]*12+[1]*24"; a sink for each head. */
static void read_windows(struct sp_settings *s, long long heads, char *out, size_t size)
{
    const char *const window = sp_setting(s, "--window-size"), *const global = sp_setting(
                                                                   s, "--window-attn-skip-freq");
    const long long before = window ? strtoll(window + (window[0] == '('), NULL, 10) : 0;
    long long first, rest;
    if (before > 0)
        ADD(",sliding_window=%lld", before + 1);
    if (before > 0 && global && sscanf(global, "[0]*%lld+[1]*%lld", &first, &rest) == 2)
        ADD(",global_first=%lld", first);
    else if (before > 0 && global)
        ADD(",global_every=%lld", (long long)sp_setting_whole(s, "--window-attn-skip-freq", 1, 1));
    if (sp_setting_is(s, "--softmax-type", "learnable"))
        ADD(",extra_attention_params_per_layer=%lld", heads);
}

/* The model's kind of block. */
static void read_kinds(struct sp_settings *s, char *out, size_t size)
{
    const char *const position = sp_setting(s, "--position-embedding-type");
    const bool biased = !sp_setting(s, "--disable-bias-linear");
    const long long heads = sp_setting_whole(s, "--num-attention-heads", 1, 1);
    if (!sp_setting(s, "--ffn-hidden-size"))
        ADD(",d_ff=%lld", (long long)usual_width(sp_setting_whole(s, "--hidden-size", 1, 1),
                                                 sp_setting(s, "--swiglu")));
    ADD(",kv_heads=%lld", sp_setting(s, "--group-query-attention")
                              ? (long long)sp_setting_whole(s, "--num-query-groups", 1, 1)
                              : (long long)key_value_heads(s, heads));
    sp_read_model_rows(s, false, "", out, size);
    ADD(",qkv_bias=%s", biased || sp_setting(s, "--add-qkv-bias") ? "true" : "false");
    ADD(",o_bias=%s,mlp_bias=%s", biased ? "true" : "false", biased ? "true" : "false");
    if (sp_setting(s, "--qk-layernorm") && !sp_setting(s, "--multi-latent-attention"))
        ADD(",qk_norm=head");
    read_windows(s, heads, out, size);
    if (!position || sp_is(position, "learned_absolute"))
        ADD(",learned_positions=%lld",
            (long long)sp_setting_whole(s, "--max-position-embeddings", 1, 0));
}

/* Shared experts, as wide as this many of the others. */
static void read_shared(struct sp_settings *s, char *out, size_t size)
{
    const int64_t d_model = sp_setting_whole(s, "--hidden-size", 1, 1);
    const int64_t usual = sp_setting_whole(s, "--ffn-hidden-size", 1,
                                           usual_width(d_model, sp_setting(s, "--swiglu")));
    const int64_t width = sp_setting_whole(s, "--moe-ffn-hidden-size", 1, usual);
    const int64_t shared = sp_setting_whole(s, "--moe-shared-expert-intermediate-size", 0, 0);
    if (!sp_setting(s, "--moe-ffn-hidden-size"))
        ADD(",moe.d_ff_expert=%lld", (long long)width);
    if (shared > 0)
        ADD(",moe.shared_experts=%lld", (long long)(shared > width ? shared / width : 1));
    if (shared > 0 && shared % width != 0)
        sp_launch_note(s, "--moe-shared-expert-intermediate-size %lld: read as %lld wide",
                       (long long)shared,
                       (long long)(shared > width ? shared / width * width : width));
}

/* The kind of model that these arguments describe, if it is not a decoder with attention. */
static const char *other_kind(struct sp_settings *s)
{
    if (sp_peek_setting(s, "--img-h") || sp_peek_setting(s, "--vision-model-type") ||
        sp_peek_setting(s, "--model-provider"))
        return "a model of images and text";
    if (sp_setting(s, "--decoder-num-layers") || sp_setting(s, "--decoder-seq-length"))
        return "an encoder with a decoder (T5)";
    const char *const spec = sp_peek_setting(s, "--spec");
    if (sp_setting(s, "--hybrid-layer-pattern") || sp_setting(s, "--hybrid-override-pattern") ||
        sp_setting(s, "--is-hybrid-model") || sp_setting(s, "--hybrid-attention-ratio") ||
        sp_setting(s, "--hybrid-mlp-ratio") || (spec && strstr(spec, "mamba")))
        return "a mix of Mamba and attention";
    if (sp_setting(s, "--retro-add-retriever"))
        return "a decoder with a retriever (RETRO)";
    if (sp_setting(s, "--heterogeneous-layers-config-path"))
        return "layers that differ, in a separate file";
    return NULL;
}

void sp_read_megatron_model(struct sp_settings *s)
{
    char out[700] = "name=arguments";
    const size_t size = sizeof out;
    const char *const other = other_kind(s);
    if (other) {
        sp_launch_no_model(s, "its model is %s, which cannot be read from arguments", other);
        sp_launch_note(s, "its model is %s: another one replaces it", other);
        return;
    }
    if (!sp_setting(s, "--num-layers") || !sp_setting(s, "--hidden-size") ||
        !sp_setting(s, "--num-attention-heads")) {
        sp_launch_no_model(s, "it has no model shape%s",
                           sp_setting(s, "--use-checkpoint-args") ? " but in a checkpoint" : "");
        return;
    }
    sp_read_model_rows(s, true, "", out, size);
    read_kinds(s, out, size);
    if (sp_setting(s, "--num-experts")) {
        sp_read_model_rows(s, true, "experts", out, size);
        read_shared(s, out, size);
        if (!sp_setting(s, "--moe-router-topk"))
            ADD(",moe.top_k=%d", sp_setting(s, "--deepspeed") ? 1 : 2);
        sp_read_model_rows(s, false, "experts", out, size);
        sp_read_moe_layers(s, out, size);
    }
    if (sp_setting(s, "--multi-latent-attention"))
        sp_read_model_rows(s, true, "latents", out, size);
    if (!sp_setting(s, "--vocab-size"))
        sp_launch_note(s, "no --vocab-size: counted without vocabulary tables");
    sp_launch_option(s, "shape", "%s", out);
}
