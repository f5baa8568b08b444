/* Another program as a filter: text in, bytes out. */
#ifndef SP_FILTER_H
#define SP_FILTER_H

#include <stddef.h>

/* What a filter printed; free() both. `size` of the output, behind which a NUL stands. */
struct sp_filtered {
    char *output, *complaints;
    size_t size;
};

/* Runs a program, found on the PATH and without a shell, with `input` as its standard input.
 * Returns 0; the error number of the start, ENOSYS where this host starts no programs; or -1 when
 * it ran and failed: then `complaints` is what it printed on standard error. */
int sp_run_filter(char *const argv[], const char *input, size_t length,
                  struct sp_filtered *filtered);

#endif
