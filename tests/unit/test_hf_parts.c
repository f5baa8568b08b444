/* Parts of Hugging Face configs, changed one at a time: what transformers' own code makes of them,
 * by hand. The configs are those of tests/data/huggingface.jsonl. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "hf/huggingface.h"

/* The first config of a family; cJSON_Delete() it. */
static cJSON *config_of(const char *type)
{
    static char line[8192];
    cJSON *found = NULL;
    FILE *const file = fopen(SCALEPLAN_SOURCE_DIR "/tests/data/huggingface.jsonl", "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file)) {
        cJSON *const row = cJSON_Parse(line);
        const cJSON *const config = cJSON_GetObjectItem(row, "config");
        const cJSON *const own = cJSON_GetObjectItem(config, "model_type");
        if (cJSON_IsString(own) && strcmp(own->valuestring, type) == 0)
            found = cJSON_Duplicate(config, true);
        cJSON_Delete(row);
    }
    fclose(file);
    if (!found)
        fail_msg("no config of %s", type);
    return found;
}

/* A pattern repeats: its letter of every layer. */
static void repeat_pattern(cJSON *native)
{
    const cJSON *const pattern = cJSON_GetObjectItem(native, "pattern");
    const int layers = cJSON_GetObjectItem(native, "layers")->valueint;
    char letters[256] = "";
    if (!pattern)
        return;
    for (int i = 0; i < layers && i < 255; i++)
        letters[i] = pattern->valuestring[(size_t)i % strlen(pattern->valuestring)];
    cJSON_ReplaceItemInObject(native, "pattern", cJSON_CreateString(letters));
}

/* Members of `changes` replace those of the object; null takes one away, an object is changed in
 * turn. */
static void change(cJSON *object, const cJSON *changes)
{
    const cJSON *at;
    cJSON_ArrayForEach(at, changes)
    {
        cJSON *const own = cJSON_GetObjectItemCaseSensitive(object, at->string);
        if (cJSON_IsObject(at) && own) {
            change(own, at);
            continue;
        }
        cJSON_DeleteItemFromObjectCaseSensitive(object, at->string);
        if (!cJSON_IsNull(at))
            cJSON_AddItemToObject(object, at->string, cJSON_Duplicate(at, true));
    }
}

struct part {
    const char *type, *changes, *path, *want; /* want "": left out */
};

static void check(const struct part *p)
{
    struct sp_error error = {0};
    char path[80], *text = NULL;
    cJSON *const config = config_of(p->type), *const changes = cJSON_Parse(p->changes);
    assert_non_null(changes);
    change(config, changes);
    const struct sp_json json = {.root = config, .origin = p->type};
    cJSON *const native = sp_from_huggingface(&json, NULL, &error);
    if (!native)
        fail_msg("%s %s: %s", p->type, p->changes, error.text);
    repeat_pattern(native);
    const cJSON *at = native;
    snprintf(path, sizeof path, "%s", p->path);
    for (char *word = strtok(path, "."); word && at; word = strtok(NULL, "."))
        at = cJSON_GetObjectItemCaseSensitive(at, word);
    if (at)
        text = cJSON_PrintUnformatted(at);
    if (strcmp(text ? text : "", p->want) != 0)
        fail_msg("%s %s: %s is %s, expected %s", p->type, p->changes, p->path, text ? text : "none",
                 p->want);
    free(text);
    cJSON_Delete(changes);
    cJSON_Delete(config);
    cJSON_Delete(native);
}

#define ALL(parts)                                                                                 \
    for (size_t i = 0; i < sizeof(parts) / sizeof *(parts); i++)                                   \
    check(&(parts)[i])

