/* Hugging Face configs: tests/data/huggingface.jsonl has the keys that determine each model's size,
 * and its parameters as published or as built by transformers. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "hf/huggingface.h"
#include "config/load.h"

#include <scaleplan/scaleplan.h>

static struct sp_model model_of(const cJSON *document)
{
    const struct sp_json json = {.root = (cJSON *)(uintptr_t)document, .origin = "test"};
    struct sp_model model;
    struct sp_error error = {0};
    if (!sp_decode_model(&json, &model, &error))
        fail_msg("%s", error.text);
    return model;
}

/* A config that does not come from a file, called `origin` in messages. */
static cJSON *native_of(const cJSON *config, const char *origin, const char *assume,
                        struct sp_error *error)
{
    const struct sp_json json = {.root = (cJSON *)(uintptr_t)config, .origin = origin};
    *error = (struct sp_error){0};
    return sp_from_huggingface(&json, assume, error);
}

static void check_counts(const cJSON *config, const char *name, double total, double active)
{
    struct sp_error error = {0};
    assert_true(sp_is_huggingface(config));
    cJSON *const native = native_of(config, name, NULL, &error);
    if (!native)
        fail_msg("%s: %s", name, error.text);
    assert_false(sp_is_huggingface(native));
    /* Through text, as `import -o` and `--model` take it. */
    char *const text = cJSON_Print(native);
    cJSON *const again = cJSON_Parse(text);
    const struct sp_model model = model_of(again);
    const struct sp_params p = sp_count_params(&model);
    print_message("%-34s %.0f %.0f\n", name, p.total, p.active);
    assert_close(p.total, total, 0);
    assert_close(p.active, active, 0);
    cJSON_Delete(again);
    free(text);
    cJSON_Delete(native);
}

/* The model_type of a config, or of the text model nested in it. */
static const char *type_of(const cJSON *config)
{
    const cJSON *const text = cJSON_GetObjectItem(config, "text_config");
    const cJSON *const inner = cJSON_GetObjectItem(text, "model_type");
    return (inner ? inner : cJSON_GetObjectItem(config, "model_type"))->valuestring;
}

/* `seen` names every row of families.def, between spaces. */
static void every_family_is_among(const char *seen)
{
    char line[512], type[64], word[68];
    int families = 0;
    FILE *const file = fopen(SCALEPLAN_SOURCE_DIR "/src/hf/families.def", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "FAMILY(\"%63[^\"]", type) != 1)
            continue;
        snprintf(word, sizeof word, " %s ", type);
        if (!strstr(seen, word))
            fail_msg("tests/data/huggingface.jsonl has no model of the family %s", type);
        families++;
    }
    fclose(file);
    assert_true(families >= 36);
}

/* Every model has its published count, and every family has a model. */
static void published_totals(void **state)
{
    char seen[16384] = " ";
    char line[8192];
    int rows = 0;
    FILE *const file = fopen(SCALEPLAN_SOURCE_DIR "/tests/data/huggingface.jsonl", "r");
    (void)state;
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); rows++) {
        cJSON *const row = cJSON_Parse(line);
        assert_non_null(row);
        check_counts(cJSON_GetObjectItem(row, "config"),
                     cJSON_GetObjectItem(row, "name")->valuestring,
                     cJSON_GetObjectItem(row, "total")->valuedouble,
                     cJSON_GetObjectItem(row, "active")->valuedouble);
        strcat(seen, type_of(cJSON_GetObjectItem(row, "config")));
        strcat(seen, " ");
        cJSON_Delete(row);
    }
    fclose(file);
    assert_true(rows >= 60);
    every_family_is_among(seen);
}

/* A text model nested in a multimodal config counts as the same model alone. */
static void nested_text(void **state)
{
    static const char *const keys[] = {"text_config", "llm_config", "language_config"};
    static const char text[] =
        "{\"model_type\":\"qwen2\",\"hidden_size\":64,\"intermediate_size\":128,"
        "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_key_value_heads\":2,"
        "\"vocab_size\":100,\"tie_word_embeddings\":false}";
    (void)state;
    /* tables 2 * 6400; block: q 4096 + 64, k and v 2 * (2048 + 32), o 4096, MLP 3 * 8192, norms 128
     */
    const double total = 12800 + 2 * (4160 + 4160 + 4096 + 24576 + 128) + 64;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        cJSON *const outer = cJSON_CreateObject();
        cJSON_AddStringToObject(outer, "model_type", "some_vision_model");
        cJSON_AddItemToObject(outer, keys[i], cJSON_Parse(text));
        check_counts(outer, keys[i], total, total);
        cJSON_Delete(outer);
    }
}

