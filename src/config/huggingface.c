/* Reads a Hugging Face config by the row of its family. */
#include "config/huggingface.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

/* What sets a family apart beyond its row. */
enum traits {
    HF_PARALLEL = 1,      /* attention and MLP side by side */
    HF_HEAD_BIAS = 2,     /* bias on the output head */
    HF_LEARNED = 4,       /* a table of positions */
    HF_TWO_MORE = 8,      /* with two rows more than positions */
    HF_HALF_WIDTH = 16,   /* intermediate_size counts gate and up together */
    HF_SHARED_GATE = 32,  /* the shared expert has a gate of d_model weights */
    HF_SCORE_BIAS = 64,   /* load-balancing bias of the router */
    HF_SINKS = 128,       /* a sink for each head */
    HF_EXPERT_BIAS = 256, /* biases in router and experts */
    HF_FALCON = 512,      /* multi_query, parallel_attn, new_decoder_architecture */
    HF_MPT = 1024,        /* attn_config */
    HF_LLAMA4 = 2048,     /* a shared expert; interleave_moe_layer_step */
    HF_EMBEDDING_NORM = 4096,
    HF_MTP = 8192,           /* further layers that predict more tokens, not counted */
    HF_QK_KEY = 16384,       /* use_qk_norm */
    HF_EXPERTS = 1 << 15,    /* a mixture of experts: without their number it is another model */
    HF_OWN_WIDTH = 1 << 16,  /* whose width is moe_intermediate_size */
    HF_LATENT = 1 << 17,     /* attention by latents, unless kv_lora_rank is null */
    HF_NEEDS_D_FF = 1 << 18, /* has no rule for an absent intermediate_size */
};

struct family {
    const char *type, *norm;
    int norms;
    bool gated;
    const char *qk_norm, *qkv_bias, *o_bias, *mlp_bias, *tied;
    int head_dim;
    unsigned traits;
};

/* What a nested config leaves out: transformers writes only what differs from these. */
struct sizes {
    const char *type;
    double vocab, width, d_ff, layers, heads, kv, head_dim, positions, window;
};

/* Of how many layers one has no window, where the config does not say. */
struct pattern {
    const char *type;
    double global_every;
};

#define FAMILY(type, norm, norms, gated, qk, qkv, o, mlp, tied, head_dim, traits)                  \
    {type, norm, norms, gated, qk, qkv, o, mlp, tied, head_dim, traits},
#define SIZES(...)
#define GLOBAL_EVERY(...)
static const struct family families[] = {
#include "config/huggingface_families.def"
};
#undef FAMILY
#undef SIZES
#define FAMILY(...)
#define SIZES(...) {__VA_ARGS__},
static const struct sizes default_sizes[] = {
#include "config/huggingface_families.def"
};
#undef SIZES
#undef GLOBAL_EVERY
#define SIZES(...)
#define GLOBAL_EVERY(...) {__VA_ARGS__},
static const struct pattern patterns[] = {
#include "config/huggingface_families.def"
};
#undef FAMILY
#undef SIZES
#undef GLOBAL_EVERY

/* Types that are read as another. */
static const char *const same[][2] = {{"phi-msft", "phi"},
                                      {"gemma3", "gemma3_text"},
                                      {"llama4", "llama4_text"},
                                      {"mistral3", "mistral"},
                                      {"RefinedWeb", "falcon"},
                                      {"RefinedWebModel", "falcon"},
                                      {"stablelm_epoch", "stablelm"},
                                      {"qwen2_vl", "qwen2"},
                                      {"qwen2_vl_text", "qwen2"},
                                      {"qwen2_5_vl", "qwen2"},
                                      {"qwen2_5_vl_text", "qwen2"},
                                      {"qwen3_vl_text", "qwen3"},
                                      {"qwen3_vl_moe_text", "qwen3_moe"},
                                      {"kimi_k2", "deepseek_v3"}};

/* Keys of one thing, as families spell it. */
static const char *const k_layers[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers",
                                       NULL};
static const char *const k_width[] = {"hidden_size", "n_embd", "d_model", NULL};
static const char *const k_heads[] = {"num_attention_heads", "n_head", "n_heads", NULL};
static const char *const k_kv[] = {"num_key_value_heads", "num_kv_heads", "n_head_kv",
                                   "multi_query_group_num", NULL};