/* Which layers attend. Kimi counts from 1, Bamba from 0; a pattern repeats. */
static void kinds_of_layers(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"kimi_linear",
         "{\"num_hidden_layers\":6,\"linear_attn_config\":{\"full_attn_layers\":[1,4,6]}}",
         "pattern", "\"ALLALA\""},
        {"kimi_linear",
         "{\"num_hidden_layers\":6,\"linear_attn_config\":{\"full_attn_layers\":[3,6]}}", "pattern",
         "\"LLALLA\""},
        {"bamba", "{\"num_hidden_layers\":6,\"attn_layer_indices\":[0,3,5]}", "pattern",
         "\"ALLALA\""},
        {"minimax", "{\"num_hidden_layers\":6,\"attn_type_list\":[1,0,0,1,0,1]}", "pattern",
         "\"ALLALA\""},
        {"minimax", "{\"num_hidden_layers\":3,\"attn_type_list\":[0,0,1]}", "pattern", "\"LLA\""},
        {"nemotron_h", "{\"hybrid_override_pattern\":\"M*EM-E\"}", "layers", "6"},
        {"mimo_v2_flash",
         "{\"moe_layer_freq\":[0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}",
         "moe.dense_layers", "3"},
        {"lfm2_moe", "{\"num_dense_layers\":null}", "moe.dense_layers", "2"},
        {"lfm2_moe", "{\"num_dense_layers\":5}", "moe.dense_layers", "5"},
        {"deepseek_v4", "{\"num_hidden_layers\":6,\"compress_ratios\":[0,0,4,128,4,128]}",
         "pattern", "\"WWALAL\""},
        {"deepseek_v4", "{\"num_hidden_layers\":6,\"compress_ratios\":[4,128,0,4,4,128]}",
         "pattern", "\"ALWAAL\""},
        /* without a list two layers of many tokens per entry, then in turn */
        {"deepseek_v4", "{\"num_hidden_layers\":6,\"compress_ratios\":null}", "pattern",
         "\"LLLALA\""},
        {"zamba2", "{\"num_hidden_layers\":1,\"layers_block_type\":[\"hybrid\"]}", "layers", "2"},
        {"zamba2", "{\"num_hidden_layers\":1,\"layers_block_type\":[\"mamba\"]}", "layers", "1"},
        {"zamba2",
         "{\"num_hidden_layers\":3,\"layers_block_type\":[\"mamba\",\"hybrid\",\"mamba\"]}",
         "layers", "4"},
    };
    ALL(parts);
}

/* Widths: LFM2's MLP has two thirds of what its config says, times a factor, rounded up to a
 * multiple; a state space the named channels, or heads times width, or a multiple of the model's;
 * its rank of time steps a sixteenth of the model's width, rounded up. */
static void widths(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"lfm2", "{}", "d_ff", "8192"},
        {"lfm2", "{\"block_ff_dim\":10000}", "d_ff", "6912"},
        {"lfm2", "{\"block_ff_dim\":10000,\"block_ffn_dim_multiplier\":1.3}", "d_ff", "8704"},
        {"lfm2", "{\"block_ff_dim\":10000,\"block_multiple_of\":100}", "d_ff", "6700"},
        {"lfm2", "{\"block_ff_dim\":10000,\"block_multiple_of\":null}", "d_ff", "6912"},
        {"lfm2", "{\"block_ff_dim\":10000,\"block_auto_adjust_ff_dim\":false}", "d_ff", "10000"},
        {"lfm2", "{\"block_ff_dim\":10000,\"block_auto_adjust_ff_dim\":null}", "d_ff", "6912"},
        {"lfm2", "{\"conv_L_cache\":null}", "short_conv.taps", "3"},
        {"lfm2", "{\"conv_L_cache\":5}", "short_conv.taps", "5"},
        {"mpt", "{\"expansion_ratio\":null}", "d_ff", "16384"}, /* four times 4096 */
        {"mpt", "{\"expansion_ratio\":3}", "d_ff", "12288"},
        {"mpt", "{\"expansion_ratio\":1}", "d_ff", "4096"},
        {"mamba", "{\"time_step_rank\":null}", "state_space.dt_rank", "48"},
        {"mamba", "{\"time_step_rank\":\"auto\",\"hidden_size\":770,\"intermediate_size\":1540}",
         "state_space.dt_rank", "49"},
        {"mamba", "{\"time_step_rank\":33}", "state_space.dt_rank", "33"},
        {"mamba", "{\"intermediate_size\":1000}", "state_space.inner", "1000"},
        {"mamba", "{\"intermediate_size\":null}", "state_space.inner", "1536"},
        {"mamba", "{\"intermediate_size\":null,\"expand\":3}", "state_space.inner", "2304"},
        {"mamba2", "{\"num_heads\":64,\"head_dim\":32}", "state_space.inner", "2048"},
        {"mamba2", "{\"num_heads\":64,\"head_dim\":32}", "heads", "64"},
        {"falcon_h1", "{\"mamba_d_ssm\":1000,\"mamba_n_heads\":10,\"mamba_d_head\":100}",
         "state_space.inner", "1000"},
        {"falcon_h1", "{\"mamba_rms_norm\":true}", "state_space.norm", "true"},
        {"falcon_h1", "{\"mamba_rms_norm\":false}", "state_space.norm", ""},
        {"jamba", "{\"mamba_dt_rank\":\"auto\"}", "state_space.dt_rank", "256"},
        {"jamba", "{\"num_experts\":1}", "moe", ""},
        {"jamba", "{\"expert_layer_period\":null}", "moe.every", "2"},
        {"jamba", "{\"expert_layer_period\":4,\"expert_layer_offset\":3}", "moe.every", "4"},
        {"kimi_linear", "{\"linear_attn_config\":{\"short_conv_kernel_size\":null}}",
         "linear_attention.conv", "4"},
        {"kimi_linear", "{\"linear_attn_config\":{\"head_dim\":96,\"num_heads\":24}}",
         "linear_attention",
         "{\"heads\":24,\"key_dim\":96,\"value_dim\":96,\"gate_rank\":96,\"conv\":4}"},
        {"minimax", "{\"block_size\":128}", "linear_attention.chunk", "128"},
        {"minimax", "{\"block_size\":null}", "linear_attention.chunk", "256"},
        {"qwen3_next", "{\"linear_num_key_heads\":8,\"linear_num_value_heads\":24}",
         "linear_attention",
         "{\"heads\":24,\"key_heads\":8,\"key_dim\":128,\"value_dim\":128,\"conv\":4}"},
        {"qwen3_next", "{\"shared_expert_intermediate_size\":0}", "moe.shared_gate", ""},
        {"deepseek_v4", "{\"num_hash_layers\":1}", "moe.hash_layers", "1"},
        {"granitemoehybrid", "{\"shared_intermediate_size\":1000}", "moe.d_ff_shared", "1000"},
        {"granitemoehybrid", "{\"shared_intermediate_size\":1000,\"num_local_experts\":0}", "d_ff",
         "1000"},
        {"deepseek_v32", "{\"index_topk\":512,\"index_n_heads\":16,\"index_head_dim\":64}",
         "sparse_attention", "{\"top_k\":512,\"index_heads\":16,\"index_head_dim\":64}"},
    };
    ALL(parts);
}

