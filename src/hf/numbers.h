/* Infinities and NaN, which Python's json writes and JSON does not have. */
#ifndef SP_HUGGINGFACE_NUMBERS_H
#define SP_HUGGINGFACE_NUMBERS_H

#include <stddef.h>

/* Replaces each Infinity, -Infinity and NaN in the text of a Hugging Face config by an empty list
 * of the same length, so that it is JSON with the same places. transformers writes and reads them
 * (`time_step_limit` of Mamba-2). Other texts stay unchanged. `text` has a NUL after its `length`
 * bytes. */
void sp_hf_take_infinities(char *text, size_t length);

#endif
