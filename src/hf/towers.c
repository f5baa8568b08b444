/* Image towers of text models: vision_config of multimodal configs. */
#include <math.h>
#include <string.h>

#include "hf/encoders.h"

/* The projector from a tower into the text model. */
enum projector {
    LLAVA,     /* an MLP as wide as the text model, two matmuls with biases */
    LINEAR,    /* one matmul with a bias */
    GEMMA3,    /* one matmul without a bias on pooled patches, and a norm */
    QWEN,      /* a norm, and an MLP as wide as the merged patches */
    MOON,      /* the same of MoonViT (Kimi), which takes single frames */
    QWEN_DEEP, /* the same, plus one per tower layer that feeds the first text layers */
    PROJECTED, /* projections of text and image to one width (CLIP) */
    TILES,     /* one matmul with a bias on outputs of several layers (Llama 3.2 Vision) */
    MERGED,    /* a norm, a matmul on merged patches, and an MLP as wide as the text model (Mistral
                  3) */
    GEMMA4,    /* one matmul without a bias on pooled patches */
    JOINED,    /* one matmul without a bias on merged patches (Idefics 3) */
    NECKED,    /* two MLPs, of all patches and of merged ones (MiniMax-M3) */
    STEP,      /* two convolutions of stride 2 and a matmul (Step 3.7) */
    SHUFFLED,  /* an MLP on merged patches and a matmul, without biases (Llama 4) */
};

enum {
    CLASS_TOKEN = 1,
    GRID = 2, /* position rows for patches and a class token */
    PATCH_BIAS = 4,
    BOTH_NORMS = 8, /* before and after the layers */
    LAST_NORM = 16, /* after them */
    FIRST_NORM = 32,
    OWN_SIZE = 64,    /* images of any size */
    NO_BIASES = 128,  /* in the layers */
    TWO_TABLES = 256, /* two position tables, one per side of the image */
    HEAD_NORMS = 512, /* of queries and keys, and two more per block */
    NEWLINE = 1024,   /* an extra row after each line of patches */
};

/* Counted towers: the model_type of vision_config (or of the whole config), the parts of its block,
 * and its projector by the outer model_type. Source: modeling_*.py of each in transformers. */
