/* Families whose configs list layers by numbers: which have experts, which attend how. Sources:
 * transformers, modeling_mimo_v2_flash.py; Megatron-Bridge 067f987df, models/stepfun,
 * models/minimax_m3 and models/kimi. */
#include "hf/listed.h"

#include <stdlib.h>
#include <string.h>

#include "hf/pattern.h"

/* Step's layers with experts: "3,4,5", or a list of them. */
static const char step_key[] = "moe_layers_enum";

const char *sp_hf_experts_key(const cJSON *o)
{
    const char *const text = sp_hf_text_at(o, step_key);
    return cJSON_IsArray(sp_hf_member(o, "moe_layer_freq"))   ? "moe_layer_freq"
           : text || cJSON_IsArray(sp_hf_member(o, step_key)) ? step_key
                                                              : NULL;
}

/* Whether a layer is in Step's text or list. */
static bool is_named(const cJSON *o, int layer)
{
    const cJSON *one, *const list = sp_hf_member(o, step_key);
    const char *at = sp_hf_text_at(o, step_key);
    char *end;
    for (; at && *at; at = *end ? end + 1 : end)
        if (strtol(at, &end, 10) == layer && end != at)
            return true;
    cJSON_ArrayForEach(one, list)
    {
        if (cJSON_IsNumber(one) && one->valuedouble >= layer && one->valuedouble <= layer)
            return true;
    }
    return false;
}

