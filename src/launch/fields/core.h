/* Values that decide an answer: rows "OPTION: NAMES" of configs/launch/programs.json. */
#ifndef SP_LAUNCH_CORE_H
#define SP_LAUNCH_CORE_H

#include "launch/launch.h"

/* Whether a text fits one of the patterns of a list that blanks part, which ends at `end`. */
bool sp_fits(const char *list, const char *end, const char *text);

/* The option that a setting of that name and value decides, "" where it decides none: no row has
 * it, or it is off, or a degree of 1. */
void sp_core_option(const char *lines, const char *name, const char *value, char *out, size_t size);

/* Says that a setting which decides that option was not read. */
void sp_add_unread(struct sp_launch *launch, const char *option, const char *name,
                   const char *value, int line);

#endif
