/* Encoder families, the encoders of encoder-decoders, and towers beside a text model. */
#ifndef SP_HUGGINGFACE_ENCODERS_H
#define SP_HUGGINGFACE_ENCODERS_H

#include "hf/families.h"
#include "hf/head.h"

/* Adds the parts of a family that is an encoder, or has one before it, to its document. */
void sp_hf_put_encoder(cJSON *document, const cJSON *sizes, const struct sp_hf_family *family,
                       const struct sp_hf_head *head);

/* Adds the tower of a multimodal config to the document of its text part. Returns the config's key
 * of the tower, or NULL if no known one is there. For sizes that the config leaves out, takes the
 * defaults of transformers. */
const char *sp_hf_put_tower(cJSON *document, const struct sp_hf_config *config);

/* The same for a tower for sound. */
const char *sp_hf_put_audio_tower(cJSON *document, const struct sp_hf_config *config);

#endif
