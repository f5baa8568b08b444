/* Towers for pictures beside a text model: vision_config of multimodal configs. */
#include <math.h>
#include <string.h>

#include "config/huggingface_encoders.h"

/* What leads from a tower into the text model. */
enum projector {
    LLAVA,     /* an MLP of the text's width, its two matmuls with biases */
    LINEAR,    /* one matmul with a bias */
    GEMMA3,    /* one matmul without a bias on pooled patches, and a norm */
    QWEN,      /* a norm, and an MLP as wide as the merged patches */
    QWEN_DEEP, /* the same, and one more for each layer that feeds the text's first ones */
    PROJECTED, /* a row of weights for each number that both sides are compared by */
    TILES,     /* one matmul with a bias on outputs of several layers (Llama 3.2 Vision) */
};

enum {
    CLASS_TOKEN = 1,
    GRID = 2, /* a row of positions for each patch, and for a class token */
    PATCH_BIAS = 4,
    BOTH_NORMS = 8, /* before and after the layers */
    LAST_NORM = 16, /* after them */
};

/* Towers that are counted: the model_type of vision_config (or of the whole), how its block is
 * made, and its projector by the outer model_type. Source: modeling_*.py of each in transformers.
 */
static const struct tower {
    const char *outer, *type, *norm;
    bool gated;
    unsigned has;
    enum projector projector;
    double layers, width, heads, d_ff, patch; /* that transformers takes where a key is absent */
} towers[] = {
    /* clang-format off */
    {"clip", "clip_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS, PROJECTED, 12, 768, 12, 3072, 32},
    {"mllama", "mllama_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS, TILES, 32, 1280, 16, 5120, 14},
    {"llava", "clip_vision_model", "layernorm", false, CLASS_TOKEN | GRID | BOTH_NORMS, LLAVA, 12, 768, 12, 3072, 32},
    {"llava", "siglip_vision_model", "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, LLAVA, 12, 768, 12, 3072, 16},
    {"gemma3", "siglip_vision_model", "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, GEMMA3, 12, 768, 12, 3072, 16},
    {"paligemma", "siglip_vision_model", "layernorm", false, GRID | PATCH_BIAS | LAST_NORM, LINEAR, 12, 768, 12, 3072, 16},
    {"qwen2_vl", NULL, "layernorm", false, 0, QWEN, 32, 1280, 16, 5120, 14},
    {"qwen2_5_vl", NULL, "rmsnorm", true, 0, QWEN, 32, 3584, 16, 3420, 14},
    {"qwen3_vl", NULL, "layernorm", false, PATCH_BIAS, QWEN_DEEP, 27, 1152, 16, 4304, 16},
    {"qwen3_vl_moe", NULL, "layernorm", false, PATCH_BIAS, QWEN_DEEP, 27, 1152, 16, 4304, 16},
    /* clang-format on */
};

static double first_of(const cJSON *o, const char *a, const char *b, double otherwise)
{
    return sp_hf_number_at(o, a, sp_hf_number_at(o, b, otherwise));
}

static void put(cJSON *out, const char *key, double value)
{
    if (value > 0)
        cJSON_AddNumberToObject(out, key, value);
}

static void set(cJSON *out, const char *key, double value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(out, key);
    put(out, key, value);
}

static const struct tower *find(const char *outer, const char *type)
{
    for (size_t i = 0; outer && i < sizeof towers / sizeof *towers; i++)
        if (strcmp(towers[i].outer, outer) == 0 &&
            (!towers[i].type || (type && strcmp(towers[i].type, type) == 0)))
            return &towers[i];
    return NULL;
}

struct sizes {
    double width, layers, heads, d_ff, patch, grid, channels, merge, text;
};

static bool is_qwen(const struct tower *t)
{
    return t->projector == QWEN || t->projector == QWEN_DEEP;
}

/* A side of a picture that is worked on as it comes: 1024 pixels, in whole merged patches. */
static double own_grid(double patch, double merge)
{
    return floor(1024 / (patch * merge)) * merge;
}

static struct sizes sizes_of(const cJSON *v, const struct tower *t, double text)
{
    struct sizes s = {.layers = first_of(v, "num_hidden_layers", "depth", t->layers),
                      .width = first_of(v, "embed_dim", "hidden_size", t->width),
                      .heads = first_of(v, "num_attention_heads", "num_heads", t->heads),
                      .patch = first_of(v, "patch_size", "spatial_patch_size", t->patch),
                      .channels = first_of(v, "num_channels", "in_channels", 3),
                      .merge = is_qwen(t) ? sp_hf_number_at(v, "spatial_merge_size", 2) : 1,
                      .text = text};
    const double ratio = sp_hf_number_at(v, "mlp_ratio", 0);
    s.d_ff = sp_hf_number_at(v, "intermediate_size", ratio > 0 ? ratio * s.width : t->d_ff);
    s.heads = sp_hf_number_at(v, "attention_heads", s.heads);
    s.grid = is_qwen(t) ? own_grid(s.patch, s.merge)
                        : floor(sp_hf_number_at(v, "image_size", 224) / s.patch);
    return s;
}

/* Norms beside the layers, class token and the like. */
static double extra_of(const struct tower *t, const struct sizes *s, double deep)
{
    const double norm = strcmp(t->norm, "layernorm") == 0 ? 2 : 1, D = s->width;
    double extra = t->has & CLASS_TOKEN ? D : 0;
    extra += norm * D * (t->has & BOTH_NORMS ? 2 : t->has & LAST_NORM ? 1 : 0);
    if (t->projector == GEMMA3)
        extra += D;
    if (is_qwen(t)) /* of the mergers */
        extra += norm * D * (1 + deep * s->merge * s->merge);
    return extra;
}

static void put_projector(cJSON *e, const cJSON *root, const struct tower *t, const struct sizes *s,
                          double deep)
{
    const double merged = s->merge * s->merge, tokens = s->grid * s->grid;
    const double pooled = sp_hf_number_at(root, "mm_tokens_per_image", 256);
    put(e, "projectors", 1 + deep);
    put(e, "projector_in", is_qwen(t) ? merged * s->width : s->width);
    put(e, "projector_hidden",
        is_qwen(t)              ? merged * s->width
        : t->projector == LLAVA ? s->text
                                : 0);
    put(e, "merge", is_qwen(t) ? merged : t->projector == GEMMA3 ? floor(tokens / pooled) : 0);
    cJSON_AddBoolToObject(e, "projector_bias", t->projector != GEMMA3);
}

/* CLIP: both sides end in as many numbers, and a scale. */
static void put_projections(cJSON *out, cJSON *e, const cJSON *root, const struct sizes *s)
{
    const double numbers = sp_hf_number_at(root, "projection_dim", 512);
    set(e, "extra_params", sp_hf_number_at(e, "extra_params", 0) + numbers * s->width);
    set(out, "extra_params", numbers * s->text + 1);
}

/* Llama 3.2 Vision's tower: a picture in tiles; gated layers after the others; tables of the
 * tiles' places for each arrangement and none, with gates. Source: transformers,
 * modeling_mllama.py. */
static void put_tiles(cJSON *e, const cJSON *v, const struct sizes *s)
{
    const double tiles = sp_hf_number_at(v, "max_num_tiles", 4),
                 gated = sp_hf_number_at(v, "num_global_layers", 8), D = s->width;
    const double places = 1 + cJSON_GetArraySize(sp_hf_member(v, "supported_aspect_ratios"));
    const double patches = s->grid * s->grid + 1;
    const double tables = places * tiles * D * (patches + 2) + 3;
    set(e, "layers", s->layers + gated);
    set(e, "extra_params", sp_hf_number_at(e, "extra_params", 0) + tables + 2 * gated);
    set(e, "tokens", tiles * patches);
    set(e, "projector_in",
        D * (1 + cJSON_GetArraySize(sp_hf_member(v, "intermediate_layers_indices"))));
    cJSON_DeleteItemFromObjectCaseSensitive(e, "qkv_bias");
    cJSON_DeleteItemFromObjectCaseSensitive(e, "o_bias");
}

/* Llama 3.2 Vision's text: the listed layers attend to the tower instead of to themselves, with
 * norms of queries and keys and two gates; the table has 8 rows more than the head. */
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
    set(out, "extra_params", 8 * s->text + (2 * head + 2) * cJSON_GetArraySize(listed));
}

/* Qwen2.5-VL: windows of so many pixels in all layers but those that are listed. */
static void put_windows(cJSON *e, const cJSON *v, const struct sizes *s)
{
    const double side = floor(sp_hf_number_at(v, "window_size", 0) / s->patch);
    const int global = cJSON_GetArraySize(sp_hf_member(v, "fullatt_block_indexes"));
    put(e, "window", side * side);
    if (side > 0 && global > 0)
        put(e, "global_every", floor(s->layers / global));
}

static void put_block(cJSON *e, const struct tower *t, const struct sizes *s)
{
    put(e, "layers", s->layers);
    put(e, "d_model", s->width);
    put(e, "d_ff", s->d_ff);
    put(e, "heads", s->heads);
    put(e, "norms_per_layer", 2);
    cJSON_AddStringToObject(e, "norm", t->norm);
    cJSON_AddBoolToObject(e, "gated_mlp", t->gated);
    cJSON_AddBoolToObject(e, "qkv_bias", true);
    cJSON_AddBoolToObject(e, "o_bias", true);
    cJSON_AddBoolToObject(e, "mlp_bias", true);
}

const char *sp_hf_put_tower(cJSON *out, const struct sp_hf_config *c)
{
    const cJSON *const v = sp_hf_member(c->json->root, "vision_config");
    const struct tower *const t =
        cJSON_IsObject(v)
            ? find(sp_hf_text_at(c->json->root, "model_type"), sp_hf_text_at(v, "model_type"))
            : NULL;
    if (!t)
        return NULL;
    const struct sizes s = sizes_of(v, t, sp_hf_number(c->sizes, sp_hf_width));
    const double deep = t->projector == QWEN_DEEP
                            ? cJSON_GetArraySize(sp_hf_member(v, "deepstack_visual_indexes"))
                            : 0;
    const double first = t->has & CLASS_TOKEN ? 1 : 0, tokens = s.grid * s.grid + first;
    const double frames = is_qwen(t) ? sp_hf_number_at(v, "temporal_patch_size", 2) : 1;
    cJSON *const e = cJSON_AddObjectToObject(out, "encoder");
    put_block(e, t, &s);
    put(e, "patch", s.channels * frames * s.patch * s.patch);
    cJSON_AddBoolToObject(e, "patch_bias", t->has & PATCH_BIAS);
    put(e, "positions", t->has & GRID ? tokens : sp_hf_number_at(v, "num_position_embeddings", 0));
    put(e, "tokens", tokens);
    put(e, "extra_params", extra_of(t, &s, deep));
    if (t->projector == PROJECTED)
        put_projections(out, e, c->json->root, &s);
    else
        put_projector(e, c->json->root, t, &s, deep);
    if (t->projector == TILES) {
        put_tiles(e, v, &s);
        put_crossed_layers(out, c->sizes, &s);
    }
    if (is_qwen(t))
        put_windows(e, v, &s);
    return "vision_config";
}
