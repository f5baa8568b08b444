/* Parts of a model from a Hugging Face config and its family's row. */
#include "hf/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A row's text, or its default if the row leaves it out. */
static const char *given(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

/* "head", "full" or "none"; for "KEY:full" the config decides. */
static const char *qk_norm_of(const cJSON *o, const struct sp_hf_family *f)
{
    char key[64];
    const char *const rule = given(f->qk_norm, "none"), *const colon = strchr(rule, ':');
    if (!colon)
        return rule;
    snprintf(key, sizeof key, "%.*s", (int)(colon - rule), rule);
    return sp_hf_flag_at(o, key, false) ? colon + 1 : "none";
}

static void put_biases(cJSON *out, const cJSON *o, const struct sp_hf_family *f)
{
    const char *const both = given(f->biases, given(f->attention_biases, "attention_bias=0"));
    cJSON_AddBoolToObject(out, "qkv_bias", sp_hf_flag(o, given(f->qkv_bias, both)));
    cJSON_AddBoolToObject(out, "o_bias", sp_hf_flag(o, given(f->o_bias, both)));
    cJSON_AddBoolToObject(out, "mlp_bias",
                          sp_hf_flag(o, given(f->biases, given(f->mlp_bias, "0"))));
}

/* The family's row, or the config's own value if it has one. */
static void put_kinds(cJSON *out, const cJSON *o, const struct sp_hf_family *f)
{
    const bool parallel =
        sp_hf_flag_at(o, "use_parallel_residual", (f->traits & HF_PARALLEL) != 0) &&
        f->traits & (HF_PARALLEL | HF_ONE_IF_PARALLEL);
    const bool one = parallel && f->traits & HF_ONE_IF_PARALLEL;
    const int norms = f->norms > 0 ? f->norms : 2;
    cJSON_AddStringToObject(out, "norm", given(f->norm, "rmsnorm"));
    cJSON_AddNumberToObject(out, "norms_per_layer", one ? 1 : norms);
    cJSON_AddStringToObject(out, "qk_norm", qk_norm_of(o, f));
    cJSON_AddBoolToObject(out, "gated_mlp", !f->plain_mlp);
    put_biases(out, o, f);
    cJSON_AddBoolToObject(out, "tied_embeddings",
                          sp_hf_flag(o, given(f->tied, "tie_word_embeddings=0")));
    cJSON_AddBoolToObject(out, "parallel_attention", parallel);
    cJSON_AddBoolToObject(out, "embedding_norm", (f->traits & HF_EMBEDDING_NORM) != 0);
}

/* Whether the block is Falcon-40B's; its first configs (RefinedWeb) differ only in the number of KV
 * heads. */
static bool is_new_falcon(const cJSON *o)
{
    return sp_hf_flag_at(o, "new_decoder_architecture", sp_hf_member(o, "n_head_kv") != NULL);
}

double sp_hf_kv_heads(const cJSON *o, const struct sp_hf_family *f, double heads)
{
    const cJSON *const attention = sp_hf_member(o, "attn_config");
    if (f->traits & HF_FALCON && !is_new_falcon(o))
        return sp_hf_flag_at(o, "multi_query", true) ? 1 : heads;
    if (f->traits & HF_MPT && attention)
        return sp_hf_number_at(attention, "kv_n_heads",
                               strcmp(sp_hf_text_at(attention, "attn_type")
                                          ? sp_hf_text_at(attention, "attn_type")
                                          : "",
                                      "multiquery_attention") == 0
                                   ? 1
                                   : heads);
    const double given = sp_hf_number(o, sp_hf_kv);
    return given > 0 ? given : sp_hf_flag_at(o, "multi_query", false) ? 1 : heads;
}

static double d_ff_of(const cJSON *o, const struct sp_hf_family *f, double width)
{
    const double given = sp_hf_number(o, sp_hf_ff), ratio = sp_hf_at(o, "expansion_ratio");
    const double d_ff = given > 0 ? given : ratio > 0 ? ratio * width : 4 * width;
    if (f->traits & HF_LLAMA4)
        return sp_hf_number_at(o, "intermediate_size_mlp", d_ff);
    return f->traits & HF_HALF_WIDTH ? d_ff / 2 : d_ff;
}

/* Layers that attend to all tokens: the first ones, and every n-th. */
struct global_layers {
    double first, every;
};

/* The layers of a list, `listed` of them global. Only their number counts: a list without
 * a period is read as its global layers first. */
static struct global_layers listed_layers(double listed, double layers)
{
    const double every = listed > 0 ? floor(layers / listed) : 0;
    return every > 0 && floor(layers / every) == listed ? (struct global_layers){0, every}
                                                        : (struct global_layers){listed, 0};
}

/* By list; before the first windowed layer (Qwen2); by the layers without rotary positions
 * (Llama 4); or every n-th. */
static struct global_layers global_layers(const cJSON *o, const struct sp_hf_family *f,
                                          double layers)
{
    const cJSON *const named = sp_hf_member(o, "layer_types"), *one;
    const cJSON *const types = named ? named : sp_hf_member(o, "attention_layers"); /* GPT-Neo */
    const cJSON *const rotary = sp_hf_member(o, "no_rope_layers"); /* 1: has rotary positions */
    double listed = 0;
    cJSON_ArrayForEach(one, types) listed +=
        cJSON_IsString(one) && (strcmp(one->valuestring, "full_attention") == 0 ||
                                strcmp(one->valuestring, "global") == 0);
    if (cJSON_GetArraySize(types) > 0)
        return listed_layers(listed, layers);
    cJSON_ArrayForEach(one, rotary) listed += cJSON_IsNumber(one) && one->valuedouble == 0;
    if (f->traits & HF_LLAMA4 && cJSON_GetArraySize(rotary) > 0)
        return listed_layers(listed, layers);
    if (sp_hf_member(o, "max_window_layers"))
        return (struct global_layers){fmin(sp_hf_at(o, "max_window_layers"), layers), 0};
    const char *const letters = sp_hf_text_at(o, "sliding_window_pattern"); /* "LLLG" (EXAONE) */
    const double every = letters ? (double)strlen(letters) : sp_hf_at(o, "sliding_window_pattern");
    return (struct global_layers){0, every > 0 ? every : f->global_every};
}

/* The reach of local layers: a window or, in Llama 4, a chunk. */
static void put_reach(cJSON *out, const cJSON *o, const struct sp_hf_family *f)
{
    const bool chunked = f->traits & HF_LLAMA4;
    const double reach =
        chunked ? sp_hf_at(o, "attention_chunk_size") : sp_hf_number(o, sp_hf_window);
    const double layers = sp_hf_number(o, sp_hf_layers);
    const struct global_layers global = global_layers(o, f, layers);
    if (reach <= 0 || !sp_hf_flag_at(o, "use_sliding_window", true) || global.first >= layers ||
        global.every == 1)
        return;
    sp_hf_put(out, chunked ? "attention_chunk" : "sliding_window", reach);
    if (global.first > 0)
        sp_hf_put(out, "global_first", global.first);
    if (global.every > 0)
        sp_hf_put(out, "global_every", global.every);
}

/* Default head width: d_model / heads; with latents the width of queries and keys, which need not
 * divide d_model. */
static double even_head_dim(const cJSON *o, double part)
{
    const double latent = sp_hf_number(o, sp_hf_nope) + sp_hf_number(o, sp_hf_rope);
    return latent > 0 && part != floor(part) ? latent : part;
}

static void put_sizes(cJSON *out, const cJSON *o, const struct sp_hf_family *f)
{
    const double width = sp_hf_number(o, sp_hf_width), heads = sp_hf_number(o, sp_hf_heads);
    const double head_dim =
        sp_hf_number_at(o, "head_dim", sp_hf_number_at(o, "kv_channels", f->head_dim));
    const double positions = sp_hf_number(o, sp_hf_positions);
    sp_hf_put(out, "layers", sp_hf_number(o, sp_hf_layers));
    sp_hf_put(out, "d_model", width);
    sp_hf_put(out, "d_ff", d_ff_of(o, f, width));
    sp_hf_put(out, "heads", heads);
    sp_hf_put(out, "kv_heads", sp_hf_kv_heads(o, f, heads));
    sp_hf_put(out, "head_dim", head_dim > 0 ? head_dim : even_head_dim(o, width / heads));
    sp_hf_put(out, "vocab", sp_hf_number(o, sp_hf_vocab));
    sp_hf_put(out, "max_seq", positions);
    sp_hf_put(out, "denoised", sp_hf_at(o, "denoised"));
    put_reach(out, o, f);
    const cJSON *const attention = sp_hf_member(o, "attn_config");
    const bool alibi =
        sp_hf_flag_at(o, "alibi", false) || (attention && sp_hf_flag_at(attention, "alibi", false));
    const bool learned = f->traits & HF_LEARNED || ((f->traits & HF_MPT) && !alibi &&
                                                    sp_hf_flag_at(o, "learned_pos_emb", true));
    if (learned)
        sp_hf_put(out, "learned_positions", positions + (f->traits & HF_TWO_MORE ? 2 : 0));
}

static void put_latents(cJSON *out, const cJSON *o)
{
    static const char *const keys[] = {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim",
                                       "qk_rope_head_dim", "v_head_dim"};
    if (!sp_hf_member(o, "kv_lora_rank"))
        return;
    cJSON *const mla = cJSON_AddObjectToObject(out, "mla");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        sp_hf_put(mla, keys[i], sp_hf_at(o, keys[i]));
}

/* Leading dense layers: from a list of kinds, from a list 0, 1, ..., or a number. */
static double dense_layers_of(const cJSON *o)
{
    const cJSON *const kinds = sp_hf_member(o, "mlp_layer_types"), *kind;
    double leading = 0;
    cJSON_ArrayForEach(kind, kinds)
    {
        if (!cJSON_IsString(kind) || strcmp(kind->valuestring, "dense") != 0)
            break;
        leading++;
    }
    if (cJSON_IsArray(kinds))
        return leading;
    const cJSON *const list = sp_hf_member(o, "mlp_only_layers");
    return cJSON_IsArray(list) && cJSON_GetArraySize(list) > 0 ? cJSON_GetArraySize(list)
                                                               : sp_hf_number(o, sp_hf_dense);
}

static void put_experts(cJSON *out, const cJSON *o, const struct sp_hf_family *f)
{
    const double experts = sp_hf_number(o, sp_hf_experts);
    if (experts < 1)
        return;
    cJSON *const moe = cJSON_AddObjectToObject(out, "moe");
    const double width = sp_hf_number_at(o, "moe_intermediate_size", sp_hf_number(o, sp_hf_ff));
    const double shared_width = sp_hf_at(o, "shared_expert_intermediate_size");
    const double shared = f->traits & HF_LLAMA4 ? 1
                          : f->traits & HF_SHARED_MIXED
                              ? (sp_hf_flag_at(o, "use_mixed_mlp_moe", false) ? 1 : 0)
                          : shared_width > 0 ? 1
                                             : sp_hf_number(o, sp_hf_shared);
    const double every = sp_hf_number(o, sp_hf_every);
    sp_hf_put(moe, "experts", experts);
    sp_hf_put(moe, "top_k", sp_hf_number(o, sp_hf_top) > 0 ? sp_hf_number(o, sp_hf_top) : 1);
    sp_hf_put(moe, "d_ff_expert", width);
    const bool equal = shared_width > 0 && width > 0 && fmod(shared_width, width) == 0;
    sp_hf_put(moe, "shared_experts", equal ? shared_width / width : shared);
    if (!equal)
        sp_hf_put(moe, "d_ff_shared", shared_width);
    if (sp_hf_at(o, "topk_group") < sp_hf_at(o, "n_group")) {
        sp_hf_put(moe, "groups", sp_hf_at(o, "n_group"));
        sp_hf_put(moe, "top_groups", sp_hf_at(o, "topk_group"));
    }
    sp_hf_put(moe, "dense_layers", dense_layers_of(o));
    sp_hf_put(moe, "every", every > 0 ? every : 1);
    sp_hf_put(moe, "d_ff_dense", d_ff_of(o, f, sp_hf_number(o, sp_hf_width)));
    if (f->traits & HF_EXPERT_BIAS) {
        cJSON_AddBoolToObject(moe, "router_bias", true);
        cJSON_AddBoolToObject(moe, "expert_bias", true);
    }
    if (f->traits & HF_SCORE_BIAS && sp_hf_flag_at(o, "use_routing_bias", true))
        cJSON_AddBoolToObject(moe, "score_correction_bias", true);
}

/* Weights of a block that no other field counts. */
static void put_extras(cJSON *out, const cJSON *o, const struct sp_hf_family *f)
{
    double extra = 0;
    if (f->traits & HF_SINKS)
        extra += sp_hf_number(o, sp_hf_heads);
    if (f->traits & HF_SHARED_GATE)
        extra += sp_hf_number(o, sp_hf_width);
    if (f->traits & HF_QK_LAYERNORM && sp_hf_flag_at(o, "qk_layernorm", false))
        extra += 4 * sp_hf_number(o, sp_hf_width) / sp_hf_number(o, sp_hf_heads);
    sp_hf_put(out, "extra_attention_params_per_layer", extra);
}

/* Falcon: one norm for attention and MLP, or one each, as the config says. */
static void put_falcon(cJSON *out, const cJSON *o)
{
    const bool two = is_new_falcon(o);
    const bool one = sp_hf_flag_at(o, "parallel_attn", true) &&
                     sp_hf_number_at(o, "num_ln_in_parallel_attn", two ? 2 : 1) < 2;
    cJSON_ReplaceItemInObjectCaseSensitive(out, "norms_per_layer", cJSON_CreateNumber(one ? 1 : 2));
    cJSON_ReplaceItemInObjectCaseSensitive(
        out, "parallel_attention", cJSON_CreateBool(sp_hf_flag_at(o, "parallel_attn", true)));
}

/* OPT: tables may be narrower than layers; the last norm exists only if norms precede blocks. */
static void put_opt(cJSON *out, const cJSON *o)
{
    const double width = sp_hf_number(o, sp_hf_width),
                 table = sp_hf_number_at(o, "word_embed_proj_dim", width);
    if (table != width)
        sp_hf_put(out, "embedding_width", table);
    if (!sp_hf_flag_at(o, "do_layer_norm_before", true) ||
        sp_hf_flag_at(o, "_remove_final_layer_norm", false))
        cJSON_AddBoolToObject(out, "no_final_norm", true);
}

static void put_head(cJSON *out, const cJSON *o, const struct sp_hf_family *f,
                     const struct sp_hf_head *head)
{
    static const char *const kinds[] = {"vocabulary", "score", "none"};
    const bool keyed = f->traits & HF_HEAD_BIAS_KEY && sp_hf_flag_at(o, "lm_head_bias", false);
    const bool own = head->kind == HF_HEAD_VOCABULARY && (f->traits & HF_HEAD_BIAS || keyed);
    cJSON_AddBoolToObject(out, "lm_head_bias", head->bias || own);
    if (head->kind == HF_HEAD_VOCABULARY)
        return;
    cJSON_AddStringToObject(out, "head", kinds[head->kind]);
    sp_hf_put(out, "labels", head->labels);
}

void sp_hf_put_parts(cJSON *out, const cJSON *o, const struct sp_hf_family *f,
                     const struct sp_hf_head *head)
{
    put_sizes(out, o, f);
    put_kinds(out, o, f);
    put_head(out, o, f, head);
    put_experts(out, o, f);
    put_latents(out, o);
    put_extras(out, o, f);
    if (f->traits & HF_FALCON)
        put_falcon(out, o);
    if (f->traits & HF_OPT)
        put_opt(out, o);
}
