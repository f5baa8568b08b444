/* Reads the values under the keys of Hugging Face configs. */
#include "hf/keys.h"

#include <stdio.h>
#include <string.h>

#define NAMES(name, ...) const char *const sp_hf_##name[] = {__VA_ARGS__, NULL}

NAMES(layers, "num_hidden_layers", "n_layer", "n_layers", "num_layers");
NAMES(width, "hidden_size", "n_embd", "d_model", "n_embed");
NAMES(heads, "num_attention_heads", "n_head", "n_heads", "num_heads");
NAMES(kv, "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num",
      "kv_n_heads");
NAMES(ff, "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size");
NAMES(vocab, "vocab_size", "padded_vocab_size");
NAMES(positions, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx");
NAMES(experts, "num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts");
NAMES(top, "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "moe_top_k");
NAMES(shared, "n_shared_experts", "moe_num_shared_experts", "num_shared_experts");
NAMES(every, "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq",
      "moe_layer_interval", "moe_frequency");
NAMES(dense, "first_k_dense_replace", "moe_layer_start_index");
NAMES(expert_width, "moe_intermediate_size");
NAMES(head_dim, "head_dim");
NAMES(window, "sliding_window", "window_size", "sliding_window_size");
NAMES(latent, "kv_lora_rank");
NAMES(nope, "qk_nope_head_dim");
NAMES(rope, "qk_rope_head_dim");
NAMES(value, "v_head_dim");

const char *sp_hf_native_of(const char *key)
{
    static const struct {
        const char *const *names, *native;
    } sizes[] = {{sp_hf_layers, "layers"},
                 {sp_hf_width, "d_model"},
                 {sp_hf_heads, "heads"},
                 {sp_hf_kv, "kv_heads"},
                 {sp_hf_ff, "d_ff"},
                 {sp_hf_vocab, "vocab"},
                 {sp_hf_experts, "moe.experts"},
                 {sp_hf_top, "moe.top_k"},
                 {sp_hf_expert_width, "moe.d_ff_expert"},
                 {sp_hf_shared, "moe.shared_experts"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (const char *const *name = sizes[i].names; *name; name++)
            if (strcmp(*name, key) == 0)
                return sizes[i].native;
    return NULL;
}

const cJSON *sp_hf_member(const cJSON *o, const char *key)
{
    const cJSON *const at = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNull(at) ? NULL : at;
}

double sp_hf_number(const cJSON *o, const char *const *keys)
{
    for (int i = 0; keys[i]; i++) {
        const cJSON *const at = sp_hf_member(o, keys[i]);
        if (at && cJSON_IsNumber(at))
            return at->valuedouble;
    }
    return 0;
}

double sp_hf_number_at(const cJSON *o, const char *key, double otherwise)
{
    const cJSON *const at = sp_hf_member(o, key);
    return at && cJSON_IsNumber(at) ? at->valuedouble : otherwise;
}

double sp_hf_at(const cJSON *o, const char *key)
{
    return sp_hf_number_at(o, key, 0);
}

double sp_hf_either(const cJSON *o, const char *key, const char *other, double otherwise)
{
    return sp_hf_number_at(o, key, sp_hf_number_at(o, other, otherwise));
}

bool sp_hf_flag_at(const cJSON *o, const char *key, bool otherwise)
{
    const cJSON *const at = sp_hf_member(o, key);
    return cJSON_IsBool(at) ? cJSON_IsTrue(at) : otherwise;
}

bool sp_hf_flag(const cJSON *o, const char *rule)
{
    char key[64];
    const char *const equals = strchr(rule, '=');
    if (!equals)
        return rule[0] == '1';
    snprintf(key, sizeof key, "%.*s", (int)(equals - rule), rule);
    return sp_hf_flag_at(o, key, equals[1] == '1');
}

void sp_hf_put(cJSON *object, const char *key, double value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (value > 0)
        cJSON_AddNumberToObject(object, key, value);
}

void sp_hf_take(cJSON *out, const cJSON *o, const char *const pairs[][2])
{
    for (; o && (*pairs)[0]; pairs++)
        sp_hf_put(out, (*pairs)[0], sp_hf_at(o, (*pairs)[1]));
}

void sp_hf_put_flag(cJSON *object, const char *key, bool value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (value)
        cJSON_AddBoolToObject(object, key, true);
}

const char *sp_hf_text_at(const cJSON *o, const char *key)
{
    const cJSON *const at = sp_hf_member(o, key);
    return at && cJSON_IsString(at) ? at->valuestring : NULL;
}

const char *sp_hf_key_in(const cJSON *o, const char *const *keys)
{
    for (int i = 0; keys[i]; i++)
        if (cJSON_GetObjectItemCaseSensitive(o, keys[i]))
            return keys[i];
    return NULL;
}

const char *sp_hf_class(const cJSON *config)
{
    const cJSON *const list = sp_hf_member(config, "architectures");
    const cJSON *const first = cJSON_IsArray(list) ? cJSON_GetArrayItem(list, 0) : NULL;
    return first && cJSON_IsString(first) ? first->valuestring : "";
}

bool sp_hf_ends(const char *text, const char *ending)
{
    const size_t n = strlen(text), tail = strlen(ending);
    return n >= tail && strcmp(text + n - tail, ending) == 0;
}

bool sp_hf_is_model_part(const char *key)
{
    static const char *const others[] = {
        "quantization_config", "rope_config",       "attn_config",          "ffn_config",
        "compression_config",  "generation_config", "task_specific_params", "pruned_heads"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return sp_hf_ends(key, "_config") || sp_hf_ends(key, "_cfg");
}
