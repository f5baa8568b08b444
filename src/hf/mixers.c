/* Mixers of hybrid families: which layer has which, and their widths. Sources: modeling_*.py and
 * configuration_*.py of each model_type in transformers 5. */
#include "hf/mixers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hf/blocks.h"
#include "hf/listed.h"
#include "hf/pattern.h"
#include "hf/refuse.h"
#include "hf/shared.h"

#define NAMES(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

NAMES(k_state_heads, "mamba_num_heads", "mamba_n_heads", "n_mamba_heads", "num_heads");
NAMES(k_state_head_dim, "mamba_head_dim", "mamba_d_head", "mamba_headdim", "head_dim");
NAMES(k_groups, "mamba_n_groups", "mamba_ngroups", "n_groups");
NAMES(k_state, "ssm_state_size", "mamba_d_state", "state_size");
NAMES(k_conv, "mamba_d_conv", "conv_kernel");
NAMES(k_expand, "mamba_expand", "expand");
NAMES(k_chunk, "mamba_chunk_size", "chunk_size");
NAMES(k_dt_rank, "mamba_dt_rank", "time_step_rank");

/* Sets a number if none of its names has one. */
static void fill(cJSON *o, const char *const *keys, double value)
{
    if (sp_hf_number(o, keys) <= 0)
        sp_hf_put(o, keys[0], value);
}

/* The object under a key, created if missing. */
static cJSON *object_at(cJSON *out, const char *key)
{
    cJSON *const at = cJSON_GetObjectItemCaseSensitive(out, key);
    return at ? at : cJSON_AddObjectToObject(out, key);
}

/* Channels of a state space: as named, heads times their width, or a multiple of the model's
 * width. */
static double inner_of(const cJSON *o)
{
    const double named = sp_hf_at(o, "mamba_d_ssm");
    const double heads = sp_hf_number(o, k_state_heads) * sp_hf_number(o, k_state_head_dim);
    const double times = sp_hf_number(o, k_expand) * sp_hf_number(o, sp_hf_width);
    return named > 0 ? named : heads > 0 ? heads : times;
}

static double dt_rank_of(const cJSON *o)
{
    const double rank = sp_hf_number(o, k_dt_rank);
    return rank > 0 ? rank : ceil(sp_hf_number(o, sp_hf_width) / 16);
}

static cJSON *put_state_space(cJSON *out, const cJSON *o)
{
    cJSON *const x = cJSON_AddObjectToObject(out, "state_space");
    const bool bias = sp_hf_flag_at(
        o, "use_bias",
        sp_hf_flag_at(o, "mamba_proj_bias", sp_hf_flag_at(o, "add_bias_linear", false)));
    sp_hf_put(x, "inner", inner_of(o));
    sp_hf_put(x, "state", sp_hf_number(o, k_state));
    sp_hf_put(x, "conv", sp_hf_number(o, k_conv));
    sp_hf_put_flag(x, "bias", bias);
    sp_hf_put_flag(x, "conv_bias",
                   sp_hf_flag_at(o, "use_conv_bias", sp_hf_flag_at(o, "mamba_conv_bias", true)));
    return x;
}

static void put_mamba_2(cJSON *out, const cJSON *o)
{
    cJSON *const x = put_state_space(out, o);
    sp_hf_put(x, "heads", sp_hf_number(o, k_state_heads));
    sp_hf_put(x, "groups", sp_hf_number(o, k_groups));
    sp_hf_put(x, "chunk", sp_hf_number(o, k_chunk));
    sp_hf_put_flag(x, "norm", true);
}

static void put_mamba_1(cJSON *out, const cJSON *o)
{
    sp_hf_put(put_state_space(out, o), "dt_rank", dt_rank_of(o));
}

static void put_jamba(cJSON *out, const cJSON *o)
{
    put_mamba_1(out, o);
    sp_hf_put_flag(object_at(out, "state_space"), "dt_norms", true);
}