/* Without a model_type the class gives it. */
static void classes(void **state)
{
    static const char *const names[][2] = {{"LlamaForCausalLM", "llama"},
                                           {"Qwen2MoeForCausalLM", "qwen2_moe"},
                                           {"DeepseekV3ForCausalLM", "deepseek_v3"},
                                           {"Glm4MoeForCausalLM", "glm4_moe"},
                                           {"OPTForCausalLM", "opt"}};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[512];
        struct sp_error error = {0};
        snprintf(text, sizeof text,
                 "{\"architectures\":[\"%s\"],\"hidden_size\":64,\"num_hidden_layers\":2,"
                 "\"num_attention_heads\":4,\"intermediate_size\":128,\"vocab_size\":100,"
                 "\"n_routed_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,"
                 "\"kv_lora_rank\":null}",
                 names[i][0]);
        cJSON *const config = cJSON_Parse(text);
        cJSON *const native = native_of(config, "x.json", NULL, &error);
        if (!native)
            fail_msg("%s", error.text);
        assert_string_equal(cJSON_GetObjectItem(native, "family")->valuestring, names[i][1]);
        cJSON_Delete(native);
        cJSON_Delete(config);
    }
}

static void unknown_architectures(void **state)
{
    cJSON *const config =
        cJSON_Parse("{\"model_type\":\"lama\",\"architectures\":[\"LamaForCausalLM\"],"
                    "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,"
                    "\"intermediate_size\":128,\"vocab_size\":100}");
    struct sp_error error = {0};
    (void)state;
    assert_null(native_of(config, "x.json", NULL, &error));
    assert_int_equal(error.code, SP_INPUT);
    assert_non_null(strstr(error.text, "\"lama\" (LamaForCausalLM: 2 layers"));
    assert_non_null(strstr(error.text, "did you mean \"llama\"?"));
    error = (struct sp_error){0};
    cJSON *const native = native_of(config, "x.json", "llama", &error);
    assert_non_null(native);
    const struct sp_model model = model_of(native);
    assert_close(sp_count_params(&model).total, 2 * 6400 + 2 * (4 * 4096 + 3 * 64 * 128 + 128) + 64,
                 0);
    cJSON_Delete(native);
    error = (struct sp_error){0};
    assert_null(native_of(config, "x.json", "lama", &error));
    assert_non_null(strstr(error.text, "--assume"));
    cJSON_Delete(config);
}

static void check_refused(const char *text, const char *assume, const char *why)
{
    struct sp_error error;
    cJSON *const config = cJSON_Parse(text);
    assert_non_null(config);
    cJSON *const native = native_of(config, "x.json", assume, &error);
    if (native || strncmp(error.text, why, strlen(why)) != 0)
        fail_msg("%s: \"%s\", expected \"%s\"", text, error.text, why);
    cJSON_Delete(config);
}

#define SIZES                                                                                      \
    "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":100"
#define WIDE SIZES ",\"intermediate_size\":128"
#define SIZE_WANTED " is missing, expected a whole number from 1 to 10^9"