/* Indexers: which layers pick anew, and which take the picks of the layer before. Layer i shares
 * where max(i - offset + 1, 0) is no multiple of the frequency. */
static void shared_picks(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"glm_moe_dsa", "{\"num_hidden_layers\":8,\"index_topk_freq\":4}", "pattern",
         "\"AALLLALL\""},
        {"glm_moe_dsa", "{\"num_hidden_layers\":8,\"index_topk_freq\":2}", "pattern",
         "\"AALALALA\""},
        {"glm_moe_dsa",
         "{\"num_hidden_layers\":8,\"index_topk_freq\":4,\"index_skip_topk_offset\":4}", "pattern",
         "\"AAAALLLA\""},
        {"glm_moe_dsa", "{\"num_hidden_layers\":8,\"index_topk_freq\":1}", "pattern", ""},
        {"glm_moe_dsa", "{\"num_hidden_layers\":4,\"index_topk_pattern\":\"FSSF\"}", "pattern",
         "\"ALLA\""},
        {"glm_moe_dsa", "{\"num_hidden_layers\":4,\"index_topk_pattern\":\"FSSF\"}",
         "sparse_attention.shared", "true"},
        {"glm_moe_dsa", "{}", "sparse_attention.shared", ""},
    };
    ALL(parts);
}

/* Towers: windows of whole patches, and their merged tokens; images of 1,024 pixels a side for
 * towers of any size; sound. */
static void pictures(void **state)
{
    (void)state;
#define WINDOW(size, more) "{\"vision_config\":{\"window_size\":" #size more "}}"
#define FULL ",\"fullatt_block_indexes\":[7,15,23,31]"
    static const struct part parts[] = {
        {"qwen2_5_vl", WINDOW(112, FULL), "encoder.window", "64"}, /* 8 patches of 14 a side */
        {"qwen2_5_vl", WINDOW(125, FULL), "encoder.window", "64"},
        {"qwen2_5_vl", WINDOW(126, FULL), "encoder.window", "81"},
        {"qwen2_5_vl", WINDOW(112, FULL), "encoder.global_every", "8"},
        {"qwen2_5_vl", WINDOW(112, ",\"fullatt_block_indexes\":[1,2,3]"), "encoder.global_every",
         "10"},
        {"qwen2_5_vl", WINDOW(112, ""), "encoder.global_every", ""},
        {"qwen2_5_vl", "{}", "encoder.tokens", "5184"}, /* 72 x 72: 1024 / 28 whole, times 2 */
        {"qwen2_5_vl", "{\"vision_config\":{\"spatial_merge_size\":3}}", "encoder.tokens", "5184"},
        {"qwen2_5_vl", "{\"vision_config\":{\"patch_size\":16}}", "encoder.tokens", "4096"},
        {"qwen2_5_vl", "{\"vision_config\":{\"patch_size\":16}}", "encoder.patch", "1536"},
        {"qwen2_5_vl", "{\"vision_config\":{\"spatial_merge_size\":4}}", "encoder.merge", "16"},
        /* a tower of sound is that of a model that hears, and of its own config */
        {"qwen2_audio", "{}", "encoder.layers", "32"},
        {"qwen2_audio", "{\"audio_config\":null}", "encoder", ""},
        {"llama", "{\"audio_config\":{\"encoder_layers\":4}}", "encoder", ""},
    };
    ALL(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_layers),
        cmocka_unit_test(widths),
        cmocka_unit_test(shared_picks),
        cmocka_unit_test(pictures),
    };
    return cmocka_run_group_tests_name("hf_parts", tests, NULL, NULL);
}