static void put_falcon_h1(cJSON *out, const cJSON *o)
{
    put_mamba_2(out, o);
    cJSON *const x = object_at(out, "state_space");
    cJSON_DeleteItemFromObjectCaseSensitive(x, "norm");
    sp_hf_put_flag(x, "norm", sp_hf_flag_at(o, "mamba_rms_norm", false));
    sp_hf_put_flag(x, "parallel", true);
}

/* Shared experts as one MLP with its own width. */
static void put_shared(cJSON *out, const cJSON *o, const char *key)
{
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    if (!moe)
        return;
    sp_hf_put(moe, "shared_experts", sp_hf_at(o, key) > 0 ? 1 : 0);
    SP_HF_TAKE(moe, o, {"d_ff_shared", key});
}

static void put_granite(cJSON *out, const cJSON *o)
{
    put_mamba_2(out, o);
    put_shared(out, o, "shared_intermediate_size");
}

static void put_nemotron(cJSON *out, const cJSON *o)
{
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    put_mamba_2(out, o);
    put_shared(out, o, "moe_shared_expert_intermediate_size");
    if (moe)
        SP_HF_TAKE(moe, o, {"latent", "moe_latent_size"});
}

static void put_delta_rule(cJSON *out, const cJSON *o)
{
    cJSON *const x = cJSON_AddObjectToObject(out, "linear_attention");
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    SP_HF_TAKE(x, o, {"heads", "linear_num_value_heads"}, {"key_heads", "linear_num_key_heads"},
               {"key_dim", "linear_key_head_dim"}, {"value_dim", "linear_value_head_dim"},
               {"conv", "linear_conv_kernel_dim"});
    sp_hf_put_flag(out, "attention_gate", sp_hf_flag_at(o, "attn_output_gate", true));
    if (moe)
        sp_hf_put_flag(moe, "shared_gate", sp_hf_at(o, "shared_expert_intermediate_size") > 0);
}

static void put_short_conv(cJSON *out, const cJSON *o)
{
    cJSON *const x = cJSON_AddObjectToObject(out, "short_conv");
    sp_hf_put(x, "taps", sp_hf_number_at(o, "conv_L_cache", 3));
    sp_hf_put_flag(x, "bias", sp_hf_flag_at(o, "conv_bias", false));
}

static void put_indexer(cJSON *out, const cJSON *o)
{
    cJSON *const x = cJSON_AddObjectToObject(out, "sparse_attention");
    SP_HF_TAKE(x, o, {"top_k", "index_topk"}, {"index_heads", "index_n_heads"},
               {"index_head_dim", "index_head_dim"});
    const char *const letters = sp_hf_text_at(out, "pattern");
    sp_hf_put_flag(x, "shared", letters && strchr(letters, 'L'));
}

/* Layers whose experts a table gives: those so named, or the first ones. */
static double hash_layers_of(const cJSON *o)
{
    const cJSON *kind, *const kinds = sp_hf_member(o, "mlp_layer_types");
    double n = 0;
    cJSON_ArrayForEach(kind, kinds) n +=
        cJSON_IsString(kind) && strcmp(kind->valuestring, "hash_moe") == 0;
    return cJSON_IsArray(kinds) ? n : sp_hf_at(o, "num_hash_layers");
}

/* Tokens of an entry: under its kind of layer, or alone. */
static double entry_tokens(const cJSON *o, const char *kind, const char *key, double otherwise)
{
    return sp_hf_number_at(sp_hf_member(o, "compress_rates"), kind,
                           sp_hf_number_at(o, key, otherwise));
}