void sp_hf_fill_expert_layers(cJSON *o)
{
    const char *const key = sp_hf_experts_key(o);
    if (!key)
        return;
    const cJSON *const list = sp_hf_member(o, key);
    const bool named = strcmp(key, step_key) == 0;
    const double layers = sp_hf_number(o, sp_hf_layers);
    const int n = named ? (int)(layers < SP_HF_MOST_LAYERS ? layers : SP_HF_MOST_LAYERS)
                        : cJSON_GetArraySize(list);
    cJSON *const kinds = cJSON_CreateArray();
    for (int i = 0; i < n; i++) {
        const cJSON *const one = named ? NULL : cJSON_GetArrayItem(list, i);
        const bool experts = named ? is_named(o, i) : !cJSON_IsNumber(one) || one->valuedouble > 0;
        cJSON_AddItemToArray(kinds, cJSON_CreateString(experts ? "sparse" : "dense"));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(o, "mlp_layer_types");
    cJSON_AddItemToObject(o, "mlp_layer_types", kinds);
}

/* The list of full-attention layers counts from 1; other layers' kinds follow from it. */
void sp_hf_fill_kimi(cJSON *o)
{
    const cJSON *at, *const from = sp_hf_member(o, "linear_attn_config");
    const cJSON *const list = from ? sp_hf_member(from, "full_attn_layers") : NULL;
    cJSON *const indices = cJSON_CreateArray();
    cJSON_ArrayForEach(at, list)
    {
        const double number = cJSON_IsNumber(at) ? at->valuedouble - 1 : -1;
        cJSON_AddItemToArray(indices, cJSON_CreateNumber(number));
    }
    cJSON_AddItemToObject(o, sp_hf_indices[0], indices);
}

/* Kimi Delta Attention: decay per channel and a gate of low rank. Kimi K3's gate has full rank, its
 * attention has one too, its experts work in a latent, and its blocks read earlier streams. */
void sp_hf_put_kimi(cJSON *out, const cJSON *o)
{
    const cJSON *const from = sp_hf_member(o, "linear_attn_config");
    cJSON *const x = cJSON_AddObjectToObject(out, "linear_attention");
    SP_HF_TAKE(x, from, {"heads", "num_heads"}, {"key_dim", "head_dim"}, {"value_dim", "head_dim"},
               {"gate_rank", "head_dim"});
    sp_hf_put(x, "conv", from ? sp_hf_number_at(from, "short_conv_kernel_size", 4) : 0);
    sp_hf_put_flag(x, "full_gate", from && sp_hf_flag_at(from, "use_full_rank_gate", false));
    sp_hf_put_flag(out, "attention_gate", sp_hf_flag_at(o, "mla_use_output_gate", false));
    SP_HF_TAKE(out, o, {"attention_residuals", "attn_res_block_size"});
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    if (!moe)
        return;
    SP_HF_TAKE(moe, o, {"latent", "routed_expert_hidden_size"});
    sp_hf_put_flag(moe, "latent_norm",
                   sp_hf_at(moe, "latent") > 0 && sp_hf_flag_at(o, "latent_moe_use_norm", false));
}

/* The window of layers that are not local ones: none. */
static void drop_reach(cJSON *out)
{
    static const char *const reach[] = {"sliding_window", "global_every", "global_first"};
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(out, reach[i]);
}

/* Windowed layers have their own heads, some with a sink each. */
void sp_hf_put_mimo(cJSON *out, const cJSON *o)
{
    cJSON *const x = cJSON_AddObjectToObject(out, "local_attention");
    drop_reach(out);
    SP_HF_TAKE(out, o, {"value_dim", "v_head_dim"});
    SP_HF_TAKE(x, o, {"heads", "swa_num_attention_heads"}, {"kv_heads", "swa_num_key_value_heads"},
               {"head_dim", "swa_head_dim"}, {"value_dim", "swa_v_head_dim"});
    sp_hf_put(x, "window", sp_hf_number(o, sp_hf_window));
    sp_hf_put_flag(x, "sinks", sp_hf_flag_at(o, "add_swa_attention_sink_bias", false));
    if (sp_hf_flag_at(o, "add_full_attention_sink_bias", false))
        sp_hf_put(out, "extra_attention_params_per_layer", sp_hf_number(o, sp_hf_heads));
}

/* MiniMax-M3's intermediate_size is that of an expert. Layers without an indexer attend to all
 * tokens. */
void sp_hf_fill_minimax_m3(cJSON *o)
{
    const cJSON *const sparse = sp_hf_member(o, "sparse_attention_config");
    const cJSON *one, *const list = sparse ? sp_hf_member(sparse, "sparse_attention_freq") : NULL;
    cJSON *const kinds = cJSON_CreateArray();
    cJSON_ArrayForEach(one, list)
    {
        const bool all = cJSON_IsNumber(one) && one->valuedouble <= 0;
        cJSON_AddItemToArray(kinds, cJSON_CreateNumber(all));
    }
    sp_hf_put(o, "moe_intermediate_size", sp_hf_at(o, "intermediate_size"));
    sp_hf_put(o, "intermediate_size", sp_hf_at(o, "dense_intermediate_size"));
    cJSON_DeleteItemFromObjectCaseSensitive(o, sp_hf_kinds[0]);
    cJSON_AddItemToObject(o, sp_hf_kinds[0], kinds);
}

void sp_hf_put_minimax_m3(cJSON *out, const cJSON *o)
{
    const cJSON *const from = sp_hf_member(o, "sparse_attention_config");
    const char *const letters = sp_hf_text_at(out, "pattern");
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    cJSON *const x = cJSON_AddObjectToObject(out, "sparse_attention");
    sp_hf_put(x, "top_k",
              sp_hf_at(from, "sparse_topk_blocks") * sp_hf_at(from, "sparse_block_size"));
    SP_HF_TAKE(x, from, {"index_heads", "sparse_num_index_heads"},
               {"index_head_dim", "sparse_index_dim"});
    sp_hf_put_flag(x, "others", letters && strchr(letters, 'L'));
    sp_hf_put(moe, "d_ff_shared",
              sp_hf_at(o, "n_shared_experts") * sp_hf_at(o, "shared_intermediate_size"));
}

void sp_hf_fill_step(cJSON *o)
{
    if (sp_hf_at(o, "share_expert_dims") > 0 && !sp_hf_member(o, "share_expert_dim"))
        sp_hf_put(o, "share_expert_dim", sp_hf_at(o, "share_expert_dims"));
}

/* Windowed layers have their own heads; a number per head gates all. */
void sp_hf_put_step(cJSON *out, const cJSON *o)
{
    const cJSON *const other = sp_hf_member(o, "attention_other_setting");
    cJSON *const x = cJSON_AddObjectToObject(out, "local_attention");
    cJSON *const moe = cJSON_GetObjectItemCaseSensitive(out, "moe");
    drop_reach(out);
    sp_hf_put(x, "heads", sp_hf_at(other, "num_attention_heads"));
    sp_hf_put(x, "kv_heads",
              sp_hf_number_at(other, "num_attention_groups", sp_hf_at(out, "kv_heads")));
    sp_hf_put(x, "head_dim", sp_hf_number_at(other, "head_dim", sp_hf_at(out, "head_dim")));
    sp_hf_put(x, "window", sp_hf_number(o, sp_hf_window));
    sp_hf_put_flag(out, "head_gates", sp_hf_flag_at(o, "use_head_wise_attn_gate", false));
    sp_hf_put(moe, "shared_experts", 1);
    SP_HF_TAKE(moe, o, {"d_ff_shared", "share_expert_dim"});
    sp_hf_put_flag(moe, "score_correction_bias", sp_hf_flag_at(o, "use_moe_router_bias", false));
}

/* Whether a layer with an indexer has values of it too. */
static bool has_index_values(const cJSON *sparse)
{
    const cJSON *const freq = sp_hf_member(sparse, "sparse_attention_freq");
    const cJSON *const without = sp_hf_member(sparse, "sparse_disable_index_value");
    for (int i = 0; cJSON_IsArray(without) && i < cJSON_GetArraySize(freq); i++) {
        const cJSON *const one = cJSON_GetArrayItem(without, i);
        if (cJSON_GetArrayItem(freq, i)->valuedouble > 0 &&
            (!cJSON_IsNumber(one) || one->valuedouble <= 0))
            return true;
    }
    return false;
}

const char *sp_hf_beyond_listed(const cJSON *o, const char *family, const char **what)
{
    const bool m3 = strcmp(family, "minimax_m3") == 0, step = strcmp(family, "step3p5") == 0;
    const cJSON *const sparse = m3 ? sp_hf_member(o, "sparse_attention_config") : NULL;
    const char *const norms = sp_hf_text_at(o, "qk_norm_type");
    const bool listed =
        sp_hf_experts_key(o) && strcmp(sp_hf_experts_key(o), "moe_layer_freq") == 0 &&
        cJSON_GetArraySize(sp_hf_member(o, "moe_layer_freq")) != (int)sp_hf_number(o, sp_hf_layers);
    const struct {
        bool is;
        const char *key, *what;
    } beyond[] = {
        {listed, "moe_layer_freq", "another number of layers"},
        {m3 && norms && strcmp(norms, "per_head") != 0, "qk_norm_type", "norms of all heads"},
        {m3 && sp_hf_flag_at(o, "attention_output_gate", false), "attention_output_gate",
         "a gate of this family"},
        {sparse && !sp_hf_flag_at(sparse, "use_sparse_attention", true),
         "sparse_attention_config.use_sparse_attention", "attention to all tokens in all layers"},
        {sparse && has_index_values(sparse), "sparse_attention_config.sparse_disable_index_value",
         "values of the indexer"},
        {step && !cJSON_IsBool(sp_hf_member(o, "use_head_wise_attn_gate")),
         "use_head_wise_attn_gate", "its default"},
        {step && !sp_hf_flag_at(o, "use_qk_norm", true), "use_qk_norm",
         "queries and keys without norms"},
        {step && !sp_hf_experts_key(o), step_key, "its default"}};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        if (beyond[i].is) {
            *what = beyond[i].what;
            return beyond[i].key;
        }
    return NULL;
}
