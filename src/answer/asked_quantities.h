/* Which quantities --get may ask for; the others are not put. */
#ifndef SP_ASKED_QUANTITIES_H
#define SP_ASKED_QUANTITIES_H

#include "answer/quantity.h"

struct sp_asked {
    char *keys; /* "key,key" */
    bool may_be[SP_QUANTITIES];
};

/* Keys of --get; sp_free_asked() it. */
struct sp_asked *sp_asked_of(const char *keys);
void sp_free_asked(struct sp_asked *asked);

/* Which part of a scope is asked for. */
enum sp_asked_part { SP_ASKED_NONE, SP_ASKED_SOME, SP_ASKED_ALL };
enum sp_asked_part sp_asked_part_of(const struct sp_asked *asked, const char *prefix);

#endif
