/* Config files: every error has a line with its place, the nearest key, and what was expected. */
#include "check.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "config/load.h"
#include "config/read.h"

static const struct sp_sources no_sources;

static bool decode(const char *text, struct sp_model *model, struct sp_error *error)
{
    struct sp_json json;
    if (!sp_json_parse(text, strlen(text), "m.json", &json, error))
        return false;
    const bool ok = sp_decode_model(&json, model, error);
    sp_json_free(&json);
    return ok;
}

#define SHAPE                                                                                      \
    "\"layers\": 2, \"d_model\": 64, \"d_ff\": 128, \"heads\": 4, \"kv_heads\": 2, "               \
    "\"head_dim\": 16, \"vocab\": 100"

static void good_model(void **state)
{
    (void)state;
    struct sp_model m;
    struct sp_error error = {0};
    assert_true(decode("{" SHAPE ", \"name\": \"tiny\", \"gated_mlp\": true}", &m, &error));
    assert_string_equal(m.name, "tiny");
    assert_int_equal(m.layers, 2);
    assert_int_equal(m.norms_per_layer, 2);
    assert_true(m.gated_mlp);
    /* 2 layers of 2 x 64 x 16 x (4 + 2) + 3 x 64 x 128 + 2 x 64, 2 x 100 x 64, one norm. */
    assert_close(sp_count_params(&m).total, 2 * (12288 + 24576 + 128) + 12800 + 64, 0);
    assert_true(decode("{\"name\": \"r\", \"params\": 25e6, \"$schema\": \"x\"}", &m, &error));
    assert_close(sp_count_params(&m).total, 25e6, 0);
}

static void bad_models(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"{\"layer\": 2}", "m.json:1:2: model.layer: unknown key; did you mean \"layers\"?"},
        {"{\n \"d_modle\": 2}",
         "m.json:2:2: model.d_modle: unknown key; did you mean \"d_model\"?"},
        {"{\"xyzzy\": 2}", "m.json:1:2: model.xyzzy: unknown key"},
        {"{\"moe\": {\"expert\": 2}}", "did you mean \"moe.experts\"?"},
        {"{\"layers\": 1e300}", "m.json:1:2: layers must be from 1 to 10000"},
        {"{\"layers\": 0}", "layers must be from 1"},
        {"{\"layers\": -5}", "layers must be from 1"},
        {"{\"layers\": 2.5}", "layers must be a whole number"},
        {"{\"layers\": \"2\"}", "layers is text, expected a number"},
        {"{\"layers\": null}", "layers must be a number"},
        {"{\"layers\": [2]}", "layers must be a number"},
        {"{\"layers\": {\"value\": 2}}", "m.json:1:2: "},
        {"{\"gated_mlp\": 1}", "gated_mlp must be true or false"},
        {"{\"gated_mlp\": \"yes\"}", "gated_mlp is text, expected true or false"},
        {"{\"norm\": \"rmsnrom\"}", "did you mean \"rmsnorm\"?"},
        {"{\"norm\": 3}", "norm must be text"},
        {"{\"name\": 3}", "name must be text"},
        {"{\"name\": \"a name that is much longer than the sixty-three bytes there are for it\"}",
         "name is longer than 63 bytes"},
        {"{\"moe\": 3}", "m.json:1:2: "},
        {"{}", "model.layers is missing"},
        {"[]", "m.json:1:1: expected a JSON object"},
        {"{\"layers\": 2}", "model.d_model is missing"},
        {"{\"params\": 1e16}", "params must be from 1 to"},
        {"{\"params\": 0}", "params must be from 1 to"},
        {"{" SHAPE ", \"params\": 5}", "model.params is for models without layers"},
        {"{" SHAPE ", \"moe\": {\"experts\": 8}}", "model.moe.top_k is missing"},
        {"{" SHAPE ", \"moe\": {\"experts\": 4, \"top_k\": 8, \"d_ff_expert\": 16}}",
         "top_k is larger than model.moe.experts"},
        {"{" SHAPE ", \"moe\": {\"experts\": 4, \"top_k\": 2, \"d_ff_expert\": 16, "
         "\"dense_layers\": 3}}",
         "dense_layers is larger"},
        {"{" SHAPE ", \"moe\": {\"top_k\": 2}}", "model.moe.experts is missing"},
        {"{\"layers\": 10000, \"d_model\": 1000000, \"d_ff\": 10000000, \"heads\": 10, "
         "\"kv_heads\": 10, \"head_dim\": 100000, \"vocab\": 100}",
         "more than 10^15 parameters"},
        {"{\"layers\": 2, \"d_model\": 64, \"d_ff\": 128, \"heads\": 4, \"kv_heads\": 3, "
         "\"head_dim\": 16, \"vocab\": 100}",
         "kv_heads must divide model.heads"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_model m;
        struct sp_error error = {0};
        if (decode(rows[i].text, &m, &error))
            fail_msg("%s was accepted", rows[i].text);
        assert_int_equal(error.code, SP_INPUT);
        if (!strstr(error.text, rows[i].part))
            fail_msg("%s: \"%s\" lacks \"%s\"", rows[i].text, error.text, rows[i].part);
    }
}