static const char *const k_ff[] = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size",
                                   NULL};
static const char *const k_vocab[] = {"vocab_size", "padded_vocab_size", NULL};
static const char *const k_positions[] = {
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx", NULL};
static const char *const k_experts[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                        NULL};
static const char *const k_top[] = {"num_experts_per_tok", "num_experts_per_token", "moe_topk",
                                    NULL};

static const char *const k_expert_width[] = {"moe_intermediate_size", NULL};
static const char *const k_head_dim[] = {"head_dim", NULL};
static const char *const k_window[] = {"sliding_window", NULL};
static const char *const k_latent[] = {"kv_lora_rank", NULL};
static const char *const k_nope[] = {"qk_nope_head_dim", NULL};
static const char *const k_rope[] = {"qk_rope_head_dim", NULL};
static const char *const k_value[] = {"v_head_dim", NULL};

/* A config as it is read: `part` is the path of `sizes` in the document ("text_config." or ""). */
struct config {
    const struct sp_json *json;
    const char *part;
    const cJSON *sizes;
};

static const cJSON *member(const cJSON *o, const char *key)
{
    const cJSON *const at = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNull(at) ? NULL : at;
}

/* The number under the first of the keys that has one; 0 without. */
static double number_of(const cJSON *o, const char *const *keys)
{
    for (int i = 0; keys[i]; i++) {
        const cJSON *const at = member(o, keys[i]);
        if (at && cJSON_IsNumber(at))
            return at->valuedouble;
    }
    return 0;
}

static double number_at(const cJSON *o, const char *key, double otherwise)
{
    const cJSON *const at = member(o, key);
    return at && cJSON_IsNumber(at) ? at->valuedouble : otherwise;
}

static bool flag_at(const cJSON *o, const char *key, bool otherwise)
{
    const cJSON *const at = member(o, key);
    return cJSON_IsBool(at) ? cJSON_IsTrue(at) : otherwise;
}

/* "0", "1", or "key=default". */
static bool flag_of(const cJSON *o, const char *rule)
{
    char key[64];
    const char *const equals = strchr(rule, '=');
    if (!equals)
        return rule[0] == '1';
    snprintf(key, sizeof key, "%.*s", (int)(equals - rule), rule);
    return flag_at(o, key, equals[1] == '1');
}

static const char *text_at(const cJSON *o, const char *key)
{
    const cJSON *const at = member(o, key);
    return at && cJSON_IsString(at) ? at->valuestring : NULL;
}

bool sp_is_huggingface(const cJSON *root)
{
    const bool named = member(root, "model_type") || member(root, "architectures");
    return cJSON_IsObject(root) && named && !member(root, "layers") && !member(root, "params");
}

static const struct family *find_family(const char *type, struct sp_nearest *nearest)
{
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(same[i][0], type) == 0)
            type = same[i][1];
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i].type, type) == 0)
            return &families[i];
        sp_nearest_offer(nearest, families[i].type);
    }
    return NULL;
}

/* The model_type that a class is named after: "Qwen2MoeForCausalLM" is of qwen2_moe. "" when the
 * config names no such class. */
static const char *type_of_class(const cJSON *root)
{
    static char type[64];
    const cJSON *const list = member(root, "architectures");
    const cJSON *const first = list && cJSON_IsArray(list) ? cJSON_GetArrayItem(list, 0) : NULL;
    const char *const class = first && cJSON_IsString(first) ? first->valuestring : "";
    const char *const end = strstr(class, "ForCausalLM");
    size_t n = 0;
    for (const char *at = class; end && at < end && n + 2 < sizeof type; at++) {
        const bool upper = *at >= 'A' && *at <= 'Z';
        const bool after = at > class && !(at[-1] >= 'A' && at[-1] <= 'Z');
        if (upper && after)
            type[n++] = '_';
        type[n++] = (char)(upper ? *at - 'A' + 'a' : *at);
    }
    type[n] = '\0';
    return type;
}

