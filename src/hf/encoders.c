/* Encoders of text and images, and the encoders of encoder-decoders. */
#include "hf/encoders.h"

#include <string.h>

/* The part after an encoder's layers: a pooler, or the transform of a head. */
static void put_encoder_head(cJSON *out, const struct sp_hf_family *f,
                             const struct sp_hf_head *head)
{
    const bool transforms = f->traits & HF_DENSE_HEAD && head->kind != HF_HEAD_NONE &&
                            !(head->each_token && !(f->traits & HF_DENSE_NORM));
    const bool pools = f->traits & HF_POOLER && head->kind == HF_HEAD_NONE;
    const bool vocabulary = head->kind == HF_HEAD_VOCABULARY;
    sp_hf_put_flag(out, "head_dense", transforms || pools);
    sp_hf_put_flag(out, "head_norm", transforms && (vocabulary || f->traits & HF_DENSE_NORM));
    /* not of diffusion models, decoders with RMSNorm that attend both ways */
    sp_hf_put_flag(out, "lm_head_bias", head->kind != HF_HEAD_NONE && f->norm);
}

/* Image patches and a class token, each with a position row. A patch convolution is a matmul per
 * patch. Whisper's first convolution runs on twice as many frames at a twelfth of the width; only
 * its weights count. */
static void put_patches(cJSON *out, const cJSON *o)
{
    const double side = sp_hf_at(o, "patch_size"), grid = sp_hf_at(o, "image_size") / side;
    const double tokens = grid * grid + 1;
    sp_hf_put(out, "patch", sp_hf_at(o, "num_channels") * side * side);
    sp_hf_put(out, "learned_positions", tokens);
    sp_hf_put(out, "extra_params", sp_hf_number(o, sp_hf_width));
    sp_hf_put(out, "max_seq", tokens);
}

/* The encoder's widths: the decoder's, except for `layers`, `heads` and `d_ff`. */
static cJSON *add_encoder(cJSON *out, double layers, double heads, double d_ff)
{
    static const char *const same[] = {"d_model",  "head_dim", "norm",    "gated_mlp",
                                       "qkv_bias", "o_bias",   "mlp_bias"};
    cJSON *const e = cJSON_CreateObject();
    sp_hf_put(e, "layers", layers);
    sp_hf_put(e, "heads", heads);
    sp_hf_put(e, "d_ff", d_ff);
    sp_hf_put(e, "norms_per_layer", 2);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        cJSON_AddItemToObject(e, same[i], cJSON_Duplicate(sp_hf_member(out, same[i]), true));
    cJSON_AddItemToObject(out, "encoder", e);
    cJSON_AddBoolToObject(out, "cross_attention", true);
    return e;
}

/* T5: a table of relative positions in the first layer of each half. */
static void put_t5(cJSON *out, const cJSON *o)
{
    const char *const mlp = sp_hf_text_at(o, "feed_forward_proj");
    const double heads = sp_hf_number(o, sp_hf_heads);
    const double table = heads * sp_hf_at(o, "relative_attention_num_buckets");
    if (mlp)
        cJSON_ReplaceItemInObjectCaseSensitive(out, "gated_mlp",
                                               cJSON_CreateBool(strncmp(mlp, "gated", 5) == 0));
    cJSON *const e = add_encoder(out, sp_hf_at(o, "num_layers"), heads, sp_hf_at(o, "d_ff"));
    sp_hf_put(e, "extra_params", table + sp_hf_number(o, sp_hf_width));
    sp_hf_put(out, "extra_params", table);
}

/* ALBERT: the layers share their weights; the projection from the tables has biases; a classifier
 * of sequences has a pooler. */
static void put_albert(cJSON *out, const cJSON *o, const struct sp_hf_head *head)
{
    const double D = sp_hf_number(o, sp_hf_width), E = sp_hf_at(o, "embedding_size");
    const double inner = sp_hf_at(o, "inner_group_num");
    const bool vocabulary = head->kind == HF_HEAD_VOCABULARY;
    cJSON *const x = cJSON_AddObjectToObject(out, "shared_block");
    sp_hf_put(out, "layers", sp_hf_number(o, sp_hf_layers) * inner);
    sp_hf_put(x, "sets", sp_hf_at(o, "num_hidden_groups") * inner);
    sp_hf_put(out, "embedding_width", E);
    sp_hf_put(out, "extra_params",
              (sp_hf_number(o, sp_hf_positions) + sp_hf_at(o, "type_vocab_size")) * E + D +
                  (vocabulary ? E : 0));
    sp_hf_put_flag(out, "head_norm", vocabulary);
    sp_hf_put_flag(out, "head_dense",
                   head->kind == HF_HEAD_NONE ||
                       (head->kind == HF_HEAD_SCORE && !head->each_token));
    cJSON_AddStringToObject(out, "pattern", "S");
}

/* BART, mBART: a position table and a norm before each half; mBART also has a norm after it. */
static void put_bart(cJSON *out, const cJSON *o, const struct sp_hf_family *f)
{
    const double D = sp_hf_number(o, sp_hf_width);
    cJSON *const e =
        add_encoder(out, sp_hf_at(o, "encoder_layers"), sp_hf_at(o, "encoder_attention_heads"),
                    sp_hf_at(o, "encoder_ffn_dim"));
    sp_hf_put(e, "positions", sp_hf_number(o, sp_hf_positions) + 2);
    sp_hf_put(e, "extra_params", 2 * D * (f->traits & HF_POST_NORM ? 1 : 2));
}