/* Around the most parameters: 1000 layers of 2 x 10^6 d_ff and six vectors, two tables of 100
 * vectors and a norm. */
static void most_parameters(void **state)
{
    (void)state;
    for (int d_ff = 499990; d_ff <= 500000; d_ff += 10) {
        struct sp_model m;
        struct sp_error error = {0};
        char text[400];
        snprintf(
            text, sizeof text,
            "{\"layers\": 1000, \"d_model\": 1000000, \"d_ff\": %d, \"heads\": 1, \"kv_heads\": 1, "
            "\"head_dim\": 1, \"vocab\": 100, \"gated_mlp\": false}",
            d_ff);
        assert_true(decode(text, &m, &error) == (d_ff < 500000));
        if (d_ff < 500000)
            assert_close(sp_count_params(&m).total, 1000 * (2e6 * d_ff + 6e6) + 200e6 + 1e6, 1e-15);
    }
    struct sp_model m;
    struct sp_error error = {0};
    assert_true(decode("{\"params\": 1e15}", &m, &error));
    char name[65] = "";
    for (int n = 62; n <= 64; n++) { /* 63 bytes of a name */
        char text[200];
        memset(name, 'x', (size_t)n);
        snprintf(text, sizeof text, "{" SHAPE ", \"name\": \"%s\"}", name);
        error = (struct sp_error){0};
        assert_true(decode(text, &m, &error) == (n < 64));
    }
}

/* Texts of a list share one buffer, separated by a blank: it takes what fills it and no byte more.
 */
static void full_lists(void **state)
{
    (void)state;
    static struct sp_launch_words words;
    static char text[2 * sizeof words.versions], letters[sizeof words.versions];
    memset(letters, 'x', sizeof letters);
    for (int more = -1; more <= 1; more++)
        for (int first = 0; first <= 8; first += 8) { /* one text, or two */
            const int n = (int)sizeof words.versions - 1 + more - (first ? first + 1 : 0);
            char path[] = "/tmp/words-XXXXXX";
            const int file = mkstemp(path);
            const int length =
                snprintf(text, sizeof text, "{\"name\": \"w\", \"versions\": [%s%.*s%s\"%.*s\"]}",
                         first ? "\"" : "", first, letters, first ? "\", " : "", n, letters);
            assert_int_equal(write(file, text, (size_t)length), length);
            close(file);
            struct sp_error error = {0};
            memset(&words, 0, sizeof words);
            sp_read_launch_words(path, &no_sources, &words, &error);
            unlink(path);
            if ((strstr(error.text, "versions is longer than 95 bytes") != NULL) != (more > 0))
                fail_msg("%d bytes beyond: %s", more, error.text);
        }
}

/* Every file of profiles is a profile with a name. */
static void profiles(void **state)
{
    (void)state;
    static struct sp_profile known[SP_MAX_PROFILES];
    struct sp_error error = {0};
    size_t n = 0, files = 0;
    DIR *const folder = opendir(SCALEPLAN_SOURCE_DIR "/configs/profiles");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        files += strstr(entry->d_name, ".json") != NULL;
    closedir(folder);
    assert_true(sp_load_profiles(&no_sources, known, &n, &error));
    assert_int_equal(n, files);
    for (size_t i = 0; i < n; i++)
        assert_true(known[i].name[0] != '\0' && known[i].value[0] > 0);
}