/* Refuses an unknown architecture, with what its config tells. */
static bool refuse(const struct config *c, const char *type, const struct sp_nearest *nearest,
                   struct sp_error *error)
{
    char path[64];
    const cJSON *const o = c->sizes;
    snprintf(path, sizeof path, "%smodel_type", member(o, "model_type") ? c->part : "");
    const cJSON *const list = member(o, "architectures");
    const cJSON *const first = cJSON_IsArray(list) ? cJSON_GetArrayItem(list, 0) : NULL;
    const char *const class =
        first && cJSON_IsString(first) ? sp_safe(first->valuestring) : "no class named";
    return sp_fail(error, SP_INPUT,
                   "%s: architecture \"%s\" (%s: %.0f layers, hidden size %.0f, %.0f heads, "
                   "vocabulary %.0f) is not known%s (--assume llama, or another family, reads it "
                   "as one)",
                   sp_json_place(c->json, path), sp_safe(type ? type : "?"), class,
                   number_of(o, k_layers), number_of(o, k_width), number_of(o, k_heads),
                   number_of(o, k_vocab), sp_nearest_hint(nearest));
}

static void put(cJSON *out, const char *key, double value)
{
    if (value > 0)
        cJSON_AddNumberToObject(out, key, value);
}

/* The family's row, with the config's word where it has one. */
static void put_kinds(cJSON *out, const cJSON *o, const struct family *f)
{
    const bool qk = (f->traits & HF_QK_KEY) && flag_at(o, "use_qk_norm", false);
    const bool parallel = (f->traits & HF_PARALLEL) && flag_at(o, "use_parallel_residual", true);
    cJSON_AddStringToObject(out, "norm", f->norm);
    cJSON_AddNumberToObject(out, "norms_per_layer", f->norms);
    cJSON_AddStringToObject(out, "qk_norm", qk ? "head" : f->qk_norm);
    cJSON_AddBoolToObject(out, "gated_mlp", f->gated);
    cJSON_AddBoolToObject(out, "qkv_bias", flag_of(o, f->qkv_bias));
    cJSON_AddBoolToObject(out, "o_bias", flag_of(o, f->o_bias));
    cJSON_AddBoolToObject(out, "mlp_bias", flag_of(o, f->mlp_bias));
    cJSON_AddBoolToObject(out, "tied_embeddings", flag_of(o, f->tied));
    cJSON_AddBoolToObject(out, "lm_head_bias", (f->traits & HF_HEAD_BIAS) != 0);
    cJSON_AddBoolToObject(out, "parallel_attention", parallel);
    cJSON_AddBoolToObject(out, "embedding_norm", (f->traits & HF_EMBEDDING_NORM) != 0);
}

static double kv_heads_of(const cJSON *o, const struct family *f, double heads)
{
    const cJSON *const attention = member(o, "attn_config");
    if (f->traits & HF_FALCON && !flag_at(o, "new_decoder_architecture", false))
        return flag_at(o, "multi_query", true) ? 1 : heads;
    if (f->traits & HF_MPT && attention)
        return number_at(
            attention, "kv_n_heads",
            strcmp(text_at(attention, "attn_type") ? text_at(attention, "attn_type") : "",
                   "multiquery_attention") == 0
                ? 1
                : heads);
    const double given = number_of(o, k_kv);
    return given > 0 ? given : flag_at(o, "multi_query", false) ? 1 : heads;
}

static double d_ff_of(const cJSON *o, const struct family *f, double width)
{
    const double given = number_of(o, k_ff), ratio = number_at(o, "expansion_ratio", 0);
    const double d_ff = given > 0 ? given : ratio > 0 ? ratio * width : 4 * width;
    if (f->traits & HF_LLAMA4)
        return number_at(o, "intermediate_size_mlp", d_ff);
    return f->traits & HF_HALF_WIDTH ? d_ff / 2 : d_ff;
}

/* Layers that attend to all tokens: listed one by one, counted before the first with a window, or
 * every so many. */
static double global_layers(const cJSON *o, const struct family *f, double layers)
{
    const cJSON *const types = member(o, "layer_types"), *type;
    double every = number_at(o, "sliding_window_pattern", 0), listed = 0;
    cJSON_ArrayForEach(type, types) listed +=
        cJSON_IsString(type) && strcmp(type->valuestring, "full_attention") == 0;
    if (cJSON_IsArray(types))
        return listed;
    if (member(o, "max_window_layers"))
        return fmin(number_at(o, "max_window_layers", 0), layers);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && every == 0; i++)
        if (strcmp(patterns[i].type, f->type) == 0)
            every = patterns[i].global_every;
    return every > 0 ? floor(layers / every) : 0;
}

