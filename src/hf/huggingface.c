/* Converts a Hugging Face config by its family's row. */
#include "hf/huggingface.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hf/families.h"
#include "hf/mixers.h"
#include "hf/encoders.h"
#include "hf/listed.h"
#include "hf/parts.h"
#include "hf/quantized.h"
#include "hf/refuse.h"

bool sp_is_native_model(const cJSON *root)
{
    return sp_hf_member(root, "layers") || sp_hf_member(root, "params");
}

bool sp_is_huggingface(const cJSON *root)
{
    const bool named = sp_hf_member(root, "model_type") || sp_hf_member(root, "architectures");
    return cJSON_IsObject(root) && named && !sp_is_native_model(root);
}

bool sp_reads_as_huggingface(const cJSON *root, const char *assume)
{
    return sp_is_huggingface(root) || (assume && cJSON_IsObject(root) && !sp_is_native_model(root));
}

const char *sp_huggingface_remark(const cJSON *native, int i)
{
    const cJSON *const at = cJSON_GetArrayItem(sp_hf_member(native, "note"), i);
    return at ? at->valuestring : NULL;
}

const char *sp_huggingface_family(size_t i)
{
    const struct sp_hf_family *const family = sp_hf_family_at(i);
    return family ? family->type : sp_hf_alias_at(i);
}

/* Whether a size is required; those of a mixture only with experts. */
static bool is_needed(const cJSON *o, const struct sp_hf_family *f, unsigned trait)
{
    const bool experts = f->traits & HF_EXPERTS || sp_hf_number(o, sp_hf_experts) >= 1;
    switch (trait) {
    case 0:
        return true;
    case HF_EXPERTS:
        return experts;
    case HF_PATCHES: /* image models have no vocabulary */
        return !(f->traits & HF_PATCHES);
    case HF_OWN_WIDTH:
        return experts && f->traits & HF_OWN_WIDTH;
    case HF_LATENT: /* null means none; an absent key is an error */
        return f->traits & HF_LATENT &&
               (sp_hf_member(o, sp_hf_latent[0]) || !sp_hf_key_in(o, sp_hf_latent));
    default: /* plain MLPs default to four times the width */
        return !f->plain_mlp;
    }
}

/* Requires the sizes of a document that was not checked. */
static bool has_sizes(const struct sp_hf_config *c, const struct sp_hf_family *f,
                      struct sp_error *error)
{
    static const struct {
        const char *const *keys;
        unsigned trait;
    } needed[] = {{sp_hf_layers, 0},         {sp_hf_width, 0},
                  {sp_hf_heads, 0},          {sp_hf_vocab, HF_PATCHES},
                  {sp_hf_ff, HF_NEEDS_D_FF}, {sp_hf_experts, HF_EXPERTS},
                  {sp_hf_top, HF_EXPERTS},   {sp_hf_expert_width, HF_OWN_WIDTH},
                  {sp_hf_latent, HF_LATENT}, {sp_hf_nope, HF_LATENT},
                  {sp_hf_rope, HF_LATENT},   {sp_hf_value, HF_LATENT}};
    const int before = error->lines;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const double value = sp_hf_number(c->sizes, needed[i].keys);
        if (is_needed(c->sizes, f, needed[i].trait) &&
            !(value >= 1 && value <= 1e9 && value == floor(value)))
            sp_hf_refuse_size(c, needed[i].keys, error);
    }
    return error->lines == before;
}

/* The text part of a multimodal config, or any other config whole. */
static struct sp_hf_config text_part(const struct sp_json *json)
{
    static const char *const nested[][2] = {{"text_config", "text_config."},
                                            {"llm_config", "llm_config."},
                                            {"language_config", "language_config."},
                                            {"language_model", "language_model."}};
    struct sp_hf_config c = {json, "", json->root};
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++)
        if (cJSON_IsObject(sp_hf_member(json->root, nested[i][0]))) {
            c.sizes = sp_hf_member(json->root, nested[i][0]);
            c.part = nested[i][1];
        }
    return c;
}

