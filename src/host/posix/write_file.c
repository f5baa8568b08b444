/* Writes result files under a temporary name and renames them when complete. */
#include "host/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The answer exists but its file does not: whatever the reason, the output failed. */
static bool fail_at(const char *path, struct sp_error *error)
{
    return sp_fail(error, SP_INTERNAL, "%s: %s", sp_safe(path), strerror(errno));
}

static bool write_bytes(int file, const char *bytes, size_t left)
{
    bool ok = true;
    while (ok && left > 0) {
        const ssize_t n = write(file, bytes, left);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n >= 0;
        if (ok) {
            bytes += n;
            left -= (size_t)n;
        }
    }
    return ok;
}

/* Closes, also after a failure; errno says why. */
static bool close_after(int file, bool ok)
{
    const int why = errno;
    const bool closed = close(file) == 0;
    if (!ok)
        errno = why;
    return ok && closed;
}

static bool write_directly(const char *path, const char *bytes, size_t size, struct sp_error *error)
{
    const int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0)
        return fail_at(path, error);
    return close_after(file, write_bytes(file, bytes, size)) || fail_at(path, error);
}

/* Replaces the part of `path` after its last slash by `name`; false when there is no room. */
static bool beside(char path[PATH_MAX], const char *name)
{
    char *const slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    if (folder + strlen(name) >= PATH_MAX)
        return false;
    snprintf(path + folder, PATH_MAX - folder, "%s", name);
    return true;
}

/* Follows links by hand to a path's target: a rename would replace the link, and realpath fails for
 * a file that does not exist yet. False with errno. */
static bool follow(const char *path, char target[PATH_MAX])
{
    enum { MOST_LINKS = 40 };
    char link[PATH_MAX];
    errno = ENAMETOOLONG;
    if (strlen(path) >= PATH_MAX)
        return false;
    snprintf(target, PATH_MAX, "%s", path);
    for (int i = 0; i < MOST_LINKS; i++) {
        const ssize_t n = readlink(target, link, sizeof link - 1);
        if (n < 0)
            return errno == EINVAL || errno == ENOENT; /* not a link, or missing */
        link[n] = '\0';
        errno = ENAMETOOLONG;
        if (link[0] == '/')
            snprintf(target, PATH_MAX, "%s", link);
        else if (!beside(target, link))
            return false;
    }
    errno = ELOOP;
    return false;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Permissions of the new file: those of the file it replaces, or by the umask. */
static mode_t mode_of(const struct stat *before)
{
    const mode_t mask = umask(0);
    umask(mask);
    return before ? before->st_mode & 0777 : 0666 & ~mask;
}

/* The /proc link by which a nameless file gets a name. */
static void link_of(int file, char link[64])
{
    snprintf(link, 64, "/proc/self/fd/%d", file);
}

/* Opens a nameless file in the folder of `target`, so that a killed writer leaves nothing. -1 if
 * the file system has none or /proc is not mounted. */
static int open_nameless(const char *target)
{
    char folder[PATH_MAX], link[64];
    snprintf(folder, sizeof folder, "%s", target);
    const int file =
        beside(folder, ".") ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
    link_of(file, link);
    if (file < 0 || access(link, F_OK) == 0)
        return file;
    close(file);
    return -1;
}

/* Gives an open file its own name beside `target`. */
static bool name_file(int file, char temporary[PATH_MAX])
{
    enum { MOST_TRIES = 100 };
    char open_file[64], name[64];
    link_of(file, open_file);
    for (int i = 0; i < MOST_TRIES; i++) {
        snprintf(name, sizeof name, ".scaleplan-%ld-%d", (long)getpid(), i);
        if (!beside(temporary, name))
            return false;
        if (linkat(AT_FDCWD, open_file, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* Writes a temporary file beside `target` and renames it. `before`: the file at `target`, or NULL.
 * The temporary name is short, because the target's may be as long as names can be. */
static bool replace(const char *path, const char *target, const struct stat *before,
                    const char *bytes, size_t size, struct sp_error *error)
{
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof temporary, "%s", target);
    errno = ENAMETOOLONG;
    const int nameless = open_nameless(target);
    const int file = nameless >= 0                            ? nameless
                     : beside(temporary, ".scaleplan-XXXXXX") ? mkstemp(temporary)
                                                              : -1;
    if (file < 0)
        return fail_at(path, error);
    bool ok = fchmod(file, mode_of(before)) == 0;
    ok = write_bytes(file, bytes, size) && ok;
    const bool named = nameless < 0 || (ok && name_file(file, temporary));
    ok = close_after(file, ok && named);
    if (ok && rename(temporary, target) == 0)
        return true;
    const int why = errno;
    if (named)
        unlink(temporary);
    errno = why;
    return fail_at(path, error);
}

/* How to write to a path. */
struct way {
    bool exists, directly;
    struct stat there;     /* if it exists */
    char target[PATH_MAX]; /* final target, unless written directly */
};

static bool find_way(const char *path, struct way *way, struct sp_error *error)
{
    struct stat led;
    way->exists = stat(path, &way->there) == 0;
    way->directly = way->exists && !S_ISREG(way->there.st_mode);
    if (!way->exists && errno != ENOENT)
        return fail_at(path, error);
    if (way->directly)
        return true;
    if (way->exists &&
        (way->there.st_mode & 0222) == 0) { /* a file without write permission is kept */
        errno = EACCES;
        return fail_at(path, error);
    }
    if (!follow(path, way->target))
        return fail_at(path, error);
    /* Links of /proc to open files need not name the file they lead to. */
    way->directly = way->exists && (stat(way->target, &led) != 0 || !is_same(&way->there, &led));
    return true;
}

/* A file without write permission is not replaced even if its folder allows it: chmod 444 means
 * keep. */
bool sp_may_write(const char *path, struct sp_error *error)
{
    struct way way;
    if (!find_way(path, &way, error))
        return false;
    errno = EISDIR;
    if (way.exists && S_ISDIR(way.there.st_mode))
        return fail_at(path, error);
    errno = ENAMETOOLONG;
    const char *const written = way.directly ? path : way.target;
    const bool may = (way.directly || beside(way.target, ".")) && access(written, W_OK) == 0;
    return may || fail_at(path, error);
}

bool sp_write_file(const char *path, const char *bytes, size_t size, struct sp_error *error)
{
    struct way way;
    return find_way(path, &way, error) &&
           (way.directly
                ? write_directly(path, bytes, size, error)
                : replace(path, way.target, way.exists ? &way.there : NULL, bytes, size, error));
}

bool sp_is_stdout(const char *path)
{
    struct stat there, out;
    return strcmp(path, "-") == 0 ||
           (stat(path, &there) == 0 && fstat(STDOUT_FILENO, &out) == 0 && is_same(&there, &out));
}