static void put_compressed(cJSON *out, const cJSON *o)
{
    const char *const letters = sp_hf_text_at(out, "pattern");
    cJSON *const x = cJSON_AddObjectToObject(out, "compressed_attention");
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    SP_HF_TAKE(x, o, {"query_rank", "q_lora_rank"}, {"output_groups", "o_groups"},
               {"output_rank", "o_lora_rank"});
    SP_HF_TAKE(out, o, {"hyper_connections", "hc_mult"});
    sp_hf_put(moe, "hash_layers", hash_layers_of(o));
    if (strchr(letters, 'L'))
        sp_hf_put(x, "far_ratio",
                  entry_tokens(o, "heavily_compressed_attention", "compress_rate_hca", 128));
    if (!strchr(letters, 'A'))
        return;
    sp_hf_put(x, "ratio", entry_tokens(o, "compressed_sparse_attention", "compress_rate_csa", 4));
    cJSON *const picks = cJSON_AddObjectToObject(out, "sparse_attention");
    SP_HF_TAKE(picks, o, {"top_k", "index_topk"}, {"index_heads", "index_n_heads"},
               {"index_head_dim", "index_head_dim"});
}

/* Lightning attention with as many heads as attention. */
static void put_lightning(cJSON *out, const cJSON *o)
{
    cJSON *const x = cJSON_AddObjectToObject(out, "linear_attention");
    SP_HF_TAKE(x, out, {"heads", "heads"}, {"key_dim", "head_dim"}, {"value_dim", "head_dim"});
    sp_hf_put(x, "chunk", sp_hf_number_at(o, "block_size", 256));
    sp_hf_put_flag(x, "fixed_decay", true);
}

/* Fills in heads and MLP width, which readers expect, for a model without either. */
static void fill_mamba(cJSON *o)
{
    const double heads = sp_hf_number(o, k_state_heads), named = sp_hf_number(o, sp_hf_ff);
    if (heads <= 0 && named > 0)
        sp_hf_put(o, "mamba_d_ssm", named);
    sp_hf_put(o, sp_hf_heads[0], heads > 0 ? heads : inner_of(o));
    sp_hf_put(o, sp_hf_ff[0], inner_of(o));
    if (heads <= 0)
        sp_hf_put(o, sp_hf_head_dim[0], 1);
}

static void fill_nemotron(cJSON *o)
{
    const cJSON *const kinds = sp_hf_array(o, sp_hf_kinds);
    const char *const letters = sp_hf_text_at(o, "hybrid_override_pattern");
    const double listed = kinds ? cJSON_GetArraySize(kinds) : letters ? (double)strlen(letters) : 0;
    if (listed > 0)
        sp_hf_put(o, sp_hf_layers[0], listed);
    fill(o, sp_hf_head_dim, sp_hf_at(o, "attention_head_dim"));
}

/* Without experts, the shared MLP is the MLP. */
static void fill_granite(cJSON *o)
{
    if (sp_hf_number(o, sp_hf_experts) < 1)
        sp_hf_put(o, sp_hf_ff[0], sp_hf_at(o, "shared_intermediate_size"));
}

static void fill_jamba(cJSON *o)
{
    if (sp_hf_number(o, sp_hf_experts) <= 1)
        sp_hf_put(o, "num_experts", 0);
    sp_hf_put(o, sp_hf_every[0], sp_hf_number_at(o, "expert_layer_period", 2));
}

static void fill_experts(cJSON *o)
{
    fill(o, sp_hf_ff, sp_hf_number(o, sp_hf_expert_width));
}

/* LFM2's width is two thirds of its config's, rounded up. */
static void fill_lfm2(cJSON *o)
{
    const double said = sp_hf_number_at(o, "block_ff_dim", sp_hf_number(o, sp_hf_ff));
    const double of = sp_hf_number_at(o, "block_multiple_of", 256);
    const double part =
        floor(sp_hf_number_at(o, "block_ffn_dim_multiplier", 1) * floor(2 * said / 3));
    const cJSON *const tie = sp_hf_member(o, "tie_embedding");
    const bool adjusts = sp_hf_flag_at(o, "block_auto_adjust_ff_dim", true) && of > 0;
    sp_hf_put(o, sp_hf_ff[0], adjusts ? ceil(part / of) * of : said);
    if (cJSON_IsBool(tie) && !sp_hf_member(o, "tie_word_embeddings"))
        cJSON_AddBoolToObject(o, "tie_word_embeddings", cJSON_IsTrue(tie));
}