static void put_window(cJSON *out, const cJSON *o, const struct family *f)
{
    const double window = number_at(o, "sliding_window", 0), layers = number_of(o, k_layers);
    const double global = global_layers(o, f, layers);
    if (window <= 0 || !flag_at(o, "use_sliding_window", true) || global >= layers)
        return;
    put(out, "sliding_window", window);
    if (global > 0)
        put(out, "global_every", floor(layers / global));
}

static void put_sizes(cJSON *out, const cJSON *o, const struct family *f)
{
    const double width = number_of(o, k_width), heads = number_of(o, k_heads);
    const double head_dim = number_at(o, "head_dim", number_at(o, "kv_channels", f->head_dim));
    const double positions = number_of(o, k_positions);
    put(out, "layers", number_of(o, k_layers));
    put(out, "d_model", width);
    put(out, "d_ff", d_ff_of(o, f, width));
    put(out, "heads", heads);
    put(out, "kv_heads", kv_heads_of(o, f, heads));
    put(out, "head_dim", head_dim > 0 ? head_dim : heads > 0 ? width / heads : 0);
    put(out, "vocab", number_of(o, k_vocab));
    put(out, "max_seq", positions);
    put_window(out, o, f);
    const cJSON *const attention = member(o, "attn_config");
    const bool alibi =
        flag_at(o, "alibi", false) || (attention && flag_at(attention, "alibi", false));
    const bool learned = f->traits & HF_LEARNED ||
                         ((f->traits & HF_MPT) && !alibi && flag_at(o, "learned_pos_emb", true));
    if (learned)
        put(out, "learned_positions", positions + (f->traits & HF_TWO_MORE ? 2 : 0));
}

static void put_latents(cJSON *out, const cJSON *o)
{
    static const char *const keys[] = {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim",
                                       "qk_rope_head_dim", "v_head_dim"};
    if (!member(o, "kv_lora_rank"))
        return;
    cJSON *const mla = cJSON_AddObjectToObject(out, "mla");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(mla, keys[i], number_at(o, keys[i], 0));
}

/* Layers without experts at the start: a number, or a list that counts 0, 1, ... up. */
static double dense_layers_of(const cJSON *o)
{
    const cJSON *const list = member(o, "mlp_only_layers");
    return cJSON_IsArray(list) && cJSON_GetArraySize(list) > 0
               ? cJSON_GetArraySize(list)
               : number_at(o, "first_k_dense_replace", 0);
}

static void put_experts(cJSON *out, const cJSON *o, const struct family *f)
{
    const double experts = number_of(o, k_experts);
    if (experts < 1)
        return;
    cJSON *const moe = cJSON_AddObjectToObject(out, "moe");
    const double width = number_at(o, "moe_intermediate_size", number_of(o, k_ff));
    const double shared_width = number_at(o, "shared_expert_intermediate_size", 0);
    const double shared = f->traits & HF_LLAMA4           ? 1
                          : shared_width > 0 && width > 0 ? shared_width / width
                                                          : number_at(o, "n_shared_experts", 0);
    const double every =
        number_at(o, "decoder_sparse_step",
                  number_at(o, "interleave_moe_layer_step", number_at(o, "moe_layer_freq", 1)));
    put(moe, "experts", experts);
    put(moe, "top_k", number_of(o, k_top) > 0 ? number_of(o, k_top) : 1);
    put(moe, "d_ff_expert", width);
    put(moe, "shared_experts", shared);
    put(moe, "dense_layers", dense_layers_of(o));
    put(moe, "every", every);
    put(moe, "d_ff_dense", d_ff_of(o, f, number_of(o, k_width)));
    if (f->traits & HF_EXPERT_BIAS) {
        cJSON_AddBoolToObject(moe, "router_bias", true);
        cJSON_AddBoolToObject(moe, "expert_bias", true);
    }
    if (f->traits & HF_SCORE_BIAS)
        cJSON_AddBoolToObject(moe, "score_correction_bias", true);
}

