/* Commands of a shell that print their words or their input in another form, and ${NAME%PATTERN}
 * and its kin, which do the same. */
#ifndef SP_LAUNCH_SHELL_FILTERS_H
#define SP_LAUNCH_SHELL_FILTERS_H

#include "launch/shell/state.h"

/* What a command prints whose words and input (NULL: none) are known, without the line's end; NULL
 * where nothing here knows it. `cd` prints the folder, for the `pwd` behind it. */
const char *sp_shell_filter(struct sp_shell_text *text, const struct sp_shell_fields *words,
                            const char *input);

/* A known value after "%", "%%", "#", "##", "/", "//", ",,", "^^" or ":", whose operands are
 * expanded; NULL where nothing here knows it. */
const char *sp_shell_cut(struct sp_shell_text *text, const char *value, const char *operation);

#endif
