/* Width and colours of the terminal. */
#ifndef SP_TERMINAL_H
#define SP_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Columns of the terminal; 0 if `out` is not one. */
int sp_terminal_width(FILE *out);

/* Whether the terminal shows colours: not if NO_COLOR is set, nor if TERM names a terminal without
 * escapes. */
bool sp_terminal_has_colour(FILE *out);

#endif
