#include "terminal.h"

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
