/* Options that need or exclude each other. */
#ifndef SP_TOGETHER_H
#define SP_TOGETHER_H

#include "cli/options.h"

/* Whether the given options go together, by the columns needs and excludes. A default
 * does not count as given. */
bool sp_check_together(const struct sp_args *args, struct sp_error *error);

#endif
