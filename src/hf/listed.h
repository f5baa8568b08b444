/* Hugging Face families whose configs list layers by numbers, and widths of their own. */
#ifndef SP_HUGGINGFACE_LISTED_H
#define SP_HUGGINGFACE_LISTED_H

#include "hf/keys.h"

/* The key that lists which layers have experts by numbers; NULL: none. */
const char *sp_hf_experts_key(const cJSON *sizes);

/* Writes such a list as one of kinds, "mlp_layer_types". */
void sp_hf_fill_expert_layers(cJSON *sizes);

/* Completes `sizes` under the common names, and adds the parts of such a family. */
void sp_hf_fill_minimax_m3(cJSON *sizes);
void sp_hf_put_minimax_m3(cJSON *document, const cJSON *sizes);
void sp_hf_fill_step(cJSON *sizes);
void sp_hf_put_step(cJSON *document, const cJSON *sizes);
void sp_hf_fill_kimi(cJSON *sizes);
void sp_hf_put_kimi(cJSON *document, const cJSON *sizes);
void sp_hf_put_mimo(cJSON *document, const cJSON *sizes);

/* Keys of these families that the model has no room for: the first such key, and what it means, in
 * `what`; NULL: none. */
const char *sp_hf_beyond_listed(const cJSON *sizes, const char *family, const char **what);

#endif
