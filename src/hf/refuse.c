/* Errors for unreadable Hugging Face configs, each with facts from the file. */
#include "hf/refuse.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "hf/families.h"
#include "hf/head.h"
#include "hf/listed.h"

/* Architectures without a family, the nearest family ("": none), and what it lacks. */
static const struct kin {
    const char *type, *like, *but;
} kin[] = {
#define KIN(...) {__VA_ARGS__},
#include "hf/kin.def"
#undef KIN
};

static const struct kin *kin_of(const char *type)
{
    for (size_t i = 0; i < sizeof kin / sizeof *kin; i++)
        if (strcmp(kin[i].type, type) == 0)
            return &kin[i];
    return NULL;
}

/* Appends ": 2 layers, hidden size 64" from the config's keys. */
static void put_facts(const cJSON *o, char *text, size_t size)
{
    const struct {
        const char *before;
        const char *const *keys;
        const char *after;
    } facts[] = {{"", sp_hf_layers, " layers"},
                 {"hidden size ", sp_hf_width, ""},
                 {"", sp_hf_heads, " heads"},
                 {"vocabulary ", sp_hf_vocab, ""}};
    const char *comma = ": ";
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const double value = sp_hf_number(o, facts[i].keys);
        if (value <= 0)
            continue;
        sp_append(text, size, "%s%s%.10g%s", comma, facts[i].before, value, facts[i].after);
        comma = ", ";
    }
}

static size_t digits_of(const char *name, char *out, size_t size)
{
    size_t n = 0;
    for (; *name; name++)
        if (*name >= '0' && *name <= '9' && n + 1 < size)
            out[n++] = *name;
    out[n] = '\0';
    return n;
}

/* "; did you mean "llama"?" if one letter differs. A different digit is a different model: gemma2
 * is not mamba2, olmo3 not olmo2. */
static const char *hint_of(struct sp_text *room, const char *type)
{
    char mine[16], theirs[16];
    struct sp_nearest nearest = {.wanted = type};
    for (size_t i = 0; sp_hf_family_at(i); i++)
        sp_nearest_offer(&nearest, sp_hf_family_at(i)->type);
    digits_of(type, mine, sizeof mine);
    digits_of(nearest.best, theirs, sizeof theirs);
    return nearest.distance <= 1 && strcmp(mine, theirs) == 0 ? sp_nearest_hint_in(room, &nearest)
                                                              : "";
}

/* Adds advice. */
static void put_advice(const cJSON *o, const char *type, char *text, size_t size)
{
    const struct kin *const k = kin_of(type);
    if (k && *k->like)
        sp_append(text, size, "; it is like \"%s\" but %s (--assume %s reads it without that)",
                  k->like, k->but, k->like);
    else if (k)
        sp_append(text, size, "; no family can replace it: %s", k->but);
    else
        sp_append(text, size, "%s (see `scaleplan list families`%s)", hint_of(SP_ROOM, type),
                  sp_hf_number(o, sp_hf_heads) > 0 && sp_hf_number(o, sp_hf_vocab) > 0
                      ? "; --assume FAMILY reads it as one of them"
                      : "");
}

/* Most unknown architectures resemble Llama, but only the user can say so (--assume): a missed bias
 * changes little, a missed expert block everything. */
bool sp_hf_refuse_architecture(const struct sp_hf_config *c, const char *type,
                               struct sp_error *error)
{
    char path[64], facts[192] = "", advice[320] = "";
    const cJSON *const o = c->sizes;
    const char *const class = sp_hf_deciding_class(c);
    snprintf(path, sizeof path, "%smodel_type", sp_hf_member(o, "model_type") ? c->part : "");
    put_facts(o, facts, sizeof facts);
    put_advice(o, type, advice, sizeof advice);
    return sp_fail(error, SP_INPUT, "%s: unknown architecture \"%s\" (%s%s)%s",
                   sp_json_place(c->json, path), *type ? sp_safe(type) : "?",
                   *class ? sp_safe(class) : "no class named", facts, advice);
}

bool sp_hf_refuse_assumed(const char *type, struct sp_error *error)
{
    const char *const hint = hint_of(SP_ROOM, type);
    return sp_fail(error, SP_INPUT,
                   "--assume: unknown family \"%s\"%s (see `scaleplan list families`)",
                   sp_safe(type), hint);
}

