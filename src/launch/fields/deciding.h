/* Values that decide an answer: rows "OPTION: NAMES" of configs/launch/programs.json. */
#ifndef SP_LAUNCH_DECIDING_H
#define SP_LAUNCH_DECIDING_H

#include "launch/launch.h"

/* Whether a text fits one of the patterns of a blank-separated list that ends at `end`. */
bool sp_fits(const char *list, const char *end, const char *text);

/* The option that a setting of that name and value decides, "" if it decides none: no row has it,
 * it is off, or it is a degree of 1. */
void sp_core_option(const char *lines, const char *name, const char *value, char *out, size_t size);

/* Reports that a setting which decides that option was not read. */
void sp_add_unread(struct sp_launch *launch, const char *option, const char *name,
                   const char *value, int line);

#endif
