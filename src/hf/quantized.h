/* Formats that a Hugging Face config keeps its weights in. */
#ifndef SP_HUGGINGFACE_QUANTIZED_H
#define SP_HUGGINGFACE_QUANTIZED_H

#include "hf/keys.h"

/* Puts the formats of `quantization_config` under weights, experts and kv: names of enum
 * sp_storage. False if there is one of an unknown method, which counts as none. */
bool sp_hf_put_formats(cJSON *out, const struct sp_hf_config *config);

#endif
