#include "huggingface.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

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
    HF_MTP = 8192,     /* further layers that predict more tokens, not counted */
    HF_QK_KEY = 16384, /* use_qk_norm */
};

struct family {
    const char *type, *norm;
    int norms;
    bool gated;
    const char *qk_norm, *qkv_bias, *o_bias, *mlp_bias, *tied;
    int head_dim;
    unsigned traits;
};

#define FAMILY(type, norm, norms, gated, qk, qkv, o, mlp, tied, head_dim, traits)                  \
    {type, norm, norms, gated, qk, qkv, o, mlp, tied, head_dim, traits},
static const struct family families[] = {
#include "huggingface_families.def"
};
#undef FAMILY

/* Types that are read as another. */
static const char *const same[][2] = {{"phi-msft", "phi"},
                                      {"gemma3", "gemma3_text"},
                                      {"llama4", "llama4_text"},
                                      {"mistral3", "mistral"},
                                      {"RefinedWeb", "falcon"},
                                      {"RefinedWebModel", "falcon"},
                                      {"stablelm_epoch", "stablelm"},
                                      {"qwen2_vl", "qwen2"},
                                      {"qwen2_5_vl", "qwen2"}};

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
static bool refuse(const cJSON *o, const char *origin, const char *type,
                   const struct sp_nearest *nearest, struct sp_error *error)
{
    const cJSON *const list = member(o, "architectures");
    const cJSON *const first = cJSON_IsArray(list) ? cJSON_GetArrayItem(list, 0) : NULL;
    const char *const class =
        first && cJSON_IsString(first) ? sp_safe(first->valuestring) : "no class named";
    return sp_fail(error, SP_INPUT,
                   "%s: architecture \"%s\" (%s: %.0f layers, hidden size %.0f, %.0f heads, "
                   "vocabulary %.0f) is not known%s (--assume llama, or another family, reads it "
                   "as one)",
                   sp_safe(origin), sp_safe(type ? type : "?"), class, number_of(o, k_layers),
                   number_of(o, k_width), number_of(o, k_heads), number_of(o, k_vocab),
                   sp_nearest_hint(nearest));
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
    if (flag_at(o, "use_sliding_window", true))
        put(out, "sliding_window", number_at(o, "sliding_window", 0));
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

/* What a document that was checked for nothing yet must have. */
static bool has_sizes(const cJSON *o, const char *origin, struct sp_error *error)
{
    static const struct {
        const char *const *keys;
        const char *what;
    } needed[] = {{k_layers, "num_hidden_layers"},
                  {k_width, "hidden_size"},
                  {k_heads, "num_attention_heads"},
                  {k_vocab, "vocab_size"}};
    const int before = error->lines;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const double value = number_of(o, needed[i].keys);
        if (!(value >= 1 && value <= 1e9 && value == floor(value)))
            sp_fail(error, SP_INPUT, "%s: %s: expected a whole number from 1 to 10^9",
                    sp_safe(origin), needed[i].what);
    }
    return error->lines == before;
}

cJSON *sp_from_huggingface(const cJSON *root, const char *origin, const char *assume,
                           struct sp_error *error)
{
    static const char *const nested[] = {"text_config", "llm_config", "language_config",
                                         "language_model", NULL};
    const cJSON *o = root;
    for (int i = 0; nested[i]; i++)
        if (cJSON_IsObject(member(root, nested[i])))
            o = member(root, nested[i]);
    const char *type = assume ? assume : text_at(o, "model_type");
    if (!type)
        type = text_at(root, "model_type");
    if (!type && *type_of_class(root))
        type = type_of_class(root);
    struct sp_nearest nearest = {.wanted = type ? type : ""};
    const struct family *const f = type ? find_family(type, &nearest) : NULL;
    if (!f) {
        if (assume)
            sp_fail(error, SP_INPUT, "--assume: no family \"%s\" is known%s", sp_safe(assume),
                    sp_nearest_hint(&nearest));
        else
            refuse(o, origin, type, &nearest, error);
        return NULL;
    }
    if (!has_sizes(o, origin, error))
        return NULL;
    cJSON *const out = cJSON_CreateObject();
    const char *const path = text_at(root, "_name_or_path");
    cJSON_AddStringToObject(out, "name", path && strlen(path) < 60 ? path : f->type);
    cJSON_AddStringToObject(out, "family", f->type);
    put_sizes(out, o, f);
    put_kinds(out, o, f);
    put_experts(out, o, f);
    put_latents(out, o);
    put_extras(out, o, f);
    return out;
}