/* Whether layer i reuses the picks of the layer before: by a letter per layer, or, from some layer
 * on, for all but every n-th (GLM-5.2). */
static bool shares_picks(const cJSON *o, const char *letters, int i)
{
    const double every = fmax(1, sp_hf_number_at(o, "index_topk_freq", 1));
    const double from = sp_hf_number_at(o, "index_skip_topk_offset", 2);
    return letters ? letters[i] == 'S' : fmod(fmax(i - from + 1, 0), every) > 0;
}

static void fill_indexers(cJSON *o)
{
    const char *const letters = sp_hf_text_at(o, "index_topk_pattern");
    const double layers = fmin(sp_hf_number(o, sp_hf_layers), SP_HF_MOST_LAYERS);
    if (cJSON_IsArray(sp_hf_member(o, "indexer_types")) ||
        (letters && (double)strspn(letters, "FS") < layers))
        return;
    cJSON *const kinds = cJSON_CreateArray();
    for (int i = 0; i < layers; i++)
        cJSON_AddItemToArray(kinds,
                             cJSON_CreateString(shares_picks(o, letters, i) ? "shared" : "full"));
    cJSON_DeleteItemFromObjectCaseSensitive(o, "indexer_types");
    cJSON_AddItemToObject(o, "indexer_types", kinds);
}

static void fill_lfm2_moe(cJSON *o)
{
    fill(o, sp_hf_dense, sp_hf_number_at(o, "num_dense_layers", 2));
}