/* Whisper's encoder of width D: two convolutions (the second halves the frames), a position table,
 * a norm after the layers; keys have no bias. */
static void put_frames(cJSON *e, double D, double mel, double frames)
{
    sp_hf_put(e, "patch", 3 * D);
    cJSON_AddBoolToObject(e, "patch_bias", true);
    sp_hf_put(e, "positions", frames);
    sp_hf_put(e, "tokens", frames);
    sp_hf_put(e, "extra_params", 3 * mel * D + D + 2 * D);
    sp_hf_put(e, "extra_layer_params", 2 * D);
}

static void put_whisper(cJSON *out, const cJSON *o)
{
    const double D = sp_hf_number(o, sp_hf_width);
    cJSON *const e =
        add_encoder(out, sp_hf_at(o, "encoder_layers"), sp_hf_at(o, "encoder_attention_heads"),
                    sp_hf_at(o, "encoder_ffn_dim"));
    put_frames(e, D, sp_hf_at(o, "num_mel_bins"), sp_hf_at(o, "max_source_positions"));
    sp_hf_put(out, "extra_attention_params_per_layer", 4 * D);
}

/* Audio towers of text models, by the outer model_type: Whisper's encoder, several frames joined
 * into one, a projector. Source: modeling_*.py of each in transformers. */
static const struct sound {
    const char *outer;
    double merge;
    bool joins; /* frames are joined, not averaged */
    bool mlp;   /* the projector has a second matmul, of the text's width */
    bool bias;
} sounds[] = {{"qwen2_audio", 2, false, false, true}, {"voxtral", 4, true, true, false}};

static const struct sound *sound_of(const char *outer)
{
    for (size_t i = 0; outer && i < sizeof sounds / sizeof *sounds; i++)
        if (strcmp(sounds[i].outer, outer) == 0)
            return &sounds[i];
    return NULL;
}

const char *sp_hf_put_audio_tower(cJSON *out, const struct sp_hf_config *c)
{
    const cJSON *const a = sp_hf_member(c->json->root, "audio_config");
    const struct sound *const s = sound_of(sp_hf_text_at(c->json->root, "model_type"));
    if (!s || !cJSON_IsObject(a))
        return NULL;
    const double D = sp_hf_either(a, "d_model", "hidden_size", 1280);
    cJSON *const e = cJSON_AddObjectToObject(out, "encoder");
    sp_hf_put(e, "layers", sp_hf_either(a, "encoder_layers", "num_hidden_layers", 32));
    sp_hf_put(e, "d_model", D);
    sp_hf_put(e, "d_ff", sp_hf_either(a, "encoder_ffn_dim", "intermediate_size", 5120));
    sp_hf_put(e, "heads", sp_hf_either(a, "encoder_attention_heads", "num_attention_heads", 20));
    sp_hf_put(e, "norms_per_layer", 2);
    cJSON_AddStringToObject(e, "norm", "layernorm");
    cJSON_AddBoolToObject(e, "o_bias", true);
    cJSON_AddBoolToObject(e, "mlp_bias", true);
    put_frames(e, D, sp_hf_number_at(a, "num_mel_bins", 128),
               sp_hf_number_at(a, "max_source_positions", 1500));
    sp_hf_put(e, "projectors", 1);
    sp_hf_put(e, "projector_in", s->joins ? s->merge * D : D);
    sp_hf_put(e, "projector_hidden", s->mlp ? sp_hf_number(c->sizes, sp_hf_width) : 0);
    sp_hf_put(e, "merge", s->merge);
    sp_hf_put_flag(e, "projector_bias", s->bias);
    return "audio_config";
}

/* An encoder has as many tokens as its decoder unless encoder.tokens is set (Whisper: 1,500 per
 * sequence). */
void sp_hf_put_encoder(cJSON *out, const cJSON *o, const struct sp_hf_family *f,
                       const struct sp_hf_head *head)
{
    sp_hf_put_flag(out, "no_final_norm", f->traits & HF_POST_NORM);
    if (f->traits & HF_BIDIRECTIONAL) {
        cJSON_AddBoolToObject(out, "bidirectional", true);
        put_encoder_head(out, f, head);
    }
    if (f->traits & HF_BIDIRECTIONAL && f->traits & HF_LEARNED)
        sp_hf_put(out, "learned_positions",
                  sp_hf_number(o, sp_hf_positions) + sp_hf_at(o, "type_vocab_size"));
    if (f->traits & HF_PATCHES)
        put_patches(out, o);
    if (strcmp(f->type, "t5") == 0 || strcmp(f->type, "mt5") == 0)
        put_t5(out, o);
    else if (strcmp(f->type, "whisper") == 0)
        put_whisper(out, o);
    else if (strcmp(f->type, "albert") == 0)
        put_albert(out, o, head);
    else if (f->traits & HF_ENCODER_DECODER)
        put_bart(out, o, f);
}
