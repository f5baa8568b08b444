/* The space of a search: what its problem, its framework and its limits leave open. */
#ifndef SP_SPACE_H
#define SP_SPACE_H

#include <scaleplan/search.h>

#include "base/error.h"
#include "study/planned.h"

/* What limits a search. */
struct sp_space_limits {
    bool any;                   /* search what the framework's file does not list, too */
    double most_bytes;          /* device bytes of a plan that counts; NAN: what headroom leaves */
    double headroom;            /* share of a device's memory that stays free */
    int values[SP_PLAN_FIELDS]; /* that a field may have; 0: all */
    int64_t value[SP_PLAN_FIELDS]
                 [SP_SEARCH_VALUES]; /* numbers, or places among the field's names */
    int64_t most[SP_PLAN_FIELDS];    /* of a degree; 0: any */
};

/* Adds a value that a field may have; false where there is no room for it. */
bool sp_allow_value(struct sp_space_limits *limits, enum sp_plan_field_id field, int64_t value);

/* Opens the space of a problem. What cannot be searched is an error. */
bool sp_space_of(const struct sp_planned *base, const struct sp_space_limits *limits,
                 struct sp_search_space *space, struct sp_error *error);

/* The plan that was found, with all that its estimate is computed from. */
void sp_planned_of(const struct sp_planned *base, const struct sp_found *found,
                   struct sp_planned *planned);

#endif
