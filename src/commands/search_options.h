/* The space of a search from the command line. */
#ifndef SP_SEARCH_OPTIONS_H
#define SP_SEARCH_OPTIONS_H

#include "search/run_search.h"
#include "cli/plan_options.h"

/* Options that describe a space. */
/* clang-format off */
#define SP_SPACE_OPTIONS \
    {.name = "fix", .metavar = "KEY=VALUE,...", .kind = SP_REPEATED, \
     .help = "look only at plans with these values, as `step` spells them: pp=4,zero=1"}, \
    {.name = "only", .metavar = "KEY=VALUE,...", .kind = SP_REPEATED, \
     .help = "values that one dimension may take: zero=1,3 or schedule=1f1b,zb-h1"}, \
    {.kind = SP_EACH_MOST}, \
    {.name = "max-memory", .metavar = "BYTES", .kind = SP_REAL, .min = 1, .max = 1e18, \
     .help = "device memory that a plan may need (default: the device's less --headroom)"}, \
    {.name = "headroom", .metavar = "FRACTION", .kind = SP_REAL, .max = 0.95, .fallback = "5%", \
     .help = "share of the device's memory that stays free"}
/* clang-format on */

/* Fills a space from the options and what was loaded. A value that a dimension cannot have, or a
 * key that is none, is an error. */
bool sp_space_of(const struct sp_args *args, const struct sp_planned *base,
                 struct sp_search_space *space, struct sp_error *error);

/* The plan that was found, with everything that `step` reports on. */
void sp_planned_of(const struct sp_planned *base, const struct sp_found *found,
                   struct sp_planned *planned);

#endif
