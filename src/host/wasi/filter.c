/* A WebAssembly module cannot start other programs. */
#include "host/filter.h"

#include <errno.h>

bool sp_starts_programs(void)
{
    return false;
}

int sp_run_filter(char *const argv[], const char *input, size_t length,
                  struct sp_filtered *filtered)
{
    (void)argv;
    (void)input;
    (void)length;
    *filtered = (struct sp_filtered){0};
    return ENOSYS;
}
