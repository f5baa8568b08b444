/* Families of Hugging Face configs whose layers are not all attention and an MLP. */
#ifndef SP_HUGGINGFACE_MIXERS_H
#define SP_HUGGINGFACE_MIXERS_H

#include "hf/families.h"

/* Puts into `sizes` what such a family names differently or does not have: heads of a model without
 * attention, the layers of a list of kinds, the width of an MLP. No effect on other families. */
void sp_hf_fill_mixer(cJSON *sizes, const struct sp_hf_family *family);

/* Adds the pattern of the layers and the widths of their mixers to the native document. Fails if
 * scaleplan does not know one of the config's layers. */
bool sp_hf_put_mixer(cJSON *document, const struct sp_hf_config *config,
                     const struct sp_hf_family *family, struct sp_error *error);

#endif
