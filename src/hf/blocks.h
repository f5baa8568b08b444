/* Nemotron-NAS: block_configs gives each layer its own attention and MLP. */
#ifndef SP_HUGGINGFACE_BLOCKS_H
#define SP_HUGGINGFACE_BLOCKS_H

#include "hf/keys.h"

/* Fills in the sizes that readers expect: the widest MLP, and KV heads. */
void sp_hf_fill_blocks(cJSON *sizes);

/* Why blocks cannot be counted; NULL: they can. */
const char *sp_hf_fault_of_blocks(const cJSON *sizes);

/* Adds the pattern, a second attention and the MLPs' mean width. */
void sp_hf_put_blocks(cJSON *document, const cJSON *sizes);

#endif
