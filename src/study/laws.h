/* The answer of every scaling law to a budget. */
#ifndef SP_STUDY_LAWS_H
#define SP_STUDY_LAWS_H

#include "config/load.h"

/* A law's answer. */
struct sp_law_answer {
    char name[64];
    struct sp_scaling_run best;
};

/* The answers of all laws to `flops`, users' first, at most `room`; ignores --set, which applies to
 * one law. Returns their number. */
size_t sp_laws_at(double flops, const struct sp_sources *sources, struct sp_law_answer *answers,
                  size_t room);

#endif
