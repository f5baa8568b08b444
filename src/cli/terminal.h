/* What the terminal is like. */
#ifndef SP_TERMINAL_H
#define SP_TERMINAL_H

#include <stdio.h>

/* Its columns; 0 when `out` is no terminal. */
int sp_terminal_width(FILE *out);

#endif
