/* Hugging Face families with mixers other than attention. */
#ifndef SP_HUGGINGFACE_MIXERS_H
#define SP_HUGGINGFACE_MIXERS_H

#include "hf/families.h"

/* Completes `sizes` where such a family uses other names or has none: heads of a model without
 * attention, number of layers from a list of kinds, MLP width. No effect on other families. */
void sp_hf_fill_mixer(cJSON *sizes, const struct sp_hf_family *family);

/* Adds the layer pattern and the mixers' widths to the document. Fails for unknown kinds of
 * layers. */
bool sp_hf_put_mixer(cJSON *document, const struct sp_hf_config *config,
                     const struct sp_hf_family *family, struct sp_error *error);

#endif
