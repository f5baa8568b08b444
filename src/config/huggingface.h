/* Hugging Face configs, unchanged, as native model documents. */
#ifndef SP_HUGGINGFACE_H
#define SP_HUGGINGFACE_H

#include "base/json.h"

/* Whether a document is a Hugging Face config: it names its architecture and has no native keys. */
bool sp_is_huggingface(const cJSON *root);

/* The native model document of a config: a new object for cJSON_Delete, or NULL with an error. An
 * unknown architecture is refused with what is known of it; `assume` (or NULL) names the family it
 * is to be read as. Multimodal configs: their text part. */
cJSON *sp_from_huggingface(const struct sp_json *json, const char *assume, struct sp_error *error);

#endif