/* The model_type, else the type in the class name; "" without either. */
static void type_of(const struct sp_hf_config *c, char *out, size_t size)
{
    const char *const own = sp_hf_text_at(c->sizes, "model_type");
    const char *const type = own ? own : sp_hf_text_at(c->json->root, "model_type");
    if (type)
        snprintf(out, size, "%s", type);
    else
        sp_hf_type_of_class(sp_hf_deciding_class(c), out, size);
}

/* The last part of a path of `length` bytes into `out`. */
static void last_part(const char *path, size_t length, char *out, size_t size)
{
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    snprintf(out, size, "%.*s", (int)(length - start), path + start);
}

/* Names the model after its config, else the file, else the folder of config.json; cache names
 * (hexadecimal) are replaced by the family. */
static void put_name(cJSON *out, const struct sp_hf_config *c, const struct sp_hf_family *f)
{
    char file[60], folder[60];
    const char *const origin = c->json->origin, *const path =
                                                    sp_hf_text_at(c->json->root, "_name_or_path");
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

/* Whether the KV heads divide the query heads. */
static bool divides_heads(const struct sp_hf_config *c, const struct sp_hf_family *f,
                          struct sp_error *error)
{
    const double heads = sp_hf_number(c->sizes, sp_hf_heads),
                 kv = sp_hf_kv_heads(c->sizes, f, heads);
    const char *const key = sp_hf_key_in(c->sizes, sp_hf_kv);
    char at[96];
    if (kv <= 0 || fmod(heads, kv) == 0)
        return true;
    snprintf(at, sizeof at, "%s%s", c->part, key ? key : "attn_config.kv_n_heads");
    return sp_fail(error, SP_INPUT, "%s: %s: %.10g does not divide the %.10g attention heads",
                   sp_json_place(c->json, at), at, kv, heads);
}

static void add_note(cJSON *out, const char *note)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(out, "note");
    if (!list)
        list = cJSON_AddArrayToObject(out, "note");
    cJSON_AddItemToArray(list, cJSON_CreateString(note));
}

/* Whether a key names a part of the model: any part key beside a nested text model; image and audio
 * keys beside sizes at the top level. */
static bool is_part_of(const struct sp_hf_config *c, const char *key)
{
    static const char *const known[] = {"vision_config", "audio_config", "img_processor",
                                        "audio_processor", "perceiver_config"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i]) == 0)
            return true;
    return *c->part && sp_hf_is_model_part(key);
}

/* Notes a tower's parameters and tokens. */
static void note_tower(cJSON *out, const char *tower)
{
    const cJSON *const e = sp_hf_member(out, "encoder");
    char note[320];
    snprintf(note, sizeof note,
             "%s: a tower of %.0f layers is counted and trained, with one %s of %.0f tokens per "
             "sequence (--set model.encoder.tokens=N; model.encoder.frozen=true)",
             tower, sp_hf_at(e, "layers"),
             strcmp(tower, "audio_config") == 0 ? "recording" : "picture", sp_hf_at(e, "tokens"));
    add_note(out, note);
}

/* Notes extra layers for multi-token prediction. They do not count, as in published totals
 * (DeepSeek-V3: 671 B). */
static void note_further_layers(cJSON *out, const cJSON *o)
{
    static const char *const keys[] = {"num_nextn_predict_layers", "mtp_num_hidden_layers",
                                       "num_mtp_modules", "mtp_num_layers"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char note[160];
        const double layers = sp_hf_at(o, keys[i]);
        snprintf(note, sizeof note,
                 "%s: counted without %.0f MTP layers (--set model.mtp_layers=%.0f counts them)",
                 keys[i], layers, layers);
        if (layers > 0)
            add_note(out, note);
    }
}

