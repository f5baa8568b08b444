/* Numbers that Python's json writes and JSON does not know. */
#ifndef SP_HUGGINGFACE_NUMBERS_H
#define SP_HUGGINGFACE_NUMBERS_H

#include <stddef.h>

/* Puts an empty list of the same length in the place of each Infinity, -Infinity and NaN of a text
 * that is a Hugging Face config, so that it is JSON whose places are those of the file.
 * transformers writes and reads them (`time_step_limit` of Mamba-2). Any other text stays as it is.
 * `text` has a NUL after its `length` bytes. */
void sp_hf_take_infinities(char *text, size_t length);

#endif
