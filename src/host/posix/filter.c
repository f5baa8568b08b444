/* A child process with memory files as its standard streams, so that no pipe can block. */
#include "host/filter.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

/* A file in memory that holds the text, positioned at its start: a child can read it without
 * blocking us. */
static int memory_file(const char *name, const char *text, size_t size)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && write_all(fd, text, size) && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static char *read_back(int fd, size_t *size)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        return NULL;
    const size_t all = (size_t)about.st_size;
    char *const bytes = malloc(all + 1);
    for (*size = 0; bytes && *size < all;) {
        const ssize_t n = read(fd, bytes + *size, all - *size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *size += (size_t)n;
    }
    if (bytes)
        bytes[*size] = '\0';
    return bytes;
}

/* Runs the program with these three files as its standard ones, and waits for it. */
static int run(char *const argv[], const int files[3])
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int failed = 0;
    for (int i = 0; i < 3 && failed == 0; i++)
        failed = posix_spawn_file_actions_adddup2(&actions, files[i], i);
    if (failed == 0)
        failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return failed;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

bool sp_starts_programs(void)
{
    return true;
}

/* Uses files in memory, because pipes can block. */
int sp_run_filter(char *const argv[], const char *input, size_t length,
                  struct sp_filtered *filtered)
{
    size_t unused;
    const int files[3] = {memory_file("input", input, length), memory_file("output", "", 0),
                          memory_file("errors", "", 0)};
    const int failed = files[0] < 0 || files[1] < 0 || files[2] < 0 ? ENOMEM : run(argv, files);
    *filtered = (struct sp_filtered){0};
    if (failed == -1)
        filtered->complaints = read_back(files[2], &unused);
    if (failed == 0)
        filtered->output = read_back(files[1], &filtered->size);
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    return failed;
}
