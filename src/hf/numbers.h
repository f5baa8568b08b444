/* NaN and infinities, which Python's json writes but JSON lacks. */
#ifndef SP_HUGGINGFACE_NUMBERS_H
#define SP_HUGGINGFACE_NUMBERS_H

#include <stddef.h>

/* Replaces each Infinity, -Infinity and NaN in a Hugging Face config by an empty list of the same
 * length, so that the text becomes JSON with unchanged positions. transformers writes them
 * (`time_step_limit` of Mamba-2). `text` has a NUL after its `length` bytes. */
void sp_hf_take_infinities(char *text, size_t length);

#endif
