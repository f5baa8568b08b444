/* Names as people mistype them. */
#ifndef SP_SUGGEST_H
#define SP_SUGGEST_H

#include <stddef.h>

#include "base/text.h"

/* Keeps the candidate closest to a mistyped name. Start with {.wanted = name}. */
struct sp_nearest {
    const char *wanted;
    char best[96];
    size_t distance; /* edits, or fewer if the name's first word alone is meant */
    size_t edits;
};

/* Another word for the same thing, such as "chunks" for "vpp"; NULL from the first i that has
 * none. */
const char *sp_other_word(const char *word, int i);

/* Offers a candidate. Another word for the same thing counts as the nearest. */
void sp_nearest_offer(struct sp_nearest *nearest, const char *candidate);

/* "; did you mean "x"?" when something is close enough, else ""; good to the end of the block. */
#define sp_nearest_hint(nearest) sp_nearest_hint_in(SP_ROOM, nearest)
const char *sp_nearest_hint_in(struct sp_text *room, const struct sp_nearest *nearest);

#endif
