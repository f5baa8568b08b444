/* Lists of names: of options without effect, and of those by which a format is known. */
#ifndef SP_LAUNCH_QUIET_H
#define SP_LAUNCH_QUIET_H

#include <stdbool.h>

/* Whether a blank-separated list has a name, with "#" for the places of items. No word stands for
 * several names: it would cover one that is not known yet. */
bool sp_is_quiet(const char *quiet, const char *name);

#endif