/* A list with 1 for layers with attention (the model's own code; transformers names kinds). */
static void fill_minimax(cJSON *o)
{
    const cJSON *at, *const list = sp_hf_member(o, "attn_type_list");
    if (!cJSON_IsArray(list))
        return;
    cJSON *const kinds = cJSON_CreateArray();
    cJSON_ArrayForEach(at, list)
    {
        const bool attends = cJSON_IsNumber(at) && at->valuedouble > 0;
        cJSON_AddItemToArray(kinds,
                             cJSON_CreateString(attends ? "full_attention" : "linear_attention"));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(o, "layer_types");
    cJSON_AddItemToObject(o, "layer_types", kinds);
}

static void put_granite_shared(cJSON *out, const cJSON *o)
{
    put_shared(out, o, "shared_intermediate_size");
}

/* Two parameters of each layer's activation function. */
static void put_apertus(cJSON *out, const cJSON *o)
{
    (void)o;
    sp_hf_put(out, "extra_attention_params_per_layer", 2);
}

static void put_zamba2(cJSON *out, const cJSON *o)
{
    sp_hf_put_zamba2(out, o);
    put_mamba_2(out, o);
}

/* A list of kinds, which transformers fills in: two layers with many tokens per entry, then in
 * turn. */
static void fill_compressed(cJSON *o)
{
    fill_experts(o);
    if (sp_hf_array(o, sp_hf_kinds))
        return;
    cJSON *const kinds = cJSON_AddArrayToObject(o, "compress_ratios");
    for (int i = 0; i < fmin(sp_hf_number(o, sp_hf_layers), SP_HF_MOST_LAYERS); i++)
        cJSON_AddItemToArray(kinds, cJSON_CreateNumber(i < 2 || i % 2 == 0 ? 128 : 4));
}

/* A family: letters for attention and the other mixer (and only a window), functions that fill in
 * and write the latter's widths; `everywhere`: all layers have them. */
struct hybrid {
    const char *type, *letters;
    void (*fill)(cJSON *sizes);
    void (*put)(cJSON *out, const cJSON *sizes);
    bool everywhere;
};

static const struct hybrid hybrids[] = {
    {"qwen3_next", "AL", NULL, put_delta_rule, false},
    {"qwen3_5_text", "AL", NULL, put_delta_rule, false},
    {"qwen3_5_moe_text", "AL", fill_experts, put_delta_rule, false},
    {"nemotron_h", "*M", fill_nemotron, put_nemotron, false},
    {"granitemoehybrid", "AL", fill_granite, put_granite, false},
    {"bamba", "AL", NULL, put_mamba_2, false},
    {"falcon_h1", "A", NULL, put_falcon_h1, true},
    {"jamba", "AL", fill_jamba, put_jamba, false},
    {"mamba", "*M", fill_mamba, put_mamba_1, false},
    {"falcon_mamba", "*M", fill_mamba, put_mamba_1, false},
    {"mamba2", "*M", fill_mamba, put_mamba_2, false},
    {"lfm2", "AL", fill_lfm2, put_short_conv, false},
    {"lfm2_moe", "AL", fill_lfm2_moe, put_short_conv, false},
    {"kimi_linear", "AL", sp_hf_fill_kimi, sp_hf_put_kimi, false},
    {"minimax", "AL", fill_minimax, put_lightning, false},
    {"mimo_v2_flash", "AL", NULL, sp_hf_put_mimo, false},
    {"minimax_m3", "AL", sp_hf_fill_minimax_m3, sp_hf_put_minimax_m3, true},
    {"step3p5", "ALL", sp_hf_fill_step, sp_hf_put_step, false},
    {"deepseek_v32", "A", NULL, put_indexer, true},
    {"glm_moe_dsa", "AL", fill_indexers, put_indexer, true},
    {"deepseek_v4", "ALW", fill_compressed, put_compressed, true},
    {"zamba2", "A", sp_hf_fill_zamba2, put_zamba2, true},
    {"nemotron-nas", "A", sp_hf_fill_blocks, sp_hf_put_blocks, true},
    {"granitemoeshared", "A", NULL, put_granite_shared, true},
    {"apertus", "A", NULL, put_apertus, true},
    {"gemma3n_text", "A", sp_hf_fill_gemma3n, sp_hf_put_gemma3n, true},
    {"gemma4_text", "A", sp_hf_fill_gemma4, sp_hf_put_gemma4, true},
};

static const struct hybrid *hybrid_of(const struct sp_hf_family *f)
{
    for (size_t i = 0; i < sizeof hybrids / sizeof *hybrids; i++)
        if (strcmp(hybrids[i].type, f->type) == 0)
            return &hybrids[i];
    return NULL;
}

void sp_hf_fill_mixer(cJSON *sizes, const struct sp_hf_family *family)
{
    const struct hybrid *const h = hybrid_of(family);
    if (h && h->fill)
        h->fill(sizes);
}

/* Whether each period ends with an MoE layer, the only order that struct sp_moe has. */
static bool are_experts_last(const struct sp_hf_config *c, struct sp_error *error)
{
    char path[96];
    const double period = sp_hf_number_at(c->sizes, "expert_layer_period", 1);
    const double offset = sp_hf_number_at(c->sizes, "expert_layer_offset", period - 1);
    if (sp_hf_number(c->sizes, sp_hf_experts) < 1 || offset + 1 == period)
        return true;
    snprintf(path, sizeof path, "%sexpert_layer_offset", c->part);
    return sp_fail(error, SP_INPUT, "%s: %s: only the last layer of a period can have experts",
                   sp_json_place(c->json, path), path);
}

/* Requires the sizes that only one family has. The document was not checked, so that no message
 * names a key of ours. */
static bool has_own_sizes(const struct sp_hf_config *c, const char *type, struct sp_error *error)
{
    static const struct {
        const char *type, *part, *key;
    } needed[] = {
        {"deepseek_v4", "", "head_dim"},
        {"deepseek_v4", "", "q_lora_rank"},
        {"deepseek_v4", "", "o_groups"},
        {"deepseek_v4", "", "o_lora_rank"},
        {"deepseek_v4", "", "hc_mult"},
        {"deepseek_v4", "", "sliding_window"},
        {"deepseek_v4", "", "index_topk"},
        {"deepseek_v4", "", "index_n_heads"},
        {"deepseek_v4", "", "index_head_dim"},
        {"minimax_m3", "", "dense_intermediate_size"},
        {"minimax_m3", "sparse_attention_config", "sparse_topk_blocks"},
        {"minimax_m3", "sparse_attention_config", "sparse_block_size"},
        {"minimax_m3", "sparse_attention_config", "sparse_num_index_heads"},
        {"minimax_m3", "sparse_attention_config", "sparse_index_dim"},
        {"step3p5", "", "sliding_window"},
        {"step3p5", "", "share_expert_dim"},
        {"step3p5", "attention_other_setting", "num_attention_heads"},
        {"kimi_linear", "linear_attn_config", "head_dim"},
        {"kimi_linear", "linear_attn_config", "num_heads"},
    };
    const int before = error->lines;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char part[64];
        const char *const *const keys = (const char *const[]){needed[i].key, NULL};
        const bool whole = !*needed[i].part;
        const struct sp_hf_config own = {c->json, part,
                                         whole ? c->sizes : sp_hf_member(c->sizes, needed[i].part)};
        const double value = sp_hf_number(own.sizes, keys);
        snprintf(part, sizeof part, "%s%s%s", c->part, needed[i].part, whole ? "" : ".");
        if (strcmp(needed[i].type, type) == 0 &&
            !(value >= 1 && value <= 1e9 && value == floor(value)))
            sp_hf_refuse_size(&own, keys, error);
    }
    return error->lines == before;
}

