/* Width and colours of the terminal. */
#include "host/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int sp_terminal_width(FILE *out)
{
    struct winsize size;
    const int file = fileno(out);
    if (file < 0 || !isatty(file))
        return 0;
    return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool sp_terminal_has_colour(FILE *out)
{
    const char *const refused = getenv("NO_COLOR"), *const term = getenv("TERM");
    const bool able = term && *term && strcmp(term, "dumb") != 0;
    return isatty(fileno(out)) && able && !(refused && *refused);
}