/* Notes the tokens of an encoder. */
static void note_encoder(cJSON *out)
{
    const cJSON *const e = sp_hf_member(out, "encoder");
    const double tokens = sp_hf_at(e, "tokens");
    char note[320], many[64] = "as many tokens as the decoder's";
    if (tokens > 0)
        snprintf(many, sizeof many, "%.0f tokens", tokens);
    snprintf(note, sizeof note,
             "an encoder of %.0f layers precedes the decoder, with %s per sequence (--set "
             "model.encoder.tokens=N); batches and tokens/s are the decoder's",
             sp_hf_at(e, "layers"), many);
    add_note(out, note);
}

/* Notes parts besides the text model that are not counted; `tower` is counted. */
static void note_left_out(cJSON *out, const struct sp_hf_config *c, const char *tower)
{
    const cJSON *part;
    char words[160] = "", note[240];
    const size_t own = strlen(c->part);
    cJSON_ArrayForEach(part, c->json->root)
    {
        const bool counted = tower && strcmp(part->string, tower) == 0;
        if (cJSON_IsObject(part) && !counted && is_part_of(c, part->string) &&
            (own == 0 || strncmp(part->string, c->part, own - 1) != 0))
            sp_append(words, sizeof words, "%s%s", words[0] ? ", " : "", sp_safe(part->string));
    }
    snprintf(note, sizeof note, "%s, not %s",
             tower ? "the text model and its tower are counted" : "only the text model is counted",
             words);
    if (*words)
        add_note(out, note);
}

/* Notes how a diffusion model that denoises blocks is counted. */
static void note_blocks(cJSON *out)
{
    char note[200];
    const double block = sp_hf_at(out, "denoised");
    snprintf(
        note, sizeof note,
        "tokens attend to all of their block of %.0f (--set model.denoised=N); training passes "
        "each twice, noisy and clean: both count",
        block);
    if (block > 0)
        add_note(out, note);
}

/* Notes that MLPs are counted by their mean. */
static void note_widths(cJSON *out)
{
    char note[160];
    const double mean = sp_hf_at(out, "mean_d_ff");
    snprintf(note, sizeof note,
             "block_configs: MLPs that differ count as their mean width, %.0f: sums are exact, a "
             "layer's times and peaks are not",
             mean);
    if (mean > 0)
        add_note(out, note);
}

static void note_head(cJSON *out, const struct sp_hf_config *c, const struct sp_hf_head *head)
{
    char note[240];
    const char *const class = sp_safe(sp_hf_deciding_class(c));
    if (head->kind == HF_HEAD_VOCABULARY)
        return;
    if (head->kind == HF_HEAD_SCORE)
        snprintf(note, sizeof note, "%s: %.0f labels in place of a vocabulary head", class,
                 head->labels);
    else
        snprintf(note, sizeof note, "%s: no output head is counted", class);
    add_note(out, note);
}

/* Whether widths that follow from a number of heads are whole. */
static bool are_heads_whole(const cJSON *out, const struct sp_hf_config *c,
                            const struct sp_hf_family *f, struct sp_error *error)
{
    const cJSON *const e = sp_hf_member(out, "encoder");
    const double width = e ? sp_hf_at(e, "d_model") : 0, heads = e ? sp_hf_at(e, "heads") : 0;
    const char *const key = sp_hf_key_in(c->sizes, sp_hf_heads);
    char at[96];
    if (fmod(sp_hf_at(out, "head_dim"), 1) != 0) {
        snprintf(at, sizeof at, "%s%s", c->part, key ? key : sp_hf_heads[0]);
        return sp_fail(error, SP_INPUT, "%s: %s: the heads do not divide %s %.10g",
                       sp_json_place(c->json, at), at, sp_hf_key_in(c->sizes, sp_hf_width),
                       sp_hf_number(c->sizes, sp_hf_width));
    }
    const double shared = e ? sp_hf_number_at(e, "kv_heads", heads) : heads;
    if (heads <= 0 ||
        (fmod(sp_hf_number_at(e, "head_dim", width / heads), 1) == 0 && fmod(heads, shared) == 0))
        return true;
    return sp_fail(
        error, SP_INPUT,
        "%s: %s: the %.10g heads of its %s do not divide its width %.10g, or those of its "
        "keys and values do not divide them",
        sp_json_place(c->json, ""), f->type, heads,
        f->traits & HF_ENCODER_DECODER ? "encoder" : "tower", width);
}

