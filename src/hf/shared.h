/* Hugging Face families whose layers share weights, keys or values. */
#ifndef SP_HUGGINGFACE_SHARED_H
#define SP_HUGGINGFACE_SHARED_H

#include "hf/keys.h"

/* Completes `sizes` with transformers' defaults for these families, under the common names. */
void sp_hf_fill_zamba2(cJSON *sizes);
void sp_hf_fill_gemma3n(cJSON *sizes);
void sp_hf_fill_gemma4(cJSON *sizes);

/* Whether the list of kinds names every layer, after the fill above. */
bool sp_hf_is_whole_zamba2(const cJSON *sizes);

/* Adds the pattern and the parts of shared blocks (Zamba 2), reused keys and values, and side
 * streams (Gemma 3n, Gemma 4). */
void sp_hf_put_zamba2(cJSON *document, const cJSON *sizes);
void sp_hf_put_gemma3n(cJSON *document, const cJSON *sizes);
void sp_hf_put_gemma4(cJSON *document, const cJSON *sizes);

#endif
