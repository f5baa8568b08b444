/* The space of a search from the command line. */
#ifndef SP_SEARCH_OPTIONS_H
#define SP_SEARCH_OPTIONS_H

#include "study/run_search.h"
#include "cli/plan_options.h"

/* Options that describe a space. */
/* clang-format off */
#define SP_SPACE_OPTIONS \
    SP_TAKE(fix), \
    SP_TAKE(only), \
    {.id = SP_EACH_MOST}, \
    SP_TAKE(max_memory), \
    SP_TAKE(headroom, .fallback = "5%")
/* clang-format on */

/* Fills a space from the options and what was loaded. A value that a dimension cannot have, or a
 * key that is none, is an error. */
bool sp_space_of(const struct sp_args *args, const struct sp_planned *base,
                 struct sp_search_space *space, struct sp_error *error);

/* The plan that was found, with everything that `step` reports on. */
void sp_planned_of(const struct sp_planned *base, const struct sp_found *found,
                   struct sp_planned *planned);

#endif