/* Sizes that define a model are never guessed: number of experts, latents, width of a gated MLP. */
static void missing_parts(void **state)
{
    static const char *const rows[][3] = {
        {"{\"model_type\":\"llama\"," SIZES "}", NULL, "intermediate_size"},
        {"{\"model_type\":\"gemma3_text\",\"hidden_size\":64,\"num_hidden_layers\":2,"
         "\"num_attention_heads\":4,\"intermediate_size\":128}",
         NULL, "vocab_size"},
        {"{\"model_type\":\"mixtral\"," WIDE ",\"num_experts_per_tok\":2}", NULL,
         "num_local_experts"},
        {"{\"model_type\":\"mixtral\"," WIDE ",\"num_local_experts\":8}", NULL,
         "num_experts_per_tok"},
        {"{\"model_type\":\"qwen3_moe\"," WIDE ",\"num_experts\":8,\"num_experts_per_tok\":2}",
         NULL, "moe_intermediate_size"},
        {"{\"model_type\":\"qwen3_moe\"," WIDE
         ",\"moe_intermediate_size\":32,\"num_experts\":null,\"num_experts_per_tok\":2}",
         NULL, "num_experts"},
        {"{\"model_type\":\"deepseek_v3\"," WIDE ",\"kv_lora_rank\":null,"
         "\"moe_intermediate_size\":32,\"num_experts_per_tok\":2}",
         NULL, "num_local_experts"},
        {"{\"model_type\":\"deepseek_v3\"," WIDE ",\"kv_lora_rank\":16,\"qk_nope_head_dim\":16,"
         "\"qk_rope_head_dim\":8,\"n_routed_experts\":4,\"moe_intermediate_size\":32,"
         "\"num_experts_per_tok\":2}",
         NULL, "v_head_dim"},
        /* A dense family may have experts, as with --assume llama for a mixture, but not some of
         * their sizes. */
        {"{\"model_type\":\"odd\"," WIDE ",\"num_local_experts\":8}", "llama",
         "num_experts_per_tok"},
        {"{\"model_type\":\"odd\"," WIDE ",\"num_experts_per_tok\":2,\"ffn\":{\"experts\":16}}",
         "mixtral", "num_local_experts"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[160];
        snprintf(why, sizeof why, "x.json: %s" SIZE_WANTED, rows[i][2]);
        check_refused(rows[i][0], rows[i][1], why);
    }
    check_refused("{\"model_type\":\"llama\"," WIDE ",\"num_key_value_heads\":3}", NULL,
                  "x.json: num_key_value_heads: 3 does not divide the 4 attention heads");
    check_refused("{\"model_type\":\"llama\"," SIZES ",\"intermediate_size\":[128]}", NULL,
                  "x.json: intermediate_size: numbers that differ between layers");
    check_refused("{\"model_type\":\"llama\"," SIZES ",\"intermediate_size\":[]}", NULL,
                  "x.json: intermediate_size: expected a whole number from 1 to 10^9");
    check_refused(
        "{\"model_type\":\"qwen2_vl\",\"text_config\":{" SIZES ",\"intermediate_size\":0.5}}", NULL,
        "x.json: text_config.intermediate_size: expected a whole number from 1 to 10^9");
}

/* transformers omits a key of a nested config with its family's default, and none of a whole
 * config. null differs from absent: as many KV heads as heads. */
static void nested_defaults(void **state)
{
    struct sp_error error;
    cJSON *const config = cJSON_Parse("{\"model_type\":\"x\",\"text_config\":{\"model_type\":"
                                      "\"mistral\",\"num_key_value_heads\":null,"
                                      "\"sliding_window\":null,\"num_hidden_layers\":2}}");
    (void)state;
    cJSON *const native = native_of(config, "x.json", NULL, &error);
    assert_non_null(native);
    const struct sp_model m = model_of(native);
    assert_int_equal(m.layers, 2);
    assert_int_equal(m.d_model, 4096);
    assert_int_equal(m.d_ff, 14336);
    assert_int_equal(m.heads, 32);
    assert_int_equal(m.kv_heads, 32);
    assert_int_equal(m.vocab, 32000);
    assert_int_equal(m.sliding_window, 0);
    cJSON_Delete(native);
    /* Defaults of another family do not apply. */
    assert_null(native_of(config, "x.json", "llama", &error));
    assert_non_null(strstr(error.text, "text_config.vocab_size" SIZE_WANTED));
    cJSON_Delete(config);
}

/* The name: the config's own, else the file's, else the folder's, else the family's. */
static void names(void **state)
{
    static const char *const rows[][3] = {
        {"Qwen3-32B.json", "", "Qwen3-32B"},
        {"dir/Qwen3-32B.json", "", "Qwen3-32B"},
        {"Qwen3-32B/config.json", "", "Qwen3-32B"},
        {"/models/Qwen3-32B/config.json", "", "Qwen3-32B"},
        {"/models/Qwen3-32B/config.json", ",\"_name_or_path\":\"Qwen/Qwen3\"", "Qwen/Qwen3"},
        {"config.json", "", "llama"},
        {"./config.json", "", "llama"},
        {"../config.json", "", "llama"},
        {"/config.json", "", "llama"},
        {"snapshots/9216db5781bf21249d130ec9da846c4624c16137/config.json", "", "llama"},
        {"standard input", "", "llama"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        struct sp_error error;
        snprintf(text, sizeof text, "{\"model_type\":\"llama\"," WIDE "%s}", rows[i][1]);
        cJSON *const config = cJSON_Parse(text);
        cJSON *const native = native_of(config, rows[i][0], NULL, &error);
        assert_non_null(native);
        assert_string_equal(cJSON_GetObjectItem(native, "name")->valuestring, rows[i][2]);
        cJSON_Delete(native);
        cJSON_Delete(config);
    }
}

/* A name in the config is taken up to 59 letters; a longer one is some path, and the file's name
 * is used. */
static void long_names(void **state)
{
    (void)state;
    for (int length = 58; length <= 61; length++) {
        char text[512];
        struct sp_error error;
        snprintf(text, sizeof text,
                 "{\"model_type\":\"llama\"," WIDE ",\"_name_or_path\":\"%.*s\"}", length,
                 "0123456789012345678901234567890123456789012345678901234567890123456789");
        cJSON *const config = cJSON_Parse(text);
        cJSON *const native = native_of(config, "own.json", NULL, &error);
        assert_non_null(native);
        const char *const name = cJSON_GetObjectItem(native, "name")->valuestring;
        assert_int_equal(strlen(name), length < 60 ? length : 3);
        cJSON_Delete(native);
        cJSON_Delete(config);
    }
}

/* Which layers have windows: gpt-oss lists them; Gemma 2 every second; Gemma 3 five of six; Qwen 2
 * the last ones, if at all; Mistral all. */
static void windows(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        int64_t window, global_every, global_first;
    } rows[] = {
        {"\"model_type\":\"gpt_oss\",\"sliding_window\":128,\"num_local_experts\":4,"
         "\"num_experts_per_tok\":2,\"layer_types\":[\"sliding_attention\","
         "\"full_attention\",\"sliding_attention\",\"full_attention\"]",
         128, 2, 0},
        {"\"model_type\":\"gemma2\",\"sliding_window\":4096", 4096, 2, 0},
        {"\"model_type\":\"gemma3_text\",\"sliding_window\":512,\"sliding_window_pattern\":4", 512,
         4, 0},
        {"\"model_type\":\"mistral\",\"sliding_window\":4096", 4096, 0, 0},
        {"\"model_type\":\"mistral\",\"sliding_window\":null", 0, 0, 0},
        {"\"model_type\":\"qwen2\",\"sliding_window\":99,\"use_sliding_window\":false", 0, 0, 0},
        {"\"model_type\":\"qwen2\",\"sliding_window\":99,\"use_sliding_window\":true,"
         "\"max_window_layers\":3",
         99, 0, 3},
        {"\"model_type\":\"mistral\",\"sliding_window\":99,\"layer_types\":"
         "[\"full_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\"]",
         99, 0, 3},
        {"\"model_type\":\"qwen2\",\"sliding_window\":99,\"use_sliding_window\":true,"
         "\"max_window_layers\":28",
         0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        struct sp_error error;
        snprintf(text, sizeof text,
                 "{%s,\"hidden_size\":64,\"intermediate_size\":128,\"num_hidden_layers\":4,"
                 "\"num_attention_heads\":4,\"vocab_size\":100}",
                 rows[i].config);
        cJSON *const config = cJSON_Parse(text);
        assert_non_null(config);
        cJSON *const native = native_of(config, "windows", NULL, &error);
        if (!native)
            fail_msg("%s: %s", text, error.text);
        const struct sp_model m = model_of(native);
        if (m.sliding_window != rows[i].window || m.global_every != rows[i].global_every ||
            m.global_first != rows[i].global_first)
            fail_msg("%s: %lld every %lld after %lld", text, (long long)m.sliding_window,
                     (long long)m.global_every, (long long)m.global_first);
        cJSON_Delete(native);
        cJSON_Delete(config);
    }
}

/* The config of that name in the samples; cJSON_Delete() it. */
static cJSON *sample(const char *name)
{
    char *line = NULL;
    size_t room = 0;
    cJSON *config = NULL;
    FILE *const file = fopen(SCALEPLAN_SOURCE_DIR "/tests/data/huggingface.jsonl", "r");
    assert_non_null(file);
    while (!config && getline(&line, &room, file) > 0) {
        cJSON *const row = cJSON_Parse(line);
        if (row && strcmp(cJSON_GetObjectItem(row, "name")->valuestring, name) == 0)
            config = cJSON_DetachItemFromObject(row, "config");
        cJSON_Delete(row);
    }
    free(line);
    fclose(file);
    assert_non_null(config);
    return config;
}

/* The config with a number of one of its parts set: a key of the model as it is read, and its text.
 */
static double value_with(const char *name, const char *part, const char *key, double value,
                         const char *group, const char *of, char text[4000])
{
    struct sp_error error;
    cJSON *const config = sample(name);
    cJSON *const in = *part ? cJSON_GetObjectItem(config, part) : config;
    assert_non_null(in);
    cJSON_DeleteItemFromObject(in, key);
    cJSON_AddNumberToObject(in, key, value);
    cJSON *const native = native_of(config, name, NULL, &error);
    if (!native)
        fail_msg("%s", error.text);
    const cJSON *const there = *group ? cJSON_GetObjectItem(native, group) : native;
    const double found = cJSON_GetNumberValue(cJSON_GetObjectItem(there, of));
    char *const printed = cJSON_PrintUnformatted(native);
    snprintf(text, 4000, "%s", printed);
    free(printed);
    cJSON_Delete(native);
    cJSON_Delete(config);
    return found;
}

/* Gemma 4's layers of full attention: as many key heads as stated for them, if keys are values;
 * else as many as the others have. Llama 4 merges 1 / ratio patches per side; with a typed ratio of
 * a third, 3^2 make a token. */
static void parts_of_models(void **state)
{
    (void)state;
    char text[4000];
    for (int heads = 1; heads <= 4; heads *= 2)
        assert_close(value_with("gemma-4-26B-A4B", "text_config", "num_global_key_value_heads",
                                heads, "", "kv_heads", text),
                     heads, 0);
    const double others = value_with("gemma-4-26B-A4B", "text_config", "num_global_key_value_heads",
                                     0, "local_attention", "kv_heads", text);
    assert_close(value_with("gemma-4-26B-A4B", "text_config", "num_global_key_value_heads", 0, "",
                            "kv_heads", text),
                 others, 0);
    /* LFM2's dense layers: as many as stated, also one. */
    for (int layers = 1; layers <= 3; layers++)
        assert_close(
            value_with("LFM2-8B-A1B", "", "num_dense_layers", layers, "moe", "dense_layers", text),
            layers, 0);
    /* Gemma3MultiModalProjector of transformers: a window of image // patch // sqrt(tokens) patches
     * a side. */
    const struct {
        double image, pooled, window;
    } windows_of[] = {{896, 256, 4}, {980, 256, 4}, {1120, 256, 5}, {896, 64, 8}};
    for (size_t i = 0; i < sizeof windows_of / sizeof *windows_of; i++) {
        cJSON *const config = sample("gemma-3-4b-it");
        struct sp_error error;
        cJSON *const vision = cJSON_Parse(
            "{\"model_type\":\"siglip_vision_model\",\"hidden_size\":1152,\"patch_size\":14,"
            "\"intermediate_size\":4304,\"num_attention_heads\":16,\"num_hidden_layers\":27}");
        cJSON_AddNumberToObject(vision, "image_size", windows_of[i].image);
        cJSON_AddItemToObject(config, "vision_config", vision);
        cJSON_AddNumberToObject(config, "mm_tokens_per_image", windows_of[i].pooled);
        cJSON *const native = native_of(config, "x", NULL, &error);
        assert_non_null(native);
        assert_close(cJSON_GetNumberValue(
                         cJSON_GetObjectItem(cJSON_GetObjectItem(native, "encoder"), "merge")),
                     pow(windows_of[i].window, 2), 0);
        cJSON_Delete(native);
        cJSON_Delete(config);
    }
    const char *const llama = "Llama-4-Scout-17B-16E-Instruct, with its tower";
    const struct {
        double ratio, merged;
    } ratios[] = {{0.5, 2}, {0.3333333, 3}, {0.25, 4}};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        assert_close(value_with(llama, "vision_config", "pixel_shuffle_ratio", ratios[i].ratio,
                                "encoder", "merge", text),
                     pow(ratios[i].merged, 2), 0);
    assert_non_null(strstr(text, "one picture of"));
    assert_null(strstr(text, "one recording of"));
    value_with("Qwen2-Audio-7B", "audio_config", "num_mel_bins", 128, "encoder", "tokens", text);
    assert_non_null(strstr(text, "one recording of"));
    assert_null(strstr(text, "one picture of"));
}

/* The native text of a sample with a key of one of its parts ("": of the whole) set to a value in
 * JSON, or without the key where that is NULL; "refused" where it is. free() it. */
static char *native_with(const char *name, const char *part, const char *key, const char *value)
{
    struct sp_error error;
    cJSON *const config = sample(name);
    cJSON *const in = *part ? cJSON_GetObjectItem(config, part) : config;
    assert_non_null(in);
    cJSON_DeleteItemFromObject(in, key);
    if (value)
        cJSON_AddItemToObject(in, key, cJSON_Parse(value));
    cJSON *const native = native_of(config, name, NULL, &error);
    char *const text = native ? cJSON_PrintUnformatted(native) : strdup("refused");
    cJSON_Delete(native);
    cJSON_Delete(config);
    return text;
}

/* The value of a key that is left out: the default of transformers' configuration_*.py (2025). The
 * same model as with the default written, and another with another value. */
static void defaults_of_transformers(void **state)
{
    (void)state;
    static const char *const jamba = "Jamba-v0.1", *const lfm2 = "LFM2-1.2B",
                             *const qwen = "Qwen2-VL-2B-Instruct", *const falcon = "falcon-7b",
                             *const mllama = "Llama-3.2-11B-Vision", *const mamba = "mamba-130m-hf";
    const struct {
        const char *name, *part, *key, *by_default, *other;
    } rows[] = {
        {jamba, "", "expert_layer_period", "2", "4"},
        {jamba, "", "expert_layer_offset", "1", "0"},
        {jamba, "", "mamba_conv_bias", "true", "false"},
        {jamba, "", "mamba_proj_bias", "false", "true"},
        {jamba, "", "mamba_dt_rank", "256", "128"}, /* "auto": ceil(4096 / 16) */
        {jamba, "", "mamba_d_state", "16", "32"},
        {jamba, "", "mamba_d_conv", "4", "5"},
        {jamba, "", "mamba_expand", "2", "3"},
        {mamba, "", "time_step_rank", "48", "64"}, /* "auto": ceil(768 / 16) */
        {mamba, "", "state_size", "16", "32"},
        {mamba, "", "conv_kernel", "4", "5"},
        {mamba, "", "use_bias", "false", "true"},
        {mamba, "", "use_conv_bias", "true", "false"},
        {lfm2, "", "conv_L_cache", "3", "4"},
        {lfm2, "", "conv_bias", "false", "true"},
        {lfm2, "", "block_multiple_of", "256", "3000"},
        {lfm2, "", "block_ffn_dim_multiplier", "1.0", "1.5"},
        {lfm2, "", "block_auto_adjust_ff_dim", "true", "false"},
        {qwen, "vision_config", "spatial_merge_size", "2", "1"},
        {qwen, "vision_config", "temporal_patch_size", "2", "1"},
        {qwen, "vision_config", "mlp_ratio", "4", "2"},
        {mllama, "vision_config", "max_num_tiles", "4", "2"},
        {mllama, "vision_config", "num_global_layers", "8", "4"},
        {falcon, "", "new_decoder_architecture", "false", "true"},
        {falcon, "", "multi_query", "true", "false"},
        {falcon, "", "parallel_attn", "true", "false"},
        {falcon, "", "bias", "false", "true"},
        {"Qwen2-Audio-7B", "audio_config", "num_mel_bins", "128", "80"},
        {"Qwen2-Audio-7B", "audio_config", "max_source_positions", "1500", "3000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *const left_out = native_with(rows[i].name, rows[i].part, rows[i].key, NULL);
        char *const said = native_with(rows[i].name, rows[i].part, rows[i].key, rows[i].by_default);
        char *const other = native_with(rows[i].name, rows[i].part, rows[i].key, rows[i].other);
        if (strcmp(left_out, said) != 0 || strcmp(said, other) == 0)
            fail_msg("%s, %s:\nwithout it %s\n%s: %s\n%s: %s", rows[i].name, rows[i].key, left_out,
                     rows[i].by_default, said, rows[i].other, other);
        free(left_out);
        free(said);
        free(other);
    }
}

/* Which of the config's keys make a difference when left out, as letters y or n. */
static void find_missed(const cJSON *config, const char *experts, int n, char *out)
{
    for (const cJSON *key = config->child; key; key = key->next) {
        struct sp_error error;
        cJSON *const less = cJSON_Duplicate(config, true);
        cJSON_ReplaceItemInObject(less, experts, cJSON_CreateNumber(n));
        if (strcmp(key->string, experts) != 0 && strcmp(key->string, "model_type") != 0)
            cJSON_DeleteItemFromObject(less, key->string);
        cJSON *const native = native_of(less, "x", NULL, &error);
        *out++ = !native && strstr(error.text, "is missing") ? 'y' : 'n';
        cJSON_Delete(native);
        cJSON_Delete(less);
    }
    *out = '\0';
}

/* A mixture of one expert needs the sizes that one of two needs, except Jamba's, which
 * transformers' modeling_jamba.py makes a plain MLP. */
static void one_expert(void **state)
{
    (void)state;
    static const char *const keys[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                       "moe_num_experts"};
    char *line = NULL;
    size_t room = 0;
    int tried = 0;
    FILE *const file = fopen(SCALEPLAN_SOURCE_DIR "/tests/data/huggingface.jsonl", "r");
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        cJSON *const row = cJSON_Parse(line);
        const cJSON *const config = cJSON_GetObjectItem(row, "config");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (cJSON_IsNumber(cJSON_GetObjectItem(config, keys[i])) &&
                strcmp(type_of(config), "jamba") != 0) {
                char one[200], two[200];
                assert_true(cJSON_GetArraySize(config) < 200);
                find_missed(config, keys[i], 1, one);
                find_missed(config, keys[i], 2, two);
                if (strcmp(one, two) != 0)
                    fail_msg("%s: %s, of two %s", cJSON_GetObjectItem(row, "name")->valuestring,
                             one, two);
                tried++;
            }
        cJSON_Delete(row);
    }
    assert_true(tried > 30);
    free(line);
    fclose(file);
}

/* How compressed-tensors (vLLM's format of llm-compressor) names what it quantizes: bits and kind
 * of the weights; where inputs are quantized too, matmuls are in that format. */
static void compressed_tensors(void **state)
{
    (void)state;
    static const char group[] =
        "{\"quant_method\":\"compressed-tensors\",\"config_groups\":"
        "{\"group_0\":{\"weights\":{\"num_bits\":%d,\"type\":\"%s\"%s}%s}}}",
                      inputs[] = ",\"input_activations\":{\"num_bits\":8,\"type\":\"int\"}";
    const struct {
        int bits;
        const char *type, *more, *beside, *weights;
    } rows[] = {{8, "int", "", inputs, "int8"},
                {8, "int", "", "", "int8"},
                {4, "int", "", "", "int4_wo"},
                {4, "int", "", inputs, "int4"},
                {8, "float", "", inputs, "fp8"},
                {8, "float", ",\"block_structure\":[128,128]", inputs, "fp8_block"},
                {4, "float", "", inputs, "nvfp4"},
                {2, "int", "", "", NULL},
                {16, "float", "", inputs, NULL},
                {3, "float", "", inputs, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char said[400], wanted[40];
        snprintf(said, sizeof said, group, rows[i].bits, rows[i].type, rows[i].more,
                 rows[i].beside);
        char *const text = native_with("LFM2-1.2B", "", "quantization_config", said);
        snprintf(wanted, sizeof wanted, "\"weights\":\"%s\"",
                 rows[i].weights ? rows[i].weights : "");
        if (rows[i].weights ? !strstr(text, wanted) : strstr(text, "\"weights\"") != NULL)
            fail_msg("%s: %s, expected %s", said, text, rows[i].weights);
        free(text);
    }
}

/* Qwen2.5-VL lists the layers whose attention is of the whole picture: of 32, evenly spaced and as
 * many as the list has. Mamba's rank of the step size is a sixteenth of the width, rounded up.
 */
static void layers_and_ranks(void **state)
{
    (void)state;
    for (int full = 1; full <= 6; full++) {
        char list[80] = "[";
        for (int i = 0; i < full; i++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", i ? "," : "", 5 * i);
        strcat(list, "]");
        char *const text =
            native_with("Qwen2.5-VL-3B-Instruct", "vision_config", "fullatt_block_indexes", list);
        const char *const every = strstr(text, "\"global_every\":");
        assert_non_null(every);
        assert_int_equal(32 / atoi(every + strlen("\"global_every\":")), full);
        free(text);
    }
    char *const rank = native_with("mamba-130m-hf", "", "time_step_rank", "\"auto\"");
    assert_non_null(strstr(rank, "\"dt_rank\":48"));
    free(rank);
    for (int width = 1023; width <= 1041; width++) {
        cJSON *const config = sample("mamba-130m-hf");
        struct sp_error error;
        cJSON_DeleteItemFromObject(config, "time_step_rank");
        cJSON_DeleteItemFromObject(config, "d_model");
        cJSON_ReplaceItemInObject(config, "hidden_size", cJSON_CreateNumber(width));
        cJSON *const native = native_of(config, "x", NULL, &error);
        const cJSON *const state_space = cJSON_GetObjectItem(native, "state_space");
        assert_non_null(state_space);
        assert_close(cJSON_GetNumberValue(cJSON_GetObjectItem(state_space, "dt_rank")),
                     (width + 15) / 16, 0);
        cJSON_Delete(native);
        cJSON_Delete(config);
    }
}

/* Towers for pictures of any size see one of 1024 pixels a side, in whole groups of merged patches:
 * 36 groups of 2 x 14 pixels, 32 of 2 x 16, 73 of 14. */
static void pictures_of_any_size(void **state)
{
    (void)state;
    const struct {
        double patch, merge, side;
    } rows[] = {{14, 2, 72}, {16, 2, 64}, {14, 1, 73}, {20, 3, 51}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *const config = sample("Qwen2-VL-2B-Instruct");
        cJSON *const vision = cJSON_GetObjectItem(config, "vision_config");
        struct sp_error error;
        cJSON_DeleteItemFromObject(vision, "patch_size");
        cJSON_AddNumberToObject(vision, "patch_size", rows[i].patch);
        cJSON_DeleteItemFromObject(vision, "spatial_merge_size");
        cJSON_AddNumberToObject(vision, "spatial_merge_size", rows[i].merge);
        cJSON *const native = native_of(config, "x", NULL, &error);
        assert_non_null(native);
        const cJSON *const encoder = cJSON_GetObjectItem(native, "encoder");
        assert_close(cJSON_GetNumberValue(cJSON_GetObjectItem(encoder, "tokens")),
                     pow(rows[i].side, 2), 0);
        cJSON_Delete(native);
        cJSON_Delete(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(published_totals),
        cmocka_unit_test(nested_text),
        cmocka_unit_test(classes),
        cmocka_unit_test(unknown_architectures),
        cmocka_unit_test(missing_parts),
        cmocka_unit_test(nested_defaults),
        cmocka_unit_test(parts_of_models),
        cmocka_unit_test(defaults_of_transformers),
        cmocka_unit_test(pictures_of_any_size),
        cmocka_unit_test(layers_and_ranks),
        cmocka_unit_test(compressed_tensors),
        cmocka_unit_test(one_expert),
        cmocka_unit_test(names),
        cmocka_unit_test(long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
