/* A plan that an option names beside the one that a command is about. */
#ifndef SP_NAMED_PLAN_H
#define SP_NAMED_PLAN_H

#include "cli/launched.h"
#include "cli/plan_options.h"

/* Makes the plan of "tp=8,pp=16,remat=full" as `step` would: `planned` has the problem and gets
 * the plan. Unreadable text is an `error`; for text that is not a valid plan `invalid` gets the
 * reason. */
bool sp_plan_of_pairs(const char *option, const char *pairs, const struct sp_sources *sources,
                      struct sp_planned *planned, struct sp_error *invalid, struct sp_error *error);

/* A plan, and the launch if it was read from one. */
struct sp_named_plan {
    struct sp_planned planned;
    struct sp_launch launch; /* format NULL: none */
};

/* Reads what `option` names: such pairs, of the problem of `first`; or a file, a plan in JSON or a
 * launch, of its own problem. Whatever the file leaves out of the problem is taken from `first`,
 * which the options `args` stated. */
bool sp_read_named_plan(const struct sp_args *args, const struct sp_planned *first,
                        const char *option, const char *text, struct sp_named_plan *named,
                        struct sp_error *error);

#endif
