/* Arguments inside of a shell's script. */
#ifndef SP_LAUNCH_SHELL_H
#define SP_LAUNCH_SHELL_H

#include "launch/settings.h"

/* Whether a word outside of comments is an argument: "--" and a letter, and one of `names` (NULL:
 * any). */
bool sp_has_flags(const char *text, const char *const *names);

/* Flags (--name) of a shell's script with their values; several values of one are joined by blanks.
 */
bool sp_read_flags(const char *text, struct sp_settings *settings, struct sp_error *error);

#endif