bool sp_hf_refuse_size(const struct sp_hf_config *c, const char *const *keys,
                       struct sp_error *error)
{
    char path[96], others[160] = "";
    const char *const key = sp_hf_key_in(c->sizes, keys);
    const bool missing = !key || !sp_hf_member(c->sizes, key);
    const char *const name = key ? key : keys[0];
    for (int i = 0; missing && keys[i]; i++)
        if (keys[i] != name)
            sp_append(others, sizeof others, "%s%s", *others ? ", " : "; also read: ", keys[i]);
    snprintf(path, sizeof path, "%s%s", c->part, name);
    const char *const at = sp_json_place(c->json, path);
    const cJSON *const list = sp_hf_member(c->sizes, name);
    if (cJSON_IsArray(list) && cJSON_GetArraySize(list) > 0)
        return sp_fail(error, SP_INPUT,
                       "%s: %s: numbers that differ between layers are not modelled", at, path);
    return sp_fail(error, SP_INPUT, "%s: %s%s expected a whole number from 1 to 10^9%s", at, path,
                   missing ? " is missing," : ":", others);
}

/* => 133 */
static bool is_mixed(const cJSON *o)
{
    const cJSON *kind, *const kinds = sp_hf_member(o, "mlp_layer_types");
    bool sparse = false, mixed = false;
    cJSON_ArrayForEach(kind, kinds)
    {
        const bool dense = cJSON_IsString(kind) && strcmp(kind->valuestring, "dense") == 0;
        mixed = mixed || (dense && sparse);
        sparse = sparse || !dense;
    }
    return mixed;
}

/* Whether a list, or a number, has one above `most`. */
static bool is_above(const cJSON *o, const char *key, double most)
{
    const cJSON *one, *const at = sp_hf_member(o, key);
    bool above = cJSON_IsNumber(at) && at->valuedouble > most;
    cJSON_ArrayForEach(one, at) above = above || (cJSON_IsNumber(one) && one->valuedouble > most);
    return above;
}

/* Whether a text of layers, L local and G global, does not end in a global layer. */
static bool is_irregular(const cJSON *o)
{
    const char *const letters = sp_hf_text_at(o, "sliding_window_pattern");
    return letters && !sp_hf_member(o, "layer_types") &&
           (strspn(letters, "L") + 1 != strlen(letters) || !sp_hf_ends(letters, "G"));
}

