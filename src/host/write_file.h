/* Writes result files atomically. */
#ifndef SP_WRITE_FILE_H
#define SP_WRITE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Writes a file. A regular file is replaced whole or not at all, keeps its permissions, and links
 * to it are followed; anything else (a pipe, a device) is written to directly. A path that cannot
 * be opened is a wrong value; a failed write is an output failure. */
bool sp_write_file(const char *path, const char *bytes, size_t size, struct sp_error *error);

/* Whether sp_write_file could write the path, without opening it; long computations ask first. */
bool sp_may_write(const char *path, struct sp_error *error);

/* Whether a path leads to standard output: "-", or /dev/stdout and its kind. */
bool sp_is_stdout(const char *path);

#endif
