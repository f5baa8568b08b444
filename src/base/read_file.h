/* Reads whole files; what can be read only once is kept for who asks again. */
#ifndef SP_READ_FILE_H
#define SP_READ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* What came from a pipe, a terminal or standard input, known by its device and inode. */
struct sp_piped {
    struct sp_piped *next;
    dev_t device;
    ino_t inode;
    size_t length;
    char text[];
};

/* All that a run of the program has read so: a command may ask twice (every row of a sweep asks for
 * its --model). With `stdin_taken`, standard input is refused: its lines are read elsewhere. */
struct sp_pipes {
    struct sp_piped *kept;
    bool stdin_taken;
};
void sp_free_pipes(struct sp_pipes *pipes);

/* Reads a whole file ("-": standard input) of at most `most` bytes, of which `length` tells how
 * many it has; a NUL stands behind them. free() the result. NULL with an error when there is no
 * such file, or it is larger. `pipes` keeps what can be read only once; NULL: nothing is kept. */
char *sp_read_file(struct sp_pipes *pipes, const char *path, size_t most, size_t *length,
                   struct sp_error *error);

#endif
