/* Encoder families, encoders of encoder-decoders, and towers of text models. */
#ifndef SP_HUGGINGFACE_ENCODERS_H
#define SP_HUGGINGFACE_ENCODERS_H

#include "hf/families.h"
#include "hf/head.h"

/* Adds the encoder parts of a family to its document. */
void sp_hf_put_encoder(cJSON *document, const cJSON *sizes, const struct sp_hf_family *family,
                       const struct sp_hf_head *head);

/* Adds the image tower of a multimodal config to the document of its text part, with transformers'
 * defaults for missing sizes. Returns the config's key of the tower, or NULL if it has no known
 * one. */
const char *sp_hf_put_tower(cJSON *document, const struct sp_hf_config *config);

/* The same for an audio tower. */
const char *sp_hf_put_audio_tower(cJSON *document, const struct sp_hf_config *config);

#endif
