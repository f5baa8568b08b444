/* Writes result files so that no partial one is ever seen under its name. */
#ifndef SP_WRITE_FILE_H
#define SP_WRITE_FILE_H

#include <stdbool.h>

#include "error.h"

/* Writes `text` to a temporary file beside `path`, then renames it. What stands there already and
 * is no regular file (a pipe, /dev/stdout) is written to directly. */
bool sp_write_file(const char *path, const char *text, struct sp_error *error);

#endif
