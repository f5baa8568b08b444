/* Batches and numbers of devices near those of a search with which its goal is met better. */
#ifndef SP_STUDY_NEARBY_H
#define SP_STUDY_NEARBY_H

#include "study/search_machines.h"

/* Least relative gain for which a nearby problem is named. */
#define SP_WORTH_NAMING 0.03

/* A nearby problem that is better; none if `at` is NULL. */
struct sp_nearby {
    struct sp_candidate *at; /* its machine, batch and best plan; free() it */
    double step_s;           /* of its best plan */
    double gain;             /* times the tokens per second that were found; NAN: none were */
};

struct sp_close_by {
    struct sp_nearby batch;   /* another batch within SP_ABOUT */
    struct sp_nearby devices; /* fewer devices */
    struct sp_nearby both;  /* fewer devices and another batch, if better than either by as much */
    struct sp_nearby parts; /* TP over parts of a torus's axes, which its framework does only on
                               request */
};

/* Looks close to a machine whose own search is finished, changing only what the request does not
 * fix: its best plan must be better by SP_WORTH_NAMING in tokens per second, or must exist at
 * all if there was none. A front, a robust search and one for memory or few devices are not
 * compared. */
void sp_look_close_by(const struct sp_search *search, int machine, struct sp_close_by *found);
void sp_free_close_by(struct sp_close_by *found);

#endif
