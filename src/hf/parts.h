/* The parts of a native model document, from the sizes of a Hugging Face config. */
#ifndef SP_HUGGINGFACE_PARTS_H
#define SP_HUGGINGFACE_PARTS_H

#include "hf/families.h"
#include "hf/head.h"

/* Key-value heads: those that the config names, one for multi-query attention, else `heads`. */
double sp_hf_kv_heads(const cJSON *sizes, const struct sp_hf_family *family, double heads);

/* Adds all parts that follow from the sizes to the document. */
void sp_hf_put_parts(cJSON *document, const cJSON *sizes, const struct sp_hf_family *family,
                     const struct sp_hf_head *head);

#endif