bool sp_hf_check_features(const struct sp_hf_config *c, const char *family, struct sp_error *error)
{
    const cJSON *const o = c->sizes;
    const char *const positions = sp_hf_text_at(o, "position_embedding_type");
    const double last = sp_hf_number_at(o, "moe_layer_end_index", -1);
    const char *const norms = sp_hf_text_at(o, "qk_norm_type");
    const bool mixture = sp_hf_number(o, sp_hf_experts) >= 1;
    const bool minimax = strncmp(family, "minimax", 7) == 0 && strcmp(family, "minimax_m3") != 0;
    const char *const listed = sp_hf_experts_key(o), *what = NULL;
    const char *const beyond = sp_hf_beyond_listed(o, family, &what);
    const bool ernie = strcmp(family, "ernie4_5_moe") == 0;
    const bool blocks = sp_hf_at(o, "denoised") > 0 && strncmp(family, "bailing", 7) == 0;
    const bool bert = strcmp(family, "bert") == 0 || strcmp(family, "roberta") == 0;
    const struct {
        bool is;
        const char *key, *what;
    } features[] = {
        {sp_hf_flag_at(o, "add_cross_attention", false), "add_cross_attention",
         "attention to an encoder that the config does not describe"},
        {bert && positions && strcmp(positions, "absolute") != 0, "position_embedding_type",
         "position weights in each layer"},
        {ernie && last >= 0 && last < sp_hf_number(o, sp_hf_layers) - 1, "moe_layer_end_index",
         "dense layers after layers with experts"},
        {ernie && sp_hf_flag_at(o, "use_bias", false), "use_bias", "biases in the experts"},
        {strcmp(family, "chatglm") == 0 && !sp_hf_flag_at(o, "rmsnorm", true), "rmsnorm",
         "norms of another kind"},
        {strcmp(family, "chatglm") == 0 && !sp_hf_flag_at(o, "post_layer_norm", true),
         "post_layer_norm", "no norm after the last layer"},
        {minimax && sp_hf_at(o, "shared_intermediate_size") > 0, "shared_intermediate_size",
         "a shared expert"},
        {norms && minimax && strcmp(norms, "per_layer") != 0, "qk_norm_type", "norms of each head"},
        {(strcmp(family, "mpt") == 0 || strcmp(family, "qwen") == 0) &&
             !sp_hf_flag_at(o, "no_bias", true),
         "no_bias", "biases of this family"},
        {sp_hf_flag_at(sp_hf_member(o, "attn_config"), "qk_ln", false), "attn_config.qk_ln",
         "norms of queries and keys"},
        {strcmp(family, "gemma4_text") == 0 && mixture && sp_hf_at(o, "num_kv_shared_layers") > 0,
         "num_kv_shared_layers", "experts in layers that reuse keys and values"},
        {strcmp(family, "nemotron_h") == 0 && mixture && sp_hf_flag_at(o, "mlp_bias", false),
         "mlp_bias", "biases in the experts"},
        {strcmp(family, "hunyuan_v1_moe") == 0 && is_above(o, "num_shared_expert", 1),
         "num_shared_expert", "more than one shared expert"},
        {is_above(o, "moe_shared_expert_intermediate_size", sp_hf_number(o, sp_hf_expert_width)) &&
             strncmp(family, "bailing", 7) == 0,
         "moe_shared_expert_intermediate_size", "shared experts of another width"},
        {blocks && !cJSON_IsBool(sp_hf_member(o, "use_qk_norm")), "use_qk_norm", "its default"},
        {blocks && !cJSON_IsBool(sp_hf_member(o, "use_bias")), "use_bias", "its default"},
        {strcmp(family, "deepseek_v4") == 0 && sp_hf_number_at(o, "num_key_value_heads", 1) > 1,
         "num_key_value_heads", "more than one vector per token"},
        {sp_hf_number(o, sp_hf_dense) > sp_hf_number(o, sp_hf_layers), sp_hf_key_in(o, sp_hf_dense),
         "more dense layers than layers"},
        {is_irregular(o), "sliding_window_pattern", "global attention layers not last in a period"},
        {is_mixed(o), listed ? listed : "mlp_layer_types",
         "dense layers after layers with experts"},
        {beyond != NULL, beyond, what}};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s%s", c->part, features[i].key);
        if (features[i].is)
            return sp_fail(error, SP_INPUT, "%s: %s: %s, which is not modelled",
                           sp_json_place(c->json, path), path, features[i].what);
    }
    return true;
}

/* Other files of a model folder, each recognised by a key. */
static const struct file {
    const char *key, *and, *is;
} files[] = {
    {"peft_type", "",
     "the adapter_config.json of a PEFT adapter (LoRA): use the model in its "
     "base_model_name_or_path"},
    {"weight_map", "",
     "a checkpoint index (model.safetensors.index.json): use the config.json beside it"},
    {"_diffusers_version", "", "part of a diffusers pipeline, not a language model"},
    {"tokenizer_class", "", "a tokenizer_config.json: use the config.json beside it"},
    {"image_processor_type", "", "a preprocessor_config.json: use the config.json beside it"},
    {"feature_extractor_type", "", "a preprocessor_config.json: use the config.json beside it"},
    {"dim", "n_layers",
     "the params.json of Meta or Mistral: use the model's Hugging Face config.json"},
    {"attention_probs_dropout_prob", "hidden_size",
     "the bert_config.json of Google's BERT, which names no model_type"},
    {"_from_model_config", "", "a generation_config.json: use the config.json beside it"},
    {"eos_token_id", "transformers_version",
     "a generation_config.json: use the config.json beside it"},
    {"max_new_tokens", "", "a generation_config.json: use the config.json beside it"},
};

bool sp_hf_is_other_file(const struct sp_json *json, struct sp_error *error)
{
    const cJSON *const root = json->root;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (cJSON_GetObjectItemCaseSensitive(root, files[i].key) &&
            (!*files[i].and || cJSON_GetObjectItemCaseSensitive(root, files[i].and)))
            return !sp_fail(error, SP_INPUT, "%s: this is %s", sp_safe(json->origin), files[i].is);
    return false;
}
