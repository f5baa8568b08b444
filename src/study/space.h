/* The space of a search, from problem, framework and limits. */
#ifndef SP_SPACE_H
#define SP_SPACE_H

#include <scaleplan/search.h>

#include "base/error.h"
#include "study/planned.h"

/* Limits of a search. */
struct sp_space_limits {
    bool any;                   /* include what the framework's file does not list */
    bool moves;                 /* choose what waits in host memory, with what is recomputed */
    double most_bytes;          /* limit of device bytes; NAN: by headroom */
    double headroom;            /* share of device memory left free; NAN: by the verdict */
    int values[SP_PLAN_FIELDS]; /* number of allowed values per field; 0: all */
    int64_t value[SP_PLAN_FIELDS][SP_SEARCH_VALUES]; /* numbers, or indices of names */
    int64_t most[SP_PLAN_FIELDS];                    /* largest value of a degree; 0: no limit */
    /* Whether a plan of a problem counts; NULL: every one does. */
    bool (*admits)(const struct sp_planned *base, const struct sp_plan *plan, const void *context);
    const void *context;
};

/* Allows a value of a field; false if there is no room. */
bool sp_allow_value(struct sp_space_limits *limits, enum sp_plan_field_id field, int64_t value);

/* Whether dimensions are limited by more than the framework. */
bool sp_is_limited(const struct sp_space_limits *limits);

/* Device bytes that a plan may need: the user's limit, else the most whose verdict is `worst` or
 * better. */
double sp_limit_of_search(const struct sp_space_limits *limits, const struct sp_planned *base,
                          enum sp_verdict worst);

/* Opens the dimensions that are not degrees to what `runs` has; with `any` exchanges need not
 * overlap where the framework's own do. */
void sp_open_dimensions(const struct sp_planned *base, const struct sp_repertoire *runs, bool any,
                        struct sp_dimensions *open);

/* Opens the space of a problem, whose plans have memory to spare (or keep the user's limit); an
 * error if it cannot be searched. */
bool sp_space_of(const struct sp_planned *base, const struct sp_space_limits *limits,
                 struct sp_search_space *space, struct sp_error *error);

/* The found plan with all inputs of its estimate. */
void sp_planned_of(const struct sp_planned *base, const struct sp_found *found,
                   struct sp_planned *planned);

#endif
