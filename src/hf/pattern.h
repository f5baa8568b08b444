/* Which layer of a Hugging Face config has which mixer, as the pattern of a native document. */
#ifndef SP_HUGGINGFACE_PATTERN_H
#define SP_HUGGINGFACE_PATTERN_H

#include "hf/keys.h"

enum { SP_HF_MOST_LAYERS = 10000, SP_HF_MOST_LETTERS = 255 /* of a model's pattern */ };

/* Keys of lists of layers: the kind of each layer, and the numbers of those with attention. */
extern const char *const sp_hf_kinds[];
extern const char *const sp_hf_indices[];

/* The list under the first of the keys that has one; NULL if none has. */
const cJSON *sp_hf_array(const cJSON *object, const char *const *keys);

/* Shortens `n` letters to the part that repeats, and ends it with a NUL. */
void sp_hf_shorten(char *letters, int n);

/* Adds the pattern: `letters` has the family's letter for attention, then the one for its other
 * mixer ("AL" for blocks of two, "*M" for single ones). Fails if the config names other layers, or
 * more than a model has room for. */
bool sp_hf_put_pattern(cJSON *document, const struct sp_hf_config *config, const char *letters,
                       struct sp_error *error);

#endif