/* Weights of a block that no other field has. */
static void put_extras(cJSON *out, const cJSON *o, const struct family *f)
{
    double extra = 0;
    if (f->traits & HF_SINKS)
        extra += number_of(o, k_heads);
    if (f->traits & HF_SHARED_GATE)
        extra += number_of(o, k_width);
    put(out, "extra_attention_params_per_layer", extra);
    if (!(f->traits & HF_FALCON))
        return;
    const bool one =
        flag_at(o, "parallel_attn", true) && !flag_at(o, "new_decoder_architecture", false);
    cJSON_ReplaceItemInObjectCaseSensitive(out, "norms_per_layer", cJSON_CreateNumber(one ? 1 : 2));
    cJSON_ReplaceItemInObjectCaseSensitive(out, "parallel_attention",
                                           cJSON_CreateBool(flag_at(o, "parallel_attn", true)));
}

/* The first of the keys that the config has, null or not; NULL without. */
static const char *key_in(const cJSON *o, const char *const *keys)
{
    for (int i = 0; keys[i]; i++)
        if (cJSON_GetObjectItemCaseSensitive(o, keys[i]))
            return keys[i];
    return NULL;
}

/* One line about a size that is missing or no whole number, with the place of its key. */
static bool fail_size(const struct config *c, const char *const *keys, struct sp_error *error)
{
    char path[96], others[160] = "";
    const char *const key = key_in(c->sizes, keys);
    const bool missing = !key || !member(c->sizes, key);
    size_t used = 0;
    for (int i = 1; missing && keys[i] && used < sizeof others; i++)
        used += (size_t)snprintf(others + used, sizeof others - used, "%s%s",
                                 i == 1 ? "; also read: " : ", ", keys[i]);
    snprintf(path, sizeof path, "%s%s", c->part, key ? key : keys[0]);
    return sp_fail(error, SP_INPUT, "%s: %s%s expected a whole number from 1 to 10^9%s",
                   sp_json_place(c->json, path), path, missing ? " is missing," : ":", others);
}

/* Whether a size must be in the config: those of a mixture only where there are experts. */
static bool is_needed(const cJSON *o, const struct family *f, unsigned trait)
{
    const bool experts = f->traits & HF_EXPERTS || number_of(o, k_experts) >= 1;
    switch (trait) {
    case 0:
        return true;
    case HF_EXPERTS:
        return experts;
    case HF_OWN_WIDTH:
        return experts && f->traits & HF_OWN_WIDTH;
    case HF_LATENT: /* null says that there are none; an absent key says nothing */
        return f->traits & HF_LATENT && (member(o, k_latent[0]) || !key_in(o, k_latent));
    default: /* only plain MLPs are four times as wide where nothing is said */
        return f->gated;
    }
}

/* What a document that was checked for nothing yet must have. */
static bool has_sizes(const struct config *c, const struct family *f, struct sp_error *error)
{
    static const struct {
        const char *const *keys;
        unsigned trait;
    } needed[] = {{k_layers, 0},         {k_width, 0},
                  {k_heads, 0},          {k_vocab, 0},
                  {k_ff, HF_NEEDS_D_FF}, {k_experts, HF_EXPERTS},
                  {k_top, HF_EXPERTS},   {k_expert_width, HF_OWN_WIDTH},
                  {k_latent, HF_LATENT}, {k_nope, HF_LATENT},
                  {k_rope, HF_LATENT},   {k_value, HF_LATENT}};
    const int before = error->lines;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const double value = number_of(c->sizes, needed[i].keys);
        if (is_needed(c->sizes, f, needed[i].trait) &&
            !(value >= 1 && value <= 1e9 && value == floor(value)))
            fail_size(c, needed[i].keys, error);
    }
    return error->lines == before;
}

/* The text part of a multimodal config, or the whole of any other. */
static struct config text_part(const struct sp_json *json)
{
    static const char *const nested[][2] = {{"text_config", "text_config."},
                                            {"llm_config", "llm_config."},
                                            {"language_config", "language_config."},
                                            {"language_model", "language_model."}};
    struct config c = {json, "", json->root};
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++)
        if (cJSON_IsObject(member(json->root, nested[i][0]))) {
            c.sizes = member(json->root, nested[i][0]);
            c.part = nested[i][1];
        }
    return c;
}

/* The config's sizes with what transformers takes for the keys that a nested config leaves out; a
 * new object. A whole config has all keys, so one that is absent there is a fault. */
