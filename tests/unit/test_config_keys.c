/* No key of a Hugging Face config that matters is silently ignored: each key of each config of
 * tests/data/huggingface.jsonl, and of ../shared/data/hf if it exists beside the repository, is
 * changed alone. Then an answer changes, the config is refused, or families.def lists the key as
 * harmless. Answers are compared with those of the config itself, so no value is needed here. */
#include "check.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "hf/huggingface.h"
#include "config/load.h"

#include <scaleplan/scaleplan.h>

enum { ANSWERS = 13 };
struct answers {
    double of[ANSWERS];
    char notes[2048]; /* the reader's note on parts that are not counted */
};

/* Parameters, FLOPs, cache, memory, formats. */
static struct answers answers_of(const struct sp_model *m)
{
    const struct sp_params p = sp_count_params(m);
    const struct sp_flops near = sp_forward_flops_per_token(m, 512, true, false),
                          far = sp_forward_flops_per_token(m, 1 << 20, true, false);
    const double T = 1 << 20;
    return (struct answers){{p.total, p.active, p.encoder, p.embedding, p.norm, near.total,
                             far.total, sp_kv_bytes_of_sequence(m, T, 2), sp_kv_bytes_read(m, T, 2),
                             sp_state_bytes_of_sequence(m), sp_carried_width(m),
                             m->weights * 100. + m->expert_weights * 10 + m->kv,
                             (double)m->moe.groups * 1000 + (double)m->moe.top_groups},
                            ""};
}

static bool are_equal(const struct answers *a, const struct answers *b)
{
    for (int i = 0; i < ANSWERS; i++)
        if (a->of[i] < b->of[i] || a->of[i] > b->of[i])
            return false;
    return strcmp(a->notes, b->notes) == 0;
}

enum reading { READ, REFUSED, REFUSED_LATE };

/* Reads a config through the text of its native form, as --model does. */
static enum reading read_config(const cJSON *config, struct answers *out, struct sp_error *error)
{
    const struct sp_json json = {.root = (cJSON *)(uintptr_t)config, .origin = "config.json"};
    struct sp_model model;
    *error = (struct sp_error){0};
    cJSON *const native = sp_from_huggingface(&json, NULL, error);
    if (!native)
        return REFUSED;
    const struct sp_json own = {.root = native, .origin = "config.json"};
    const bool decoded = sp_decode_model(&own, &model, error);
    if (decoded) {
        *out = answers_of(&model);
        for (int i = 0; sp_huggingface_remark(native, i); i++)
            sp_append(out->notes, sizeof out->notes, "%s\n", sp_huggingface_remark(native, i));
    }
    cJSON_Delete(native);
    if (!decoded)
        return REFUSED_LATE;
    return READ;
}

/* The rows HARMLESS(type, keys) of families.def; type "": of all. */
static const struct {
    const char *type, *keys;
} harmless[] = {
#define FAMILY(...)
#define SIZES(...)
#define SAME(...)
#define DEFAULT(...)
#define RENAME(...)
#define HARMLESS(type, ...) {type, " " __VA_ARGS__ " "},
#include "hf/families.def"
};

static bool is_harmless(const char *type, const char *key)
{
    char word[260];
    snprintf(word, sizeof word, " %s ", key);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if ((!*harmless[i].type || strcmp(harmless[i].type, type) == 0) &&
            strstr(harmless[i].keys, word))
            return true;
    return false;
}

/* Another value in place of a member, or NULL if there is no such one: for a number twice it, one
 * more, half of it, one; for a boolean the other; for a text another; for a list without its last,
 * with another first, empty; for null a number and true. */
enum { CHANGES = 5 };
static cJSON *changed(const cJSON *at, int change)
{
    const double value = at->valuedouble;
    const double numbers[CHANGES] = {2 * value, value + 1, floor(value / 2), 1, 0};
    if (cJSON_IsNumber(at))
        return cJSON_CreateNumber(numbers[change]);
    if (cJSON_IsNull(at))
        return change == 0 ? cJSON_CreateNumber(4) : change == 1 ? cJSON_CreateTrue() : NULL;
    if (cJSON_IsArray(at)) {
        cJSON *const list = change < 3 ? cJSON_Duplicate(at, true) : NULL;
        const cJSON *const first = cJSON_GetArrayItem(at, 0);
        if (list && change == 0 && first)
            cJSON_DeleteItemFromArray(list, cJSON_GetArraySize(list) - 1);
        else if (list && change == 1 && first && cJSON_IsNumber(first))
            cJSON_ReplaceItemInArray(list, 0, cJSON_CreateNumber(first->valuedouble + 1));
        else if (list && change == 1 && first && cJSON_IsString(first))
            cJSON_ReplaceItemInArray(list, 0, cJSON_CreateString("another"));
        else if (list && change == 2)
            while (cJSON_GetArraySize(list) > 0)
                cJSON_DeleteItemFromArray(list, 0);
        if (list && change < 2 && !first)
            cJSON_AddItemToArray(list, cJSON_CreateNumber(change));
        return list;
    }
    if (change > 0)
        return NULL;
    return cJSON_IsBool(at)     ? cJSON_CreateBool(!cJSON_IsTrue(at))
           : cJSON_IsString(at) ? cJSON_CreateString("another")
                                : NULL;
}

struct walk {
    cJSON *config;
    const char *name, *type;
    struct answers own;
    int keys, silent, late;
};