static void note_assumed(cJSON *out, const struct sp_hf_config *c, const struct sp_hf_family *f)
{
    char type[64], note[240];
    type_of(c, type, sizeof type);
    const struct sp_hf_family *const own = sp_hf_family_of(type);
    if (own == f)
        return;
    snprintf(note, sizeof note, "assumed: \"%s\" is read as %s; its parts may differ",
             *type ? sp_safe(type) : "?", f->type);
    add_note(out, note);
}

/* Converts a config with all required keys; NULL with an error. */
static cJSON *converted(const struct sp_hf_config *c, const struct sp_hf_family *f,
                        const char *assume, struct sp_error *error)
{
    struct sp_hf_head head;
    if (!has_sizes(c, f, error) || !divides_heads(c, f, error) ||
        !sp_hf_check_features(c, f->type, error) || !sp_hf_head_of(c, assume != NULL, &head, error))
        return NULL;
    cJSON *const out = cJSON_CreateObject();
    put_name(out, c, f);
    cJSON_AddStringToObject(out, "family", f->type);
    sp_hf_put_parts(out, c->sizes, f, &head);
    if (!sp_hf_put_mixer(out, c, f, error)) {
        cJSON_Delete(out);
        return NULL;
    }
    if (f->traits & (HF_BIDIRECTIONAL | HF_ENCODER_DECODER))
        sp_hf_put_encoder(out, c->sizes, f, &head);
    if (!sp_hf_put_formats(out, c))
        add_note(out, "quantization_config: unknown method; weights count as bf16 (--weights)");
    if (assume)
        note_assumed(out, c, f);
    note_head(out, c, &head);
    note_further_layers(out, c->sizes);
    note_blocks(out);
    note_widths(out);
    if (f->traits & HF_ENCODER_DECODER)
        note_encoder(out);
    const char *tower = assume ? NULL : sp_hf_put_tower(out, c);
    if (!assume && !tower)
        tower = sp_hf_put_audio_tower(out, c);
    if (tower)
        note_tower(out, tower);
    note_left_out(out, c, tower);
    if (are_heads_whole(out, c, f, error))
        return out;
    cJSON_Delete(out);
    return NULL;
}

/* Refuses a document that names no architecture. Always NULL. */
static cJSON *refuse_document(const struct sp_json *json, struct sp_error *error)
{
    if (!sp_hf_is_other_file(json, error))
        sp_fail(error, SP_INPUT,
                "%s: not a Hugging Face config: no model_type and no architectures",
                sp_safe(json->origin));
    return NULL;
}

cJSON *sp_from_huggingface(const struct sp_json *json, const char *assume, struct sp_error *error)
{
    struct sp_hf_config c = text_part(json);
    char type[64];
    if (!assume && !sp_is_huggingface(json->root))
        return refuse_document(json, error);
    type_of(&c, type, sizeof type);
    const struct sp_hf_family *const f = sp_hf_family_of(assume ? assume : type);
    if (!f) {
        if (assume)
            sp_hf_refuse_assumed(assume, error);
        else
            sp_hf_refuse_architecture(&c, type, error);
        return NULL;
    }
    cJSON *const all = sp_hf_completed(&c, !assume);
    sp_hf_fill_expert_layers(all);
    sp_hf_fill_mixer(all, f);
    c.sizes = all;
    cJSON *const out = converted(&c, f, assume, error);
    cJSON_Delete(all);
    return out;
}
