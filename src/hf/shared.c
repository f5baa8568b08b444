/* Families whose layers share weights, keys or values. Sources: transformers, modeling_zamba2.py,
 * modeling_gemma3n.py, modeling_gemma4.py. */
#include "hf/shared.h"

#include <math.h>
#include <string.h>

#include "hf/pattern.h"

/* Whether layer i is of that kind. */
static bool is_kind(const cJSON *kinds, int i, const char *kind)
{
    const cJSON *const one = cJSON_GetArrayItem(kinds, i);
    return cJSON_IsString(one) && strcmp(one->valuestring, kind) == 0;
}

/* The kinds of Zamba 2's layers, also under the newer key. */
static const cJSON *zamba_kinds(const cJSON *o)
{
    const cJSON *const older = sp_hf_member(o, "layers_block_type");
    return older ? older : sp_hf_member(o, "layer_types");
}

static int zamba_shared(const cJSON *kinds)
{
    int shared = 0;
    for (int i = 0; i < cJSON_GetArraySize(kinds); i++)
        shared += is_kind(kinds, i, "hybrid");
    return shared;
}

bool sp_hf_is_whole_zamba2(const cJSON *o)
{
    const cJSON *const kinds = zamba_kinds(o);
    const int n = cJSON_GetArraySize(kinds), all = n + zamba_shared(kinds);
    return n > 0 && all <= SP_HF_MOST_LETTERS && (int)sp_hf_number(o, sp_hf_layers) == all;
}

/* Zamba 2: every layer is a state space; "hybrid" ones are preceded by a shared block, which counts
 * as a layer here. */
void sp_hf_fill_zamba2(cJSON *o)
{
    const cJSON *const kinds = zamba_kinds(o);
    const double width = sp_hf_number(o, sp_hf_width), heads = sp_hf_number(o, sp_hf_heads);
    const double layers = sp_hf_number(o, sp_hf_layers);
    if (cJSON_GetArraySize(kinds) == (int)fmin(layers, SP_HF_MOST_LETTERS))
        sp_hf_put(o, sp_hf_layers[0], layers + zamba_shared(kinds));
    if (heads > 0)
        sp_hf_put(o, sp_hf_head_dim[0], floor(2 * width / heads));
    sp_hf_put(o, "mamba_head_dim",
              floor(sp_hf_at(o, "mamba_expand") * width / sp_hf_at(o, "n_mamba_heads")));
    if (sp_hf_number(o, sp_hf_ff) <= 0)
        sp_hf_put(o, sp_hf_ff[0], 4 * width);
    cJSON_DeleteItemFromObjectCaseSensitive(o, "use_conv_bias"); /* always */
}

void sp_hf_put_zamba2(cJSON *out, const cJSON *o)
{
    const cJSON *const kinds = zamba_kinds(o);
    const double rank = sp_hf_at(o, "adapter_rank");
    cJSON *const x = cJSON_AddObjectToObject(out, "shared_block");
    char letters[SP_HF_MOST_LETTERS + 1] = "";
    size_t n = 0;
    for (int i = 0; i < cJSON_GetArraySize(kinds) && n + 2 < sizeof letters; i++) {
        if (is_kind(kinds, i, "hybrid"))
            letters[n++] = 'S';
        letters[n++] = 'M';
    }
    sp_hf_shorten(letters, (int)n);
    cJSON_AddStringToObject(out, "pattern", letters);
    sp_hf_put(x, "sets", sp_hf_at(o, "num_mem_blocks"));
    sp_hf_put(x, "streams", 2);
    sp_hf_put(x, "rank", rank);
    sp_hf_put(x, "attention_rank",
              sp_hf_flag_at(o, "use_shared_attention_adapter", false) ? rank : 0);
    sp_hf_put_flag(x, "output", true);
}

/* Replaces a list of equal widths by the width. */
void sp_hf_fill_gemma3n(cJSON *o)
{
    const cJSON *one, *const list = sp_hf_member(o, "intermediate_size");
    const double first = cJSON_IsArray(list) && cJSON_IsNumber(cJSON_GetArrayItem(list, 0))
                             ? cJSON_GetArrayItem(list, 0)->valuedouble
                             : 0;
    bool same = first > 0;
    cJSON_ArrayForEach(one, list)
    {
        same = same && cJSON_IsNumber(one) && fabs(one->valuedouble - first) < 1;
    }
    if (same && cJSON_IsArray(list))
        sp_hf_put(o, "intermediate_size", first);
}

/* Letters of layers, `full` and `sliding`; the last ones reuse earlier keys and values: lower
 * case. */
