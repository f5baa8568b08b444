/* A page reads files after the command has ended, so they are always complete. */
#include "host/write_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool sp_write_file(const char *path, const char *bytes, size_t size, struct sp_error *error)
{
    FILE *const file = fopen(path, "wb");
    const bool written = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file) == 0 && written)
        return true;
    return sp_fail(error, SP_INTERNAL, "%s: %s", sp_safe(path), strerror(errno));
}

/* A page's files are in memory: any folder is writable, and errors appear on writing. */
bool sp_may_write(const char *path, struct sp_error *error)
{
    (void)path;
    (void)error;
    return true;
}

bool sp_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}