static void try_members(struct walk *w, cJSON *object, const char *path);

static void try_member(struct walk *w, cJSON *object, const char *key, const char *path)
{
    bool counts = false;
    for (int change = 0; change < CHANGES && !counts; change++) {
        cJSON *const old = cJSON_GetObjectItemCaseSensitive(object, key);
        cJSON *const kept = cJSON_Duplicate(old, true), *const other = changed(old, change);
        struct answers answers;
        struct sp_error error;
        if (other) {
            cJSON_ReplaceItemInObjectCaseSensitive(object, key, other);
            const enum reading reading = read_config(w->config, &answers, &error);
            counts = reading != READ || !are_equal(&w->own, &answers);
            if (reading == REFUSED_LATE || (reading == REFUSED && strstr(error.text, "model."))) {
                print_message("%s: %s: message with a key of ours: %s\n", w->name, path,
                              error.text);
                w->late++;
            }
            cJSON_ReplaceItemInObjectCaseSensitive(object, key, kept);
        } else {
            cJSON_Delete(kept);
        }
    }
    w->keys++;
    if (counts)
        return;
    print_message("%s (%s): %s\n", w->name, w->type, path);
    w->silent++;
}

/* Whether the nested text model of a config has the key too, which then takes precedence. */
static bool is_nested(const cJSON *object, const char *key)
{
    static const char *const parts[] = {"text_config", "llm_config", "language_config"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (cJSON_GetObjectItem(cJSON_GetObjectItem(object, parts[i]), key))
            return true;
    return false;
}

static void try_members(struct walk *w, cJSON *object, const char *path)
{
    enum { MOST = 512 };
    const char *names[MOST];
    int n = 0;
    for (const cJSON *at = object->child; at && n < MOST; at = at->next)
        names[n++] = strdup(at->string);
    for (int i = 0; i < n; i++) {
        char here[256];
        cJSON *const at = cJSON_GetObjectItemCaseSensitive(object, names[i]);
        snprintf(here, sizeof here, "%s%s", path, names[i]);
        const bool said = cJSON_IsObject(at) && strstr(w->own.notes, names[i]) &&
                          !strstr(w->own.notes, "tower of"); /* a part that is not counted */
        if (said || is_nested(object, names[i]) || is_harmless(w->type, here) ||
            is_harmless(w->type, names[i]))
            w->keys++;
        else if (cJSON_IsObject(at))
            try_members(w, at, strncat(here, ".", sizeof here - strlen(here) - 1));
        else
            try_member(w, object, names[i], here);
        free((void *)(uintptr_t)names[i]);
    }
}

/* The model_type of a config's text model. */
static const char *type_of(const cJSON *config)
{
    static const char *const nested[] = {"text_config", "llm_config", "language_config"};
    const cJSON *type = cJSON_GetObjectItem(config, "model_type");
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        const cJSON *const inner =
            cJSON_GetObjectItem(cJSON_GetObjectItem(config, nested[i]), "model_type");
        type = inner ? inner : type;
    }
    return cJSON_IsString(type) ? type->valuestring : "";
}

static void walk_config(struct walk *w, cJSON *config, const char *name)
{
    struct sp_error error;
    w->config = config;
    w->name = name;
    char type[64];
    snprintf(type, sizeof type, "%s", type_of(config));
    w->type = type;
    const enum reading first = read_config(config, &w->own, &error);
    if (first != READ)
        print_message("%s is not read: %s\n", name, error.text);
    if (first == READ)
        try_members(w, config, "");
    w->type = w->name = NULL;
}

static void each_key_of_ours(void **state)
{
    static char line[65536];
    struct walk w = {0};
    int configs = 0;
    FILE *const file = fopen(SCALEPLAN_SOURCE_DIR "/tests/data/huggingface.jsonl", "r");
    (void)state;
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); configs++) {
        cJSON *const row = cJSON_Parse(line);
        assert_non_null(row);
        walk_config(&w, cJSON_GetObjectItem(row, "config"),
                    cJSON_GetObjectItem(row, "name")->valuestring);
        cJSON_Delete(row);
    }
    fclose(file);
    print_message("%d configs, %d keys\n", configs, w.keys);
    assert_true(configs >= 40);
    assert_int_equal(w.silent, 0);
    assert_int_equal(w.late, 0);
}

static void each_key_of_the_hub(void **state)
{
    static const char folder[] = SCALEPLAN_SOURCE_DIR "/../shared/data/hf";
    DIR *const dir = opendir(folder);
    struct walk w = {0};
    (void)state;
    if (!dir)
        skip();
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        struct sp_json json;
        struct sp_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        static char text[1 << 20];
        FILE *const file = strstr(entry->d_name, ".json") ? fopen(path, "r") : NULL;
        if (!file)
            continue;
        const size_t length = fread(text, 1, sizeof text - 1, file);
        text[length] = '\0';
        fclose(file);
        if (!sp_json_parse(text, length, path, &json, &error))
            print_message("%s\n", error.text);
        if (error.lines > 0)
            continue;
        walk_config(&w, json.root, entry->d_name);
        sp_json_free(&json);
    }
    closedir(dir);
    print_message("%d keys\n", w.keys);
    assert_int_equal(w.silent, 0);
    assert_int_equal(w.late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_key_of_ours),
                                       cmocka_unit_test(each_key_of_the_hub)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
