/* The space of a search from the command line. */
#ifndef SP_SEARCH_OPTIONS_H
#define SP_SEARCH_OPTIONS_H

#include "search/run_search.h"
#include "cli/plan_options.h"

/* Options that describe a space. */
#define SP_MOST(key, what)                                                                         \
    {                                                                                              \
        "max-" key, "N", SP_WHOLE, 1, 1e9, NULL, NULL, "the largest " what                         \
    }
#define SP_SPACE_OPTIONS                                                                           \
    {"fix",       "KEY=VALUE,...",                                                                 \
     SP_REPEATED, 0,                                                                               \
     0,           NULL,                                                                            \
     NULL,        "look only at plans with these values, as `step` spells them: pp=4,zero=1"},     \
        {"only",      "KEY=VALUE,...",                                                             \
         SP_REPEATED, 0,                                                                           \
         0,           NULL,                                                                        \
         NULL,        "values that one dimension may take: zero=1,3 or schedule=1f1b,zb-h1"},      \
        SP_MOST("tp", "tensor parallelism"), SP_MOST("pp", "number of stages"),                    \
        SP_MOST("vpp", "number of chunks"), SP_MOST("cp", "context parallelism"),                  \
        SP_MOST("ep", "expert parallelism"), SP_MOST("dp", "number of replicas"),                  \
        SP_MOST("micro-batch", "micro-batch, in sequences"),                                       \
        {"max-memory",                                                                             \
         "BYTES",                                                                                  \
         SP_NUMBER_OPTION,                                                                         \
         1,                                                                                        \
         1e18,                                                                                     \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "device memory that a plan may need (default: the device's less --headroom)"},            \
    {                                                                                              \
        "headroom", "FRACTION", SP_NUMBER_OPTION, 0, 0.95, NULL, "5%",                             \
            "share of the device's memory that stays free"                                         \
    }

/* Fills a space from the options and what was loaded. A value that a dimension cannot have, or a
 * key that is none, is an error. */
bool sp_space_of(const struct sp_args *args, const struct sp_planned *base,
                 struct sp_search_space *space, struct sp_error *error);

/* The plan that was found, with everything that `step` reports on. */
void sp_planned_of(const struct sp_planned *base, const struct sp_found *found,
                   struct sp_planned *planned);

#endif