static cJSON *completed(const struct config *c)
{
    cJSON *const out = cJSON_Duplicate(c->sizes, true);
    const char *const type = text_at(c->sizes, "model_type");
    for (size_t i = 0; *c->part && type && i < sizeof default_sizes / sizeof *default_sizes; i++) {
        const struct sizes *const d = &default_sizes[i];
        const struct {
            const char *const *keys;
            double value;
        } fill[] = {{k_vocab, d->vocab},       {k_width, d->width},         {k_ff, d->d_ff},
                    {k_layers, d->layers},     {k_heads, d->heads},         {k_kv, d->kv},
                    {k_head_dim, d->head_dim}, {k_positions, d->positions}, {k_window, d->window}};
        if (strcmp(d->type, type) != 0)
            continue;
        for (size_t k = 0; k < sizeof fill / sizeof *fill; k++)
            if (fill[k].value > 0 && !key_in(out, fill[k].keys))
                cJSON_AddNumberToObject(out, fill[k].keys[0], fill[k].value);
    }
    return out;
}

static const char *type_of(const struct config *c)
{
    const char *const own = text_at(c->sizes, "model_type");
    const char *const type = own ? own : text_at(c->json->root, "model_type");
    const char *const class = type_of_class(c->json->root);
    return type ? type : *class ? class : NULL;
}

/* The last part of a path of `length` bytes into `out`. */
static void last_part(const char *path, size_t length, char *out, size_t size)
{
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    snprintf(out, size, "%.*s", (int)(length - start), path + start);
}

/* A model is called what its config says, else what its file is called, else what the folder of a
 * config.json is called; the names of caches (hexadecimal) and of no folder say less than the
 * family does. */
static void put_name(cJSON *out, const struct config *c, const struct family *f)
{
    char file[60], folder[60];
    const char *const origin = c->json->origin, *const path =
                                                    text_at(c->json->root, "_name_or_path");
    const size_t length = strlen(origin), tail = strlen(".json");
    const char *const slash = strrchr(origin, '/');
    const bool is_file = length > tail && strcmp(origin + length - tail, ".json") == 0;
    last_part(origin, is_file ? length - tail : 0, file, sizeof file);
    last_part(origin, slash ? (size_t)(slash - origin) : 0, folder, sizeof folder);
    const bool says = strspn(folder, "0123456789abcdef.") < strlen(folder);
    const char *const name = path && *path && strlen(path) < 60     ? path
                             : *file && strcmp(file, "config") != 0 ? file
                             : *file && says                        ? folder
                                                                    : f->type;
    cJSON_AddStringToObject(out, "name", name);
}

/* The document of a config that has what it must have; NULL with an error. */
static cJSON *converted(const struct config *c, const struct family *f, struct sp_error *error)
{
    const cJSON *const o = c->sizes;
    if (!has_sizes(c, f, error))
        return NULL;
    const double heads = number_of(o, k_heads), kv = kv_heads_of(o, f, heads);
    if (kv > 0 && fmod(heads, kv) != 0) {
        const char *const key = key_in(o, k_kv);
        char at[96];
        snprintf(at, sizeof at, "%s%s", c->part, key ? key : "attn_config.kv_n_heads");
        sp_fail(error, SP_INPUT, "%s: %s: %.10g does not divide the %.10g attention heads",
                sp_json_place(c->json, at), at, kv, heads);
        return NULL;
    }
    cJSON *const out = cJSON_CreateObject();
    put_name(out, c, f);
    cJSON_AddStringToObject(out, "family", f->type);
    put_sizes(out, o, f);
    put_kinds(out, o, f);
    put_experts(out, o, f);
    put_latents(out, o);
    put_extras(out, o, f);
    return out;
}

cJSON *sp_from_huggingface(const struct sp_json *json, const char *assume, struct sp_error *error)
{
    struct config c = text_part(json);
    const char *const type = assume ? assume : type_of(&c);
    struct sp_nearest nearest = {.wanted = type ? type : ""};
    const struct family *const f = type ? find_family(type, &nearest) : NULL;
    if (!f) {
        if (assume)
            sp_fail(error, SP_INPUT, "--assume: no family \"%s\" is known%s", sp_safe(assume),
                    sp_nearest_hint(&nearest));
        else
            refuse(&c, type, &nearest, error);
        return NULL;
    }
    cJSON *const all = assume ? cJSON_Duplicate(c.sizes, true) : completed(&c);
    c.sizes = all;
    cJSON *const out = converted(&c, f, error);
    cJSON_Delete(all);
    return out;
}
