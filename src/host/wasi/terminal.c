/* A page is no terminal: lines are as long as they are, and colours are the page's. */
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
