/* Shell commands that print their words or their input in another form, and ${NAME%PATTERN} and
 * similar, which do the same. */
#ifndef SP_LAUNCH_SHELL_FILTERS_H
#define SP_LAUNCH_SHELL_FILTERS_H

#include "launch/shell/state.h"

/* The output of a command with known words and input (NULL: none), without the line's end; NULL if
 * unknown here. `cd` prints the folder, for a `pwd` after it. */
const char *sp_shell_filter(struct sp_shell_text *text, const struct sp_shell_fields *words,
                            const char *input);

/* A known value after "%", "%%", "#", "##", "/", "//", ",,", "^^" or ":" with its pattern, and
 * behind "/" the text `with` for a match; NULL if unknown here. */
const char *sp_shell_cut(struct sp_shell_text *text, const char *value, const char *operation,
                         const char *with);

#endif
