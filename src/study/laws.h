/* Every scaling law's answer to one budget. */
#ifndef SP_STUDY_LAWS_H
#define SP_STUDY_LAWS_H

#include "config/load.h"

/* What a law makes of a budget. */
struct sp_law_answer {
    char name[64];
    struct sp_scaling_run best;
};

/* The answers of all laws to `flops`, the user's own first, at most `room`; --set is left out, for
 * it speaks of one law. Their number. */
size_t sp_laws_at(double flops, const struct sp_sources *sources, struct sp_law_answer *answers,
                  size_t room);

#endif
