/* The table of families, and the defaults of transformers for absent keys. */
#include "hf/families.h"

#include <string.h>

/* Defaults for nested configs: transformers writes only values that differ from them. */
struct sizes {
    const char *type;
    double vocab, width, d_ff, layers, heads, kv, head_dim, positions, window;
};

/* A type's own key, and the common name for it. */
struct rename {
    const char *type, *from, *to;
};

/* The default of transformers for a key that a whole config leaves out. */
struct fallback {
    const char *type, *key;
    double value;
};

/* A type that is read as another. */
struct alias {
    const char *type, *as;
};

#define GPT .norm = "layernorm", .plain_mlp = true, .biases = "1"
#define TIED .tied = "tie_word_embeddings=1"
#define NO_BIASES .attention_biases = "0"

/* One table for each kind of rows. */
/* clang-format off */
#define ROW(...) {__VA_ARGS__},
#define NO_ROW(...)
#define FAMILY(...) {.type = __VA_ARGS__},
#define SIZES NO_ROW
#define SAME NO_ROW
#define DEFAULT NO_ROW
#define RENAME NO_ROW
#define HARMLESS NO_ROW
static const struct sp_hf_family families[] = {
#include "hf/families.def"
};
#undef FAMILY
#define FAMILY NO_ROW
#undef SIZES
#define SIZES ROW
static const struct sizes default_sizes[] = {
#include "hf/families.def"
};
#undef SIZES
#define SIZES NO_ROW
#undef SAME
#define SAME ROW
static const struct alias same[] = {
#include "hf/families.def"
};
#undef SAME
#define SAME NO_ROW
#undef DEFAULT
#define DEFAULT ROW
static const struct fallback fallbacks[] = {
#include "hf/families.def"
};
#undef DEFAULT
#define DEFAULT NO_ROW
#undef RENAME
#define RENAME ROW
static const struct rename renames[] = {
#include "hf/families.def"
};
/* clang-format on */

#define N_OF(array) (sizeof(array) / sizeof *(array))

const struct sp_hf_family *sp_hf_family_of(const char *type)
{
    for (size_t i = 0; i < N_OF(same); i++)
        if (strcmp(same[i].type, type) == 0)
            type = same[i].as;
    for (size_t i = 0; i < N_OF(families); i++)
        if (strcmp(families[i].type, type) == 0)
            return &families[i];
    return NULL;
}

const struct sp_hf_family *sp_hf_family_at(size_t i)
{
    return i < N_OF(families) ? &families[i] : NULL;
}

const char *sp_hf_alias_at(size_t i)
{
    return i >= N_OF(families) && i - N_OF(families) < N_OF(same) ? same[i - N_OF(families)].type
                                                                  : NULL;
}

/* For nested configs only: there transformers omits defaults, while it writes every size of a whole
 * config, where a missing one is an error. Sizes of a mixture are never guessed. */
static void fill_sizes(cJSON *out, const struct sizes *d)
{
    const struct {
        const char *const *keys;
        double value;
    } fill[] = {
        {sp_hf_vocab, d->vocab},       {sp_hf_width, d->width},         {sp_hf_ff, d->d_ff},
        {sp_hf_layers, d->layers},     {sp_hf_heads, d->heads},         {sp_hf_kv, d->kv},
        {sp_hf_head_dim, d->head_dim}, {sp_hf_positions, d->positions}, {sp_hf_window, d->window}};
    for (size_t k = 0; k < N_OF(fill); k++)
        if (fill[k].value > 0 && !sp_hf_key_in(out, fill[k].keys))
            cJSON_AddNumberToObject(out, fill[k].keys[0], fill[k].value);
}

/* Sets a member that is absent or null. */
static void put_number(cJSON *out, const char *key, double value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(out, key);
    cJSON_AddNumberToObject(out, key, value);
}

/* Copies members of ffn_config and attn_config that the sizes lack (DBRX). */
static void lift(cJSON *out, const char *part)
{
    const cJSON *at, *const from = sp_hf_member(out, part);
    cJSON *lifted = cJSON_CreateObject(), *next;
    cJSON_ArrayForEach(at, from)
    {
        if (cJSON_IsNumber(at) && !sp_hf_member(out, at->string))
            cJSON_AddNumberToObject(lifted, at->string, at->valuedouble);
    }
    for (cJSON *one = lifted->child; one; one = next) {
        next = one->next;
        cJSON_AddItemToObject(out, one->string, cJSON_DetachItemViaPointer(lifted, one));
    }
    cJSON_Delete(lifted);
}

/* Replaces a list with the same number for each layer by that number (Hunyuan's moe_topk). */
static void flatten(cJSON *out, const char *key)
{
    const cJSON *at, *const list = sp_hf_member(out, key);
    const cJSON *const first = cJSON_IsArray(list) ? cJSON_GetArrayItem(list, 0) : NULL;
    if (!first || !cJSON_IsNumber(first))
        return;
    const double value = first->valuedouble;
    bool equal = true;
    cJSON_ArrayForEach(at, list)
    {
        equal = equal && cJSON_IsNumber(at) && at->valuedouble <= value && at->valuedouble >= value;
    }
    if (equal)
        cJSON_ReplaceItemInObjectCaseSensitive(out, key, cJSON_CreateNumber(value));
}

cJSON *sp_hf_completed(const struct sp_hf_config *c, bool with_sizes)
{
    static const char tie[] = "tie_word_embeddings";
    cJSON *const out = cJSON_Duplicate(c->sizes, true);
    const char *const type = sp_hf_text_at(c->sizes, "model_type");
    const cJSON *const outer = sp_hf_member(c->json->root, tie);
    if (cJSON_IsBool(outer) && !sp_hf_member(out, tie)) {
        cJSON_DeleteItemFromObjectCaseSensitive(out, tie);
        cJSON_AddBoolToObject(out, tie, cJSON_IsTrue(outer));
    }
    if (type && strcmp(type, "dbrx") == 0) {
        lift(out, "attn_config");
        lift(out, "ffn_config");
    }
    for (size_t i = 0; type && i < N_OF(renames); i++)
        if (strcmp(renames[i].type, type) == 0 && sp_hf_at(out, renames[i].from) > 0)
            put_number(out, renames[i].to, sp_hf_at(out, renames[i].from));
    for (size_t i = 0; type && i < N_OF(fallbacks); i++)
        if (strcmp(fallbacks[i].type, type) == 0 && !sp_hf_member(out, fallbacks[i].key))
            put_number(out, fallbacks[i].key, fallbacks[i].value);
    if (!sp_hf_flag_at(out, "multi_query_attention", true)) /* ChatGLM: every head has its own keys
                                                               and values */
        cJSON_DeleteItemFromObjectCaseSensitive(out, "multi_query_group_num");
    flatten(out, "num_experts");
    flatten(out, "moe_topk");
    for (size_t i = 0; with_sizes && *c->part && type && i < N_OF(default_sizes); i++)
        if (strcmp(default_sizes[i].type, type) == 0)
            fill_sizes(out, &default_sizes[i]);
    return out;
}
