/* Hugging Face configs: tests/data/huggingface.jsonl holds the keys that make the size of each
 * model, and its parameters as published or as transformers builds it. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "config/huggingface.h"
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

static void check_counts(const cJSON *config, const char *name, double total, double active)
{
    struct sp_error error = {0};
    assert_true(sp_is_huggingface(config));
    cJSON *const native = sp_from_huggingface(config, name, NULL, &error);
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

static void published_totals(void **state)
{
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
        cJSON_Delete(row);
    }
    fclose(file);
    assert_true(rows >= 60);
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

/* Without a model_type the class says it. */
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
                 "\"num_attention_heads\":4,\"intermediate_size\":128,\"vocab_size\":100}",
                 names[i][0]);
        cJSON *const config = cJSON_Parse(text);
        cJSON *const native = sp_from_huggingface(config, "x.json", NULL, &error);
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
    assert_null(sp_from_huggingface(config, "x.json", NULL, &error));
    assert_int_equal(error.code, SP_INPUT);
    assert_non_null(strstr(error.text, "\"lama\" (LamaForCausalLM: 2 layers"));
    assert_non_null(strstr(error.text, "did you mean \"llama\"?"));
    error = (struct sp_error){0};
    cJSON *const native = sp_from_huggingface(config, "x.json", "llama", &error);
    assert_non_null(native);
    const struct sp_model model = model_of(native);
    assert_close(sp_count_params(&model).total, 2 * 6400 + 2 * (4 * 4096 + 3 * 64 * 128 + 128) + 64,
                 0);
    cJSON_Delete(native);
    error = (struct sp_error){0};
    assert_null(sp_from_huggingface(config, "x.json", "lama", &error));
    assert_non_null(strstr(error.text, "--assume"));
    cJSON_Delete(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_totals),
        cmocka_unit_test(nested_text),
        cmocka_unit_test(classes),
        cmocka_unit_test(unknown_architectures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
