/* What the terminal is like. */
#ifndef SP_TERMINAL_H
#define SP_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Columns of the terminal; 0 when `out` is none. */
int sp_terminal_width(FILE *out);

/* Whether the terminal shows colours: not when NO_COLOR is set, nor where TERM says that it knows
 * no escapes.
 */
bool sp_terminal_has_colour(FILE *out);

#endif
