/* The limits of a search, from the command line. */
#ifndef SP_SPACE_OPTIONS_H
#define SP_SPACE_OPTIONS_H

#include "cli/command.h"
#include "study/space.h"

/* Options that describe a space. */
/* clang-format off */
#define SP_SPACE_OPTIONS \
    SP_TAKE(fix), \
    SP_TAKE(only), \
    {.id = SP_EACH_MOST}, \
    SP_TAKE(max_memory), \
    SP_TAKE(headroom)
/* clang-format on */

/* Reads the limits of the search. A value that a dimension cannot have, or an unknown key, is an
 * error. */
bool sp_space_limits_of(const struct sp_args *args, struct sp_space_limits *limits,
                        struct sp_error *error);

#endif
