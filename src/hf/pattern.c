/* Converts a config's list of layers to a pattern of letters. */
#include "hf/pattern.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAMES(name, ...) const char *const sp_hf_##name[] = {__VA_ARGS__, NULL}

NAMES(kinds, "layers_block_type", "indexer_types", "hybrid_layer_pattern", "layer_types",
      "compress_ratios");
NAMES(indices, "attn_layer_indices", "full_attn_idxs");

const cJSON *sp_hf_array(const cJSON *o, const char *const *keys)
{
    const cJSON *found = NULL;
    for (int i = 0; keys[i] && !found; i++)
        found = cJSON_IsArray(sp_hf_member(o, keys[i])) ? sp_hf_member(o, keys[i]) : NULL;
    return found;
}

/* The letter of a named kind of layer; NUL if unknown. */
static char letter_of(const char *family, const char *kind)
{
    static const struct {
        const char *kind;
        char letter; /* for single blocks; W: the family's third letter */
    } known[] = {{"full_attention", '*'},
                 {"attention", '*'},
                 {"linear_attention", 'M'},
                 {"mamba", 'M'},
                 {"conv", 'M'},
                 {"mlp", '-'},
                 {"moe", 'E'},
                 {"full", '*'},
                 {"shared", 'M'},
                 {"compressed_sparse_attention", '*'},
                 {"heavily_compressed_attention", 'M'},
                 {"sliding_attention", 'W'}};
    const bool alone = family[0] == '*';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kind, kind) == 0)
            return alone                    ? known[i].letter
                   : known[i].letter == '*' ? family[0]
                   : known[i].letter == 'M' ? family[1]
                   : known[i].letter == 'W' ? family[2]
                                            : '\0';
    return '\0';
}

/* The letter of a kind that is a number: 1 for layers of the other mixer; or, where the family has
 * three, the tokens of an entry (DeepSeek-V4). */
static char letter_of_number(const char *family, double number)
{
    if (!family[2])
        return family[number > 0];
    return number == 4 ? family[0] : number == 128 ? family[1] : number <= 1 ? family[2] : '\0';
}

/* Letters of a list of kinds; returns the number of known ones. DeepSeek-V4's list also contains
 * the modules for further tokens. */
static int letters_of_kinds(const char *family, const cJSON *kinds, int layers, char *out)
{
    const cJSON *kind;
    int n = 0;
    cJSON_ArrayForEach(kind, kinds)
    {
        out[n] = cJSON_IsString(kind)   ? letter_of(family, kind->valuestring)
                 : cJSON_IsNumber(kind) ? letter_of_number(family, kind->valuedouble)
                                        : '\0';
        if (!out[n] || (family[2] && n == layers))
            break;
        n++;
    }
    return n;
}

/* Letters of layers whose attention layers are listed. */
static int letters_of_indices(const char *family, const cJSON *indices, int layers, char *out)
{
    const cJSON *index;
    memset(out, family[1], (size_t)layers);
    cJSON_ArrayForEach(index, indices)
    {
        if (cJSON_IsNumber(index) && index->valuedouble >= 0 && index->valuedouble < layers)
            out[(int)index->valuedouble] = family[0];
    }
    return layers;
}

/* Letters of layers with attention in every n-th, or none. */
static int letters_by_period(const char *family, const cJSON *o, int layers, char *out)
{
    const double interval = sp_hf_at(o, "full_attention_interval");
    const double period = sp_hf_number_at(o, "attn_layer_period", interval);
    const double offset = sp_hf_number_at(o, "attn_layer_offset", period - 1);
    for (int i = 0; i < layers; i++)
        out[i] = family[period >= 1 && fmod(i, floor(period)) == offset ? 0 : 1];
    return layers;
}

/* Letters of all layers; returns the number of known ones. */
static int letters_of(const char *family, const cJSON *o, int layers, char *out)
{
    const cJSON *const kinds = sp_hf_array(o, sp_hf_kinds), *const indices =
                                                                sp_hf_array(o, sp_hf_indices);
    const char *const text = sp_hf_text_at(o, "hybrid_override_pattern");
    if (kinds)
        return letters_of_kinds(family, kinds, layers, out);
    if (text) {
        const size_t known = strspn(text, "M*-E");
        if (known > SP_HF_MOST_LAYERS)
            return 0;
        memcpy(out, text, known);
        return (int)known;
    }
    return indices ? letters_of_indices(family, indices, layers, out)
                   : letters_by_period(family, o, layers, out);
}

void sp_hf_shorten(char *letters, int n)
{
    for (int period = 1; period < n; period++)
        if (memcmp(letters, letters + period, (size_t)(n - period)) == 0)
            n = period;
    letters[n] = '\0';
}

bool sp_hf_put_pattern(cJSON *out, const struct sp_hf_config *c, const char *family,
                       struct sp_error *error)
{
    char letters[SP_HF_MOST_LAYERS + 1];
    const double layers = sp_hf_number(c->sizes, sp_hf_layers);
    const char *const key = sp_hf_key_in(c->sizes, sp_hf_kinds);
    char path[96];
    snprintf(path, sizeof path, "%s%s", c->part, key ? key : "hybrid_override_pattern");
    const int known =
        layers <= SP_HF_MOST_LAYERS ? letters_of(family, c->sizes, (int)layers, letters) : 0;
    if (known != (int)layers)
        return sp_fail(error, SP_INPUT, "%s: %s has the kinds of %d layers; the model has %.0f",
                       sp_json_place(c->json, path), path, known, layers);
    sp_hf_shorten(letters, known);
    if (strlen(letters) > SP_HF_MOST_LETTERS)
        return sp_fail(error, SP_INPUT, "%s: %s: more than %d layers that do not repeat",
                       sp_json_place(c->json, path), path, SP_HF_MOST_LETTERS);
    cJSON_AddStringToObject(out, "pattern", letters);
    return true;
}