static void put_letters(cJSON *out, const cJSON *o, char full, char sliding)
{
    enum { LOWER = 'a' - 'A' };
    const cJSON *const kinds = sp_hf_member(o, "layer_types");
    const double layers = sp_hf_number(o, sp_hf_layers);
    const double from = layers - sp_hf_at(o, "num_kv_shared_layers");
    const double every = sp_hf_at(o, "sliding_window_pattern");
    char letters[SP_HF_MOST_LETTERS + 1] = "";
    for (int i = 0; i < layers && i < SP_HF_MOST_LETTERS; i++) {
        const bool last = i + 1 >= layers, by_rule = every > 0 && fmod(i + 1, every) < 1;
        const bool is_full = kinds ? is_kind(kinds, i, "full_attention") : by_rule || last;
        const char letter = is_full ? full : sliding;
        letters[i] = (char)(i >= from && from > 0 ? letter + LOWER : letter);
    }
    sp_hf_shorten(letters, (int)strlen(letters));
    cJSON_AddStringToObject(out, "pattern", letters);
}

static void put_per_layer(cJSON *out, const cJSON *o)
{
    const double width = sp_hf_at(o, "hidden_size_per_layer_input");
    if (width <= 0)
        return;
    cJSON *const x = cJSON_AddObjectToObject(out, "per_layer_embedding");
    sp_hf_put(x, "width", width);
    sp_hf_put(x, "vocab", sp_hf_at(o, "vocab_size_per_layer_input"));
}

void sp_hf_put_gemma3n(cJSON *out, const cJSON *o)
{
    put_letters(out, o, 'A', 'A');
    put_per_layer(out, o);
    sp_hf_put(out, "altup_streams", sp_hf_at(o, "altup_num_inputs"));
    sp_hf_put(out, "laurel_rank", sp_hf_at(o, "laurel_rank"));
    if (sp_hf_at(o, "num_kv_shared_layers") > 0)
        sp_hf_put_flag(cJSON_AddObjectToObject(out, "reused_keys"), "projections", true);
}

/* Newer configs list the heads of full-attention layers one by one; all are equal. */
static void fill_full_heads(cJSON *o)
{
    const cJSON *const layers = sp_hf_member(o, "per_layer_config");
    const cJSON *const first = cJSON_IsObject(layers) ? layers->child : NULL;
    if (!cJSON_IsObject(first))
        return;
    if (sp_hf_at(first, "head_dim") > 0)
        sp_hf_put(o, "global_head_dim", sp_hf_at(first, "head_dim"));
    if (sp_hf_at(first, "num_key_value_heads") > 0)
        sp_hf_put(o, "num_global_key_value_heads", sp_hf_at(first, "num_key_value_heads"));
}

void sp_hf_fill_gemma4(cJSON *o)
{
    fill_full_heads(o);
    if (sp_hf_flag_at(o, "enable_moe_block", false)) {
        sp_hf_put(o, sp_hf_top[0], sp_hf_at(o, "top_k_experts"));
        return;
    }
    for (int i = 0; sp_hf_experts[i]; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(o, sp_hf_experts[i]);
}

/* The dense MLP beside the experts is used by every token, like a shared expert. */
static void put_experts(cJSON *out, const cJSON *o)
{
    enum { NORMS = 7 };
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    if (!moe)
        return;
    sp_hf_put(moe, "shared_experts", 1);
    sp_hf_put(moe, "d_ff_shared", sp_hf_number(o, sp_hf_ff));
    sp_hf_put_flag(moe, "router_scale", true);
    sp_hf_put(out, "norms_per_layer", NORMS);
}

/* Full-attention layers have their own head width. */
static void put_full_heads(cJSON *out, const cJSON *o)
{
    const bool alike = sp_hf_flag_at(o, "attention_k_eq_v", false);
    const double kv = sp_hf_at(o, "num_global_key_value_heads");
    cJSON *const x = cJSON_AddObjectToObject(out, "local_attention");
    sp_hf_put(x, "heads", sp_hf_at(out, "heads"));
    sp_hf_put(x, "kv_heads", sp_hf_at(out, "kv_heads"));
    sp_hf_put(x, "head_dim", sp_hf_at(out, "head_dim"));
    sp_hf_put(x, "window", sp_hf_number(o, sp_hf_window));
    sp_hf_put(out, "head_dim", sp_hf_at(o, "global_head_dim"));
    sp_hf_put(out, "kv_heads", alike && kv > 0 ? kv : sp_hf_at(out, "kv_heads"));
    sp_hf_put_flag(out, "keys_are_values", alike);
}

void sp_hf_put_gemma4(cJSON *out, const cJSON *o)
{
    cJSON_DeleteItemFromObjectCaseSensitive(out, "sliding_window");
    cJSON_DeleteItemFromObjectCaseSensitive(out, "global_every");
    cJSON_DeleteItemFromObjectCaseSensitive(out, "global_first");
    put_letters(out, o, 'A', 'L');
    put_per_layer(out, o);
    put_full_heads(out, o);
    put_experts(out, o);
    if (sp_hf_flag_at(o, "use_double_wide_mlp", false) && sp_hf_at(o, "num_kv_shared_layers") > 0)
        sp_hf_put(cJSON_AddObjectToObject(out, "reused_keys"), "d_ff",
                  2 * sp_hf_number(o, sp_hf_ff));
}
