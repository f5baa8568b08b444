#include "write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

/* A path that cannot be opened is a wrong value; what cannot be written is output that failed. */
static bool fail_at(const char *path, enum sp_exit code, struct sp_error *error)
{
    return sp_fail(error, code, "%s: %s", sp_safe(path), strerror(errno));
}

/* Writes all of the text and closes, also after a failure; errno says why. */
static bool write_all(int file, const char *text)
{
    size_t left = strlen(text);
    bool ok = true;
    while (ok && left > 0) {
        const ssize_t n = write(file, text, left);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n >= 0;
        if (ok) {
            text += n;
            left -= (size_t)n;
        }
    }
    const int why = errno;
    const bool closed = close(file) == 0;
    if (!ok)
        errno = why;
    return ok && closed;
}

static bool write_directly(const char *path, const char *text, struct sp_error *error)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return fail_at(path, SP_INPUT, error);
    return write_all(file, text) || fail_at(path, SP_INTERNAL, error);
}

bool sp_write_file(const char *path, const char *text, struct sp_error *error)
{
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return write_directly(path, text, error);
    const size_t size = strlen(path) + sizeof ".XXXXXX";
    char *const temporary = malloc(size);
    if (!temporary)
        abort();
    snprintf(temporary, size, "%s.XXXXXX", path);
    const int file = mkstemp(temporary);
    bool ok = file >= 0;
    if (ok) {
        const mode_t mask = umask(0);
        umask(mask);
        ok = fchmod(file, 0666 & ~mask) == 0;
        ok = write_all(file, text) && ok && rename(temporary, path) == 0;
        if (!ok) {
            const int why = errno;
            unlink(temporary);
            errno = why;
        }
    }
    if (!ok)
        fail_at(path, file >= 0 ? SP_INTERNAL : SP_INPUT, error);
    free(temporary);
    return ok;
}
