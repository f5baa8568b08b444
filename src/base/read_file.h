/* Reads whole files. Input that can be read only once (a pipe) is cached for later callers. */
#ifndef SP_READ_FILE_H
#define SP_READ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/* The text of a pipe, a terminal or standard input, identified by its device and inode. */
struct sp_piped {
    struct sp_piped *next;
    dev_t device;
    ino_t inode;
    size_t length;
    char text[];
};

/* All such texts of one run: a command may read one several times (each row of a sweep reads its
 * --model). With `stdin_taken`, standard input is refused, because another reader takes its lines.
 * `input`, if not NULL, replaces standard input. */
struct sp_pipes {
    struct sp_piped *kept;
    FILE *input;
    bool stdin_taken;
};
void sp_free_pipes(struct sp_pipes *pipes);

/* Standard input, or the text that replaces it. */
FILE *sp_input_of(const struct sp_pipes *pipes);

/* Reads a whole file ("-": standard input) of at most `most` bytes and stores its length; a NUL
 * follows the text. free() the result. NULL with an error when there is no such file or it is
 * larger. `pipes` keeps texts that can be read only once; NULL: keeps none. */
char *sp_read_file(struct sp_pipes *pipes, const char *path, size_t most, size_t *length,
                   struct sp_error *error);

/* A path as messages name it: "standard input" for "-". */
const char *sp_origin_of(const char *path);

#endif