/* Every wrong key has its own line. */
static void several_faults(void **state)
{
    (void)state;
    struct sp_model m;
    struct sp_error error = {0};
    assert_false(decode("{\"layer\": 2,\n \"d_modle\": 64,\n \"heads\": 0.5}", &m, &error));
    assert_int_equal(error.lines, 3);
    assert_non_null(strstr(error.text, "m.json:2:2"));
    assert_non_null(strstr(error.text, "m.json:3:2"));
}

static bool load_with(const char *model, const char *set, struct sp_model *m,
                      struct sp_error *error)
{
    const struct sp_sources sources = {.sets = &set, .n_sets = 1};
    *error = (struct sp_error){0};
    return sp_check_sets(&sources, error) && sp_load_model(model, &sources, m, error);
}

static void sets(void **state)
{
    (void)state;
    struct sp_model m;
    struct sp_error error;
    assert_true(load_with("gpt2", "model.layers=24", &m, &error));
    assert_int_equal(m.layers, 24);
    assert_true(load_with("gpt2", "model.vocab=50Ki", &m, &error));
    assert_int_equal(m.vocab, 51200);
    assert_true(load_with("gpt2", "model.tied_embeddings=false", &m, &error));
    assert_false(m.tied_embeddings);
    assert_true(load_with("gpt2", "hw.chip.hbm_bytes=3GB", &m, &error)); /* not the model's */
    static const struct {
        const char *set, *part;
    } rows[] = {
        {"model.layer=2", "did you mean \"model.layers\"?"},
        {"model.layers=", "--set layers: \"\" is not a number"},
        {"model.layers=2X", "--set layers: \"2X\" is not a number"},
        {"model.layers=-2", "\"-2\" is not a number"},
        {"model.layers=2W", "\"2W\" is in W, but the value is a plain number"},
        {"model.layers=50%", "\"50%\" is in per cent, but the value is a plain number"},
        {"model.training.seq=2s", "\"2s\" is in s, but the value is in tokens"},
        {"model.layers=1e18", "layers must be from 1 to 10000"},
        {"model.layers=0.5", "layers must be from 1"},
        {"model.layers=1.5", "whole number"},
        {"model.norm=x", "expected one of rmsnorm, layernorm, layernorm_nobias"},
        {"model.gated_mlp=1", "neither true nor false"},
        {"model.note=x", "unknown value"},
        {"model.=1", "unknown value"},
        {"layers=2", "expected a path under model., hw., precision., law., framework., profile., "
                     "engine., serving., format., trend., storage., grid. or site."},
        {"=", "expected a path under"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (load_with("gpt2", rows[i].set, &m, &error))
            fail_msg("--set %s was accepted", rows[i].set);
        assert_int_equal(error.code, SP_INPUT);
        assert_int_equal(error.lines, 1);
        if (!strstr(error.text, rows[i].part))
            fail_msg("\"%s\" lacks \"%s\"", error.text, rows[i].part);
    }
    assert_false(load_with("gpt2", "model.layers", &m, &error));
    assert_int_equal(error.code, SP_USAGE);
}

/* Setting the memory sets what verdicts compare with; textbook constants are separate. */
static void figures(void **state)
{
    (void)state;
    const char *const set = "hw.chip.hbm_bytes=80GiB";
    const struct sp_sources with_set = {.sets = &set, .n_sets = 1}, book = {.textbook = true};
    struct sp_hardware hw;
    struct sp_error error = {0};
    assert_true(sp_load_hardware("v5p", &with_set, &hw, &error));
    assert_close(sp_capacity_bytes(&hw.chip), 80 * 1073741824., 0);
    assert_true(sp_load_hardware("v5p", &book, &hw, &error));
    assert_close(sp_capacity_bytes(&hw.chip), 96e9, 0);
    assert_close(hw.chip.hbm_bytes_per_s, 2.8e12, 0);
    assert_true(sp_load_hardware("v5p", &no_sources, &hw, &error));
    assert_true(sp_capacity_bytes(&hw.chip) > 102e9);
    assert_close(hw.chip.hbm_bytes_per_s, 2.765e12, 0);
    assert_true(isnan(hw.chip.tdp_w)); /* not published */
}

static void bad_figures(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"{\"chip\": {\"hbm_bytes\": {\"valeu\": 3}}}", "unknown key, expected value, textbook"},
        {"{\"chip\": {\"hbm_bytes\": {\"source\": \"x\"}}}", "chip.hbm_bytes has no \"value\""},
        {"{\"chip\": {\"hbm_bytes\": {\"value\": \"3\"}}}", "must be a number"},
        {"{\"chip\": {\"hbm_bytes\": {\"value\": 3, \"source\": 4}}}", "must be text"},
        {"{\"chip\": {\"hbm_bytes\": 0}}", "chip.hbm_bytes must be from 1"},
        {"{\"chip\": {\"hbm_byts\": 3}}", "did you mean \"chip.hbm_bytes\"?"},
        {"{\"network\": {\"pod_shape\": \"16by16\"}}", "expected a shape such as 16x16x16"},
        {"{\"network\": {\"pod_shape\": \"16x16x16x16\"}}", "expected a shape such as"},
        {"{\"network\": {\"shapes\": \"4x4\"}}", "must be a list of shapes"},
        {"{\"network\": {\"shapes\": [\"4x4\", 3]}}", "must hold shapes such as"},
        {"{\"network\": {\"shapes\": [\"0x4\"]}}", "must hold shapes such as"},
        {"{\"network\": {\"domain\": 1e300}}", "network.domain must be from 1 to 100000"},
        {"{}", "hw.chip.peak_flops_per_s is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_hardware hw;
        struct sp_error error = {0};
        char path[64];
        FILE *const file = tmpfile();
        assert_non_null(file);
        fputs(rows[i].text, file);
        fflush(file);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
        if (sp_load_chip(path, &no_sources, &hw, &error))
            fail_msg("%s was accepted", rows[i].text);
        fclose(file);
        if (!strstr(error.text, rows[i].part))
            fail_msg("\"%s\" lacks \"%s\"", error.text, rows[i].part);
    }
}

