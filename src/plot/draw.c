/* gnuplot as a child process, and a picture put in its place in one piece. */
#include "plot/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plot/script.h"

extern char **environ;

bool sp_terminal_of(const char *target, enum sp_terminal *terminal, struct sp_error *error)
{
    static const struct {
        const char *ending;
        enum sp_terminal terminal;
    } endings[] = {{".svg", SP_TERMINAL_SVG}, {".png", SP_TERMINAL_PNG}, {".pdf", SP_TERMINAL_PDF}};
    *terminal = SP_TERMINAL_TEXT;
    if (strcmp(target, "-") == 0)
        return true;
    const size_t n = strlen(target);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > 4 && strcasecmp(target + n - 4, endings[i].ending) == 0) {
            *terminal = endings[i].terminal;
            return true;
        }
    return sp_fail(error, SP_INPUT,
                   "--plot: \"%s\" ends in none of .svg, .png and .pdf; - draws in the terminal",
                   sp_safe(target));
}

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

/* A file in memory that holds the text, at its start: a child reads it without ever blocking us. */
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

/* Runs `gnuplot -d -` with these three files; -d: nothing of the user's ~/.gnuplot. Returns 0, or
 * the error number of the start, or -1 when it ran and failed. */
static int run_gnuplot(const int files[3])
{
    char *const argv[] = {(char[]){"gnuplot"}, (char[]){"-d"}, (char[]){"-"}, NULL};
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

/* The line in which gnuplot says what is wrong: the last one that is not empty. */
static const char *complaint(char *text)
{
    const char *last = "no reason given";
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        line += strspn(line, " \t^");
        if (*line)
            last = line;
    }
    return last;
}

static bool explain(int failed, char *complaints, struct sp_error *error)
{
    if (failed == ENOENT)
        return sp_fail(error, SP_INTERNAL,
                       "--plot needs gnuplot, which is not installed (Debian: gnuplot-nox); "
                       "`--format csv` gives the numbers without it");
    if (failed > 0)
        return sp_fail(error, SP_INTERNAL, "--plot: gnuplot: %s", strerror(failed));
    return sp_fail(error, SP_INTERNAL, "--plot: gnuplot failed: %s",
                   complaints ? sp_safe(complaint(complaints)) : "no reason given");
}

bool sp_draw(const struct sp_figure *figure, const struct sp_canvas *canvas, char **bytes,
             size_t *size, struct sp_error *error)
{
    size_t length, unused;
    char *const script = sp_script(figure, canvas, &length);
    const int files[3] = {script ? memory_file("script", script, length) : -1,
                          memory_file("picture", "", 0), memory_file("errors", "", 0)};
    const int failed = files[0] < 0 || files[1] < 0 || files[2] < 0 ? ENOMEM : run_gnuplot(files);
    char *const complaints = failed == -1 ? read_back(files[2], &unused) : NULL;
    *bytes = failed == 0 ? read_back(files[1], size) : NULL;
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(script);
    bool ok = failed == 0 ? *bytes && *size > 0 : explain(failed, complaints, error);
    free(complaints);
    if (failed == 0 && !ok)
        sp_fail(error, SP_INTERNAL, "--plot: gnuplot drew nothing");
    if (ok && canvas->terminal == SP_TERMINAL_TEXT)
        *size = sp_tidy_text(*bytes);
    if (ok && canvas->terminal == SP_TERMINAL_SVG)
        *size = sp_tidy_svg(*bytes);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
    }
    return ok;
}
