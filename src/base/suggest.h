/* Names as people mistype them. */
#ifndef SP_SUGGEST_H
#define SP_SUGGEST_H

#include <stddef.h>

/* Keeps the candidate closest to a mistyped name. Start with {.wanted = name}. */
struct sp_nearest {
    const char *wanted;
    char best[96];
    size_t distance;
};

/* Offers a candidate. */
void sp_nearest_offer(struct sp_nearest *nearest, const char *candidate);

/* "; did you mean "x"?" when something is close enough, else "". Valid until the next call. */
const char *sp_nearest_hint(const struct sp_nearest *nearest);

#endif