/* A key printed by `show` can be set to the value it prints. */
static void round_trip(void **state)
{
    (void)state;
    struct sp_model m, copy;
    struct sp_error error = {0};
    assert_true(sp_load_model("deepseek-v3", &no_sources, &m, &error));
    for (size_t i = 0; i < sp_model_table.n; i++) {
        const struct sp_field *field = &sp_model_table.fields[i];
        char before[128], after[128];
        sp_format_field(field, &m, before, sizeof before);
        copy = m;
        if (field->type == SP_FIELD_PROSE || !before[0])
            continue;
        if (sp_field_number(field, &m) == 0 && field->min > 0)
            continue; /* not given */
        if (!sp_set_field(&sp_model_table, "--set", field->key, before, &copy, &error))
            fail_msg("%s", error.text);
        sp_format_field(field, &copy, after, sizeof after);
        assert_string_equal(before, after);
    }
}

/* Every built-in config is strict JSON and decodes, with every alias, and no two names are the
 * same. */
static void builtins(void **state)
{
    (void)state;
    assert_true(sp_n_builtins > 100);
    for (size_t i = 0; i < sp_n_builtins; i++) {
        const struct sp_builtin *b = &sp_builtins[i];
        struct sp_config config;
        struct sp_error error = {0};
        struct sp_json strict;
        if (!sp_json_parse(b->text, b->length, b->name, &strict, &error))
            fail_msg("%s", error.text);
        sp_json_free(&strict);
        assert_true(sp_open_config(b->kind, b->name, &no_sources, &config, &error));
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(config.json.root, "name");
        assert_string_equal(cJSON_GetStringValue(name), b->name);
        const cJSON *alias;
        cJSON_ArrayForEach(alias, cJSON_GetObjectItemCaseSensitive(config.json.root, "aliases"))
        {
            struct sp_config same;
            sp_cut_pair(alias->valuestring); /* "gb200-nvl72=72" */
            if (!sp_open_config(b->kind, alias->valuestring, &no_sources, &same, &error))
                fail_msg("%s", error.text);
            if (!strstr(same.origin, b->name))
                fail_msg("alias %s of %s leads to %s", alias->valuestring, b->name, same.origin);
            sp_config_free(&same);
        }
        sp_config_free(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_model),  cmocka_unit_test(full_lists),
        cmocka_unit_test(profiles),    cmocka_unit_test(most_parameters),
        cmocka_unit_test(bad_models),  cmocka_unit_test(several_faults),
        cmocka_unit_test(sets),        cmocka_unit_test(figures),
        cmocka_unit_test(bad_figures), cmocka_unit_test(round_trip),
        cmocka_unit_test(builtins),
    };
    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
