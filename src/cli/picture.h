/* --plot: a command's picture, to a file or behind its report. */
#ifndef SP_PICTURE_H
#define SP_PICTURE_H

#include "cli/command.h"

/* Whether --plot, if given, names a kind of picture and a place to write it, and goes with the
 * other options: what prints nothing but values has no place for one. Before the command runs: that
 * may take long. */
bool sp_check_picture(const struct sp_args *args, struct sp_error *error);

/* Does what --plot asks for: writes the file, or gives the terminal's text for main to print behind
 * the report (free it). `width` of the terminal, 0 when standard output is none. Without --plot it
 * does nothing. */
bool sp_draw_picture(const struct sp_command *command, const struct sp_args *args,
                     const struct sp_report *report, int width, char **text,
                     struct sp_error *error);

#endif
