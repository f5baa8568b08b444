/* Writes result files so that no partial one is ever seen under its name. */
#ifndef SP_WRITE_FILE_H
#define SP_WRITE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Hands in the file that an answer leaves behind (-o FILE). Nothing is written before
 * sp_flush_file: a command may still be refused, or run inside a sweep or a case, which leave no
 * files. A second file takes the place of the first. */
bool sp_write_file(const char *path, const char *text, struct sp_error *error);

/* Whether a file is handed in that goes to standard output: "-", or a path that leads there, such
 * as /dev/stdout. Nothing else is printed then. */
bool sp_prints_file(void);

/* Writes what was handed in, if anything, and forgets it; "-" is `out`. A regular file is replaced
 * whole or not at all, with the permissions it had, where links lead to; anything else (a pipe, a
 * device) is written to directly. */
bool sp_flush_file(FILE *out, struct sp_error *error);
void sp_forget_file(void);

#endif