static const struct tower {
    const char *outer, *type, *norm;
    bool gated;
    unsigned has;
    enum projector projector;
    double layers, width, heads, d_ff, patch; /* defaults of transformers */
} towers[] = {
    /* clang-format off */
    {"mistral3", "pixtral", "rmsnorm", true, FIRST_NORM | OWN_SIZE | NO_BIASES, MERGED, 24, 1024, 16, 4096, 16},
    {"llava", "pixtral", "rmsnorm", true, FIRST_NORM | OWN_SIZE | NO_BIASES, LLAVA, 24, 1024, 16, 4096, 16},
    {"gemma4", "gemma4_vision", "rmsnorm", true, TWO_TABLES | HEAD_NORMS | NO_BIASES, GEMMA4, 16, 768, 12, 3072, 16},
    {"llama4", "llama4_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS, SHUFFLED, 34, 768, 16, 5632, 14},
    {"clip", "clip_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS, PROJECTED, 12, 768, 12, 3072, 32},
    {"mllama", "mllama_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS, TILES, 32, 1280, 16, 5120, 14},
    {"llava", "clip_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS, LLAVA, 12, 768, 12, 3072, 32},
    {"llava", "siglip_vision_model", "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, LLAVA, 12, 768, 12, 3072, 16},
    {"llava_next", "clip_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS | NEWLINE, LLAVA, 12, 768, 12, 3072, 32},
    {"llava_next", "siglip_vision_model", "layernorm", false, GRID | PATCH_BIAS | LAST_NORM | NEWLINE, LLAVA, 12, 768, 12, 3072, 16},
    {"idefics3", NULL, "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, JOINED, 12, 1152, 16, 3072, 32},
    {"smolvlm", NULL, "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, JOINED, 12, 1152, 16, 3072, 32},
    {"gemma3", "siglip_vision_model", "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, GEMMA3, 12, 768, 12, 3072, 16},
    {"paligemma", "siglip_vision_model", "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, LINEAR, 12, 768, 12, 3072, 16},
    {"qwen2_vl", NULL, "layernorm", false, 0, QWEN, 32, 1280, 16, 5120, 14},
    {"qwen2_5_vl", NULL, "rmsnorm", true, 0, QWEN, 32, 3584, 16, 3420, 14},
    {"qwen3_vl", NULL, "layernorm", false, PATCH_BIAS, QWEN_DEEP, 27, 1152, 16, 4304, 16},
    {"qwen3_vl_moe", NULL, "layernorm", false, PATCH_BIAS, QWEN_DEEP, 27, 1152, 16, 4304, 16},
    {"qwen3_5", NULL, "layernorm", false, PATCH_BIAS, QWEN, 27, 1152, 16, 4304, 16},
    {"qwen3_5_moe", NULL, "layernorm", false, PATCH_BIAS, QWEN, 27, 1152, 16, 4304, 16},
    {"kimi_vl", NULL, "layernorm", false, PATCH_BIAS | LAST_NORM, MOON, 27, 1152, 16, 4304, 14},
    {"kimi_k25", NULL, "layernorm", false, PATCH_BIAS | LAST_NORM, MOON, 27, 1152, 16, 4304, 14},
    {"minimax_m3_vl", NULL, "layernorm", false, FIRST_NORM | OWN_SIZE, NECKED, 32, 1280, 16, 5120, 14},
    {"step3p7", NULL, "layernorm", false, FIRST_NORM | GRID, STEP, 47, 1536, 16, 8960, 14},
    /* clang-format on */
};

static const struct tower *find(const char *outer, const char *type)
{
    for (size_t i = 0; outer && i < sizeof towers / sizeof *towers; i++)
        if (strcmp(towers[i].outer, outer) == 0 &&
            (!towers[i].type || (type && strcmp(towers[i].type, type) == 0)))
            return &towers[i];
    return NULL;
}

struct sizes {
    double width, layers, heads, head, d_ff, patch, grid, channels, merge, text, inner;
};

static bool is_qwen(const struct tower *t)
{
    return t->projector == QWEN || t->projector == QWEN_DEEP || t->projector == MOON;
}

/* Image side for towers of any size: 1024 pixels, in whole merged patches. */
static double own_grid(double patch, double merge)
{
    return floor(1024 / (patch * merge)) * merge;
}

/* Whether a MoonViT has the parts of its first version: Kimi K3's has others. */
static bool is_moon(const cJSON *v)
{
    static const char *const parts[][2] = {{"mm_projector_type", "patchmerger"},
                                           {"norm_type", "layernorm"},
                                           {"mlp_type", "mlp2"},
                                           {"pos_emb_type", "divided_fixed"},
                                           {"merge_type", "sd2_tpool"},
                                           {"video_attn_type", "spatial_temporal"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *const text = sp_hf_text_at(v, parts[i][0]);
        if (text && strcmp(text, parts[i][1]) != 0)
            return false;
    }
    const cJSON *const sides = sp_hf_member(v, "merge_kernel_size");
    return !sp_hf_member(v, "qkv_hidden_size") &&
           (!sides ||
            (cJSON_GetArraySize(sides) == 2 && sides->child->valuedouble >= 1 &&
             cJSON_Compare(cJSON_GetArrayItem(sides, 0), cJSON_GetArrayItem(sides, 1), true)));
}

/* Patches per side merged into one token. */
static double merge_of(const cJSON *v, const cJSON *root, const struct tower *t)
{
    const double ratio = sp_hf_number_at(v, "pixel_shuffle_ratio", 0.5);
    const cJSON *const sides = sp_hf_member(v, "merge_kernel_size");
    switch (t->projector) {
    case STEP:
        return 4;
    case QWEN:
    case QWEN_DEEP:
    case NECKED:
        return sp_hf_number_at(v, "spatial_merge_size", 2);
    case MOON:
        return sides ? sides->child->valuedouble : 2;
    case MERGED:
        return sp_hf_number_at(root, "spatial_merge_size", 2);
    case JOINED:
        return sp_hf_number_at(root, "scale_factor", 2);
    case GEMMA4:
        return sp_hf_number_at(v, "pooling_kernel_size", 3);
    case SHUFFLED:
        return ratio > 0 ? floor(1 / ratio) : 1;
    default:
        return 1;
    }
}

static struct sizes sizes_of(const cJSON *v, const cJSON *root, const struct tower *t, double text)
{
    struct sizes s = {.layers = sp_hf_either(v, "num_hidden_layers", "depth", t->layers),
                      .width = sp_hf_either(v, "embed_dim", "hidden_size", t->width),
                      .heads = sp_hf_either(v, "num_attention_heads", "num_heads", t->heads),
                      .head = sp_hf_at(v, "head_dim"),
                      .patch = sp_hf_either(v, "patch_size", "spatial_patch_size", t->patch),
                      .channels = sp_hf_either(v, "num_channels", "in_channels", 3),
                      .merge = merge_of(v, root, t),
                      .text = text,
                      .inner = sp_hf_number_at(v, "projector_input_dim", 4096)};
    const double ratio = sp_hf_at(v, "mlp_ratio");
    s.d_ff = sp_hf_number_at(v, "intermediate_size", ratio > 0 ? ratio * s.width : t->d_ff);
    s.heads = sp_hf_number_at(v, "attention_heads", s.heads);
    if (t->projector == STEP) {
        s.layers = sp_hf_number_at(v, "layers", s.layers);
        s.width = sp_hf_number_at(v, "width", s.width);
        s.heads = sp_hf_number_at(v, "heads", s.heads);
        s.d_ff = ratio > 0 ? floor(ratio * s.width) : s.d_ff;
    }
    if (t->projector == MOON) { /* Kimi K2.5's names */
        s.layers = sp_hf_number_at(v, "vt_num_hidden_layers", s.layers);
        s.width = sp_hf_number_at(v, "vt_hidden_size", s.width);
        s.heads = sp_hf_number_at(v, "vt_num_attention_heads", s.heads);
        s.d_ff = sp_hf_number_at(v, "vt_intermediate_size", s.d_ff);
    }
    const double image = sp_hf_number_at(v, "image_size",
                                         t->projector == SHUFFLED ? 448
                                         : t->projector == STEP   ? 728
                                                                  : 224);
    s.grid = is_qwen(t) || t->has & OWN_SIZE ? own_grid(s.patch, s.merge) : floor(image / s.patch);
    return s;
}

/* Weights outside the layers: norms, class token and the like. */
static double extra_of(const struct tower *t, const struct sizes *s, double deep)
{
    const double norm = strcmp(t->norm, "layernorm") == 0 ? 2 : 1, D = s->width;
    double extra = t->has & CLASS_TOKEN ? D : 0;
    extra += norm * D * (t->has & BOTH_NORMS ? 2 : t->has & (LAST_NORM | FIRST_NORM) ? 1 : 0);
    if (t->projector == MERGED) /* norm, and the matmul on merged patches */
        extra += D + s->merge * s->merge * D * D;
    if (t->projector == SHUFFLED) /* the MLP's second matmul */
        extra += s->inner * s->inner;
    if (t->projector == GEMMA3)
        extra += D;
    if (t->has & NEWLINE)
        extra += s->text;
    if (is_qwen(t)) /* mergers */
        extra += norm * D * (1 + deep * s->merge * s->merge);
    return extra;
}

/* Whether a projector's matmuls have biases, by the config if it states that. */
static bool has_projector_bias(const cJSON *root, const struct tower *t)
{
    const bool never = t->projector == GEMMA3 || t->projector == GEMMA4 ||
                       t->projector == SHUFFLED || t->projector == JOINED;
    if (t->projector == STEP)
        return sp_hf_flag_at(root, "projector_bias", false);
    return !never && sp_hf_flag_at(root, "multimodal_projector_bias", t->projector != MERGED);
}

static void put_projector(cJSON *e, const cJSON *root, const struct tower *t, const struct sizes *s,
                          double deep)
{
    const double merged = s->merge * s->merge;
    const double pooled = sp_hf_number_at(root, "mm_tokens_per_image", 256);
    sp_hf_put(e, "projectors", 1 + deep);
    const bool in_all = is_qwen(t) || t->projector == SHUFFLED || t->projector == JOINED;
    sp_hf_put(e, "projector_in", in_all ? merged * s->width : s->width);
    sp_hf_put(e, "projector_hidden",
              is_qwen(t)                                        ? merged * s->width
              : t->projector == SHUFFLED                        ? s->inner
              : t->projector == LLAVA || t->projector == MERGED ? s->text
                                                                : 0);
    sp_hf_put(e, "merge",
              t->projector == GEMMA3 ? pow(floor(s->grid / sqrt(pooled)), 2)
              : merged > 1           ? merged
                                     : 0);
    cJSON_AddBoolToObject(e, "projector_bias", has_projector_bias(root, t));
}

/* Step's convolutions of 3 x 3 with stride 2, and M3's MLP of all patches. */
static void put_neck(cJSON *e, const cJSON *root, const cJSON *v, const struct tower *t,
                     const struct sizes *s)
{
    const bool step = t->projector == STEP;
    const double hidden = sp_hf_number_at(root, "projector_hidden_size", 6144);
    sp_hf_put(e, "neck_hidden", step ? 2 * s->width : hidden);
    sp_hf_put(e, "neck_out", step ? 4 * s->width : s->text);
    sp_hf_put(e, "neck_taps", step ? 9 : 1);
    sp_hf_put(e, "neck_step", step ? 4 : 1);
    sp_hf_put(e, "projector_in", step ? 4 * s->width : s->merge * s->merge * s->text);
    sp_hf_put(e, "projector_hidden", step ? 0 : hidden);
    if (step && sp_hf_number_at(v, "ls_init_value", 1) > 0) /* scales of both blocks */
        sp_hf_put(e, "extra_layer_params", 2 * s->width);
}

/* Whether a Step's tower has the parts of the published one. */
static bool is_step(const cJSON *v)
{
    return sp_hf_flag_at(v, "use_ln_pre", true) && !sp_hf_flag_at(v, "use_ln_post", false) &&
           sp_hf_flag_at(v, "use_abs_posemb", true) && !sp_hf_flag_at(v, "use_cls_token", false);
}

/* CLIP: text and image projected to one width, with a scale. */
static void put_projections(cJSON *out, cJSON *e, const cJSON *root, const struct sizes *s)
{
    const double numbers = sp_hf_number_at(root, "projection_dim", 512);
    sp_hf_put(e, "extra_params", sp_hf_at(e, "extra_params") + numbers * s->width);
    sp_hf_put(out, "extra_params", numbers * s->text + 1);
}

/* Llama 3.2 Vision's tower: tiled images; gated layers after the others; position tables per
 * arrangement of tiles and one for none, with gates. Source: transformers, modeling_mllama.py. */
static void put_tiles(cJSON *e, const cJSON *v, const struct sizes *s)
{
    const double tiles = sp_hf_number_at(v, "max_num_tiles", 4),
                 gated = sp_hf_number_at(v, "num_global_layers", 8), D = s->width;
    const double places = 1 + cJSON_GetArraySize(sp_hf_member(v, "supported_aspect_ratios"));
    const double patches = s->grid * s->grid + 1;
    const double tables = places * tiles * D * (patches + 2) + 3;
    sp_hf_put(e, "layers", s->layers + gated);
    sp_hf_put(e, "extra_params", sp_hf_at(e, "extra_params") + tables + 2 * gated);
    sp_hf_put(e, "tokens", tiles * patches);
    sp_hf_put(e, "projector_in",
              D * (1 + cJSON_GetArraySize(sp_hf_member(v, "intermediate_layers_indices"))));
    cJSON_DeleteItemFromObjectCaseSensitive(e, "qkv_bias");
    cJSON_DeleteItemFromObjectCaseSensitive(e, "o_bias");
}

/* Llama 3.2 Vision's text model: the listed layers attend to the tower instead, with query and key
 * norms and two gates; the table has 8 more rows than the head. */
static void put_crossed_layers(cJSON *out, const cJSON *o, const struct sizes *s)
{
    const cJSON *at, *const listed = sp_hf_member(o, "cross_attention_layers");
    const double layers = sp_hf_number(o, sp_hf_layers),
                 head = s->text / sp_hf_number(o, sp_hf_heads);
    char letters[256] = "";
    for (int i = 0; i < layers && i < (int)sizeof letters - 1; i++)
        letters[i] = 'A';
    cJSON_ArrayForEach(at, listed)
    {
        const double layer = cJSON_IsNumber(at) ? at->valuedouble : -1;
        if (layer >= 0 && layer < layers && layer < sizeof letters - 1)
            letters[(int)layer] = 'X';
    }
    cJSON_AddStringToObject(out, "pattern", letters);
    sp_hf_put(out, "extra_params", 8 * s->text + (2 * head + 2) * cJSON_GetArraySize(listed));
}

/* Qwen2.5-VL: all layers but the listed ones have a window of this many pixels. */
static void put_windows(cJSON *e, const cJSON *v, const struct sizes *s)
{
    const double side = floor(sp_hf_at(v, "window_size") / s->patch);
    const int global = cJSON_GetArraySize(sp_hf_member(v, "fullatt_block_indexes"));
    sp_hf_put(e, "window", side * side);
    if (side > 0 && global > 0)
        sp_hf_put(e, "global_every", floor(s->layers / global));
}

static void put_block(cJSON *e, const cJSON *v, const struct tower *t, const struct sizes *s)
{
    sp_hf_put(e, "layers", s->layers);
    sp_hf_put(e, "d_model", s->width);
    sp_hf_put(e, "d_ff", s->d_ff);
    sp_hf_put(e, "heads", s->heads);
    sp_hf_put(e, "kv_heads", sp_hf_at(v, "num_key_value_heads"));
    sp_hf_put(e, "head_dim", s->head);
    sp_hf_put(e, "norms_per_layer", t->has & HEAD_NORMS ? 4 : 2);
    cJSON_AddStringToObject(e, "norm", t->norm);
    if (t->has & HEAD_NORMS)
        cJSON_AddStringToObject(e, "qk_norm", "head");
    cJSON_AddBoolToObject(e, "gated_mlp", t->gated);
    cJSON_AddBoolToObject(e, "qkv_bias", !(t->has & NO_BIASES));
    cJSON_AddBoolToObject(e, "o_bias", !(t->has & NO_BIASES));
    cJSON_AddBoolToObject(e, "mlp_bias", !(t->has & NO_BIASES));
}

/* Rows of the position tables. */
static double positions_of(const cJSON *v, const struct tower *t, double tokens)
{
    if (t->has & TWO_TABLES)
        return 2 * sp_hf_number_at(v, "position_embedding_size", 10240);
    if (t->projector == MOON)
        return sp_hf_number_at(v, "init_pos_emb_height", 64) *
               sp_hf_number_at(v, "init_pos_emb_width", 64);
    return t->has & GRID ? tokens : sp_hf_at(v, "num_position_embeddings");
}

/* Patches of an image scaled to this many tokens. */
static double pooled_tokens(const cJSON *root, const struct sizes *s)
{
    return sp_hf_number_at(root, "vision_soft_tokens_per_image", 280) * s->merge * s->merge;
}

/* One image per sequence: as many patches as the config has positions, or a 1,024 x 1,024 image for
 * any size. Its tokens are part of the text sequence. */
const char *sp_hf_put_tower(cJSON *out, const struct sp_hf_config *c)
{
    const cJSON *const v = sp_hf_member(c->json->root, "vision_config");
    const struct tower *const t =
        cJSON_IsObject(v)
            ? find(sp_hf_text_at(c->json->root, "model_type"), sp_hf_text_at(v, "model_type"))
            : NULL;
    if (!t || (t->projector == MOON && !is_moon(v)) || (t->projector == STEP && !is_step(v)))
        return NULL;
    const struct sizes s = sizes_of(v, c->json->root, t, sp_hf_number(c->sizes, sp_hf_width));
    const double deep = t->projector == QWEN_DEEP
                            ? cJSON_GetArraySize(sp_hf_member(v, "deepstack_visual_indexes"))
                            : 0;
    const double first = t->has & CLASS_TOKEN ? 1 : 0, tokens = s.grid * s.grid + first;
    const bool films = (is_qwen(t) && t->projector != MOON) || t->projector == NECKED;
    const double frames = films ? sp_hf_number_at(v, "temporal_patch_size", 2) : 1;
    cJSON *const e = cJSON_AddObjectToObject(out, "encoder");
    put_block(e, v, t, &s);
    sp_hf_put(e, "patch", s.channels * frames * s.patch * s.patch);
    cJSON_AddBoolToObject(e, "patch_bias", t->has & PATCH_BIAS);
    sp_hf_put(e, "positions", positions_of(v, t, tokens));
    sp_hf_put(e, "tokens", t->projector == GEMMA4 ? pooled_tokens(c->json->root, &s) : tokens);
    sp_hf_put(e, "extra_params", extra_of(t, &s, deep));
    if (t->projector == PROJECTED)
        put_projections(out, e, c->json->root, &s);
    else
        put_projector(e, c->json->root, t, &s, deep);
    if (t->projector == NECKED || t->projector == STEP)
        put_neck(e, c->json->root, v, t, &s);
    if (t->projector == TILES) {
        put_tiles(e, v, &s);
        put_crossed_layers(out, c->sizes, &s);
    }
    if (is_qwen(t))
        put_windows(e, v, &s);
    return "vision_config";
}