/* Refuses keys that make the model differ from its known family. */
static bool is_known(const struct sp_hf_config *c, const struct hybrid *h, struct sp_error *error)
{
    static const struct {
        const char *type, *key;
    } beyond[] = {{"deepseek_v4", "kv_lora_rank"},
                  {"deepseek_v4", "attention_bias"},
                  {"deepseek_v4", "mlp_bias"},
                  {"falcon_h1", "projectors_bias"}};
    char path[96];
    const char *const fault = h->put == sp_hf_put_blocks ? sp_hf_fault_of_blocks(c->sizes) : NULL;
    if (fault) {
        snprintf(path, sizeof path, "%sblock_configs", c->part);
        return sp_fail(error, SP_INPUT, "%s: %s: %s, which is not modelled",
                       sp_json_place(c->json, path), path, fault);
    }
    if (strcmp(h->type, "zamba2") == 0 && !sp_hf_is_whole_zamba2(c->sizes)) {
        snprintf(path, sizeof path, "%slayers_block_type", c->part);
        return sp_fail(error, SP_INPUT,
                       "%s: %s: expected the kind of each layer, \"mamba\" or \"hybrid\", of 255 "
                       "with the shared blocks at most",
                       sp_json_place(c->json, path), path);
    }
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        const cJSON *const at = sp_hf_member(c->sizes, beyond[i].key);
        if (strcmp(beyond[i].type, h->type) != 0 || !at || cJSON_IsFalse(at))
            continue;
        snprintf(path, sizeof path, "%s%s", c->part, beyond[i].key);
        return sp_fail(error, SP_INPUT, "%s: %s: not supported in %s models",
                       sp_json_place(c->json, path), path, h->type);
    }
    return true;
}

bool sp_hf_put_mixer(cJSON *out, const struct sp_hf_config *c, const struct sp_hf_family *f,
                     struct sp_error *error)
{
    const struct hybrid *const h = hybrid_of(f);
    if (!h)
        return true;
    if (!has_own_sizes(c, h->type, error) || !is_known(c, h, error) ||
        !are_experts_last(c, error) ||
        (h->letters[1] && !sp_hf_put_pattern(out, c, h->letters, error)))
        return false;
    const char *const letters = sp_hf_text_at(out, "pattern");
    if (h->everywhere || (letters && strpbrk(letters, "LM")))
        h->put(out, c->sizes);
    if (letters && strcmp(letters, "A") == 0)
        cJSON_DeleteItemFromObjectCaseSensitive(out, "pattern");
    return true;
}
