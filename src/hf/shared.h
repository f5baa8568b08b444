/* Families of Hugging Face configs whose layers share weights, or keys and values. */
#ifndef SP_HUGGINGFACE_SHARED_H
#define SP_HUGGINGFACE_SHARED_H

#include "hf/keys.h"

/* Puts into `sizes` the defaults of transformers for the keys of these families, under the names
 * that other families use. */
void sp_hf_fill_zamba2(cJSON *sizes);
void sp_hf_fill_gemma3n(cJSON *sizes);
void sp_hf_fill_gemma4(cJSON *sizes);

/* Whether the list of kinds names every layer, after the fill above. */
bool sp_hf_is_whole_zamba2(const cJSON *sizes);

/* Adds the pattern to a native document, and the parts of blocks shared by layers (Zamba 2), of
 * layers that reuse keys and values of an earlier one, and of paths around the blocks (Gemma 3n,
 * Gemma 4). */
void sp_hf_put_zamba2(cJSON *document, const cJSON *sizes);
void sp_hf_put_gemma3n(cJSON *document, const cJSON *sizes);
void sp_hf_put_gemma4(cJSON *document, const cJSON *sizes);

#endif
