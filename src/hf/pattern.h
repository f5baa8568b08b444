/* The mixers of a Hugging Face config's layers as a native pattern. */
#ifndef SP_HUGGINGFACE_PATTERN_H
#define SP_HUGGINGFACE_PATTERN_H

#include "hf/keys.h"

enum { SP_HF_MOST_LAYERS = 10000, SP_HF_MOST_LETTERS = 255 /* of a model's pattern */ };

/* Keys of lists of layers: kinds per layer, and indices of attention layers. */
extern const char *const sp_hf_kinds[];
extern const char *const sp_hf_indices[];

/* The list under the first of the keys that has one; NULL if none has. */
const cJSON *sp_hf_array(const cJSON *object, const char *const *keys);

/* Shortens `n` letters to their period, with a final NUL. */
void sp_hf_shorten(char *letters, int n);

/* Adds the pattern: `letters` are the family's letters for attention and its other mixer ("AL" for
 * layers of two blocks, "*M" for single blocks). Fails for other layers, or more than fit. */
bool sp_hf_put_pattern(cJSON *document, const struct sp_hf_config *config, const char *letters,
                       struct sp_error *error);

#endif
