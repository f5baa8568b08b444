/* A page is not a terminal: no width, no colours. */
#include "host/terminal.h"

int sp_terminal_width(FILE *out)
{
    (void)out;
    return 0;
}

bool sp_terminal_has_colour(FILE *out)
{
    (void)out;
    return false;
}
