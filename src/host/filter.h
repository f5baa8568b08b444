/* Other programs: as a filter, text in, bytes out; and whether a shell is there. */
#ifndef SP_FILTER_H
#define SP_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Output of a filter; free() both. `size` excludes the final NUL. */
struct sp_filtered {
    char *output, *complaints;
    size_t size;
};

/* Whether this host starts other programs. */
bool sp_starts_programs(void);

/* Runs a program from the PATH, without a shell, with `input` as its standard input. Returns 0; the
 * errno of a failed start (ENOSYS where sp_starts_programs says no); or -1 if the program failed,
 * with its standard error in `complaints`. */
int sp_run_filter(char *const argv[], const char *input, size_t length,
                  struct sp_filtered *filtered);

#endif
