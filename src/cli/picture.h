/* --plot: a command's picture, to a file or after its report. */
#ifndef SP_PICTURE_H
#define SP_PICTURE_H

#include "cli/command.h"

/* Checks --plot, if given: the kind of picture, the path, and the other options (an output of
 * values only has no place for a picture). Runs before the command, which may take long. */
bool sp_check_picture(const struct sp_args *args, struct sp_error *error);

/* Draws the picture of --plot: writes the file, or returns the terminal's text, which main prints
 * after the report (free it). `width` of the terminal, 0 if standard output is not one. Does
 * nothing without --plot. */
bool sp_draw_picture(const struct sp_command *command, const struct sp_args *args,
                     const struct sp_report *report, int width, char **text,
                     struct sp_error *error);

#endif
