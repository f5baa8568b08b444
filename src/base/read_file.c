/* Reads whole files; keeps input from a pipe, because a command may read it twice. */
#include "base/read_file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail_too_large(const char *name, size_t most, struct sp_error *error)
{
    sp_fail(error, SP_INPUT, "%s: larger than the limit of %zu MiB", name, most >> 20);
}

/* Reads the whole stream, with a NUL at the end; NULL with an error when it is longer than
 * `most`. */
static char *read_stream(FILE *file, const char *name, size_t most, size_t *length,
                         struct sp_error *error)
{
    size_t size = 65536, used = 0;
    char *text = sp_must(malloc(size));
    while (used <= most) {
        const size_t got = fread(text + used, 1, size - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (size - used < 2) {
            size *= 2;
            text = sp_must(realloc(text, size));
        }
    }
    if (used > most)
        fail_too_large(name, most, error);
    else if (ferror(file))
        sp_fail(error, SP_INPUT, "%s: %s", name, strerror(errno));
    if (used > most || ferror(file)) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *length = used;
    return text;
}

static const struct sp_piped *find_kept(const struct sp_pipes *pipes, const struct stat *status)
{
    const struct sp_piped *piped = pipes ? pipes->kept : NULL;
    while (piped && (piped->device != status->st_dev || piped->inode != status->st_ino))
        piped = piped->next;
    return piped;
}

static char *copy_text(const char *text, size_t length)
{
    char *const copy = sp_must(malloc(length + 1));
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* A sweep reads a file per row; `lint` and `show` read it more than once. */
static void keep(struct sp_pipes *pipes, const struct stat *status, const char *text, size_t length)
{
    struct sp_piped *const piped = sp_must(malloc(sizeof *piped + length));
    piped->device = status->st_dev;
    piped->inode = status->st_ino;
    piped->length = length;
    memcpy(piped->text, text, length);
    piped->next = pipes->kept;
    pipes->kept = piped;
}

FILE *sp_input_of(const struct sp_pipes *pipes)
{
    return pipes && pipes->input ? pipes->input : stdin;
}

/* The state of standard input; empty if a text replaces it. */
static int describe_input(const struct sp_pipes *pipes, struct stat *status)
{
    *status = (struct stat){0};
    return sp_input_of(pipes) == stdin ? fstat(STDIN_FILENO, status) : 0;
}

/* Whether the path names standard input and another reader has taken it. */
static bool is_taken(const struct sp_pipes *pipes, const struct stat *status)
{
    struct stat in;
    return pipes && pipes->stdin_taken && describe_input(pipes, &in) == 0 &&
           in.st_dev == status->st_dev && in.st_ino == status->st_ino;
}

/* Reads an open file of at most `most` bytes; keeps the text when it can be read only once. */
static char *read_open(struct sp_pipes *pipes, FILE *file, const struct stat *status,
                       const char *name, size_t most, size_t *length, struct sp_error *error)
{
    if (S_ISDIR(status->st_mode))
        return sp_fail(error, SP_INPUT, "%s: is a directory, expected a file", name), NULL;
    if (S_ISREG(status->st_mode) && (size_t)status->st_size > most)
        return fail_too_large(name, most, error), NULL;
    char *const text = read_stream(file, name, most, length, error);
    if (text && pipes && (!S_ISREG(status->st_mode) || file == sp_input_of(pipes)))
        keep(pipes, status, text, *length);
    return text;
}

char *sp_read_file(struct sp_pipes *pipes, const char *path, size_t most, size_t *length,
                   struct sp_error *error)
{
    const bool from_stdin = strcmp(path, "-") == 0;
    const char *const name = from_stdin ? "standard input" : sp_safe(path);
    struct stat status;
    if (!*path)
        return sp_fail(error, SP_INPUT, "an empty name, expected a file"), NULL;
    /* Checked before opening: opening a pipe whose writer has gone would block forever. */
    if ((from_stdin ? describe_input(pipes, &status) : stat(path, &status)) != 0)
        return sp_fail(error, SP_INPUT, "%s: %s", name, strerror(errno)), NULL;
    if (is_taken(pipes, &status))
        return sp_fail(error, SP_INPUT, "%s: already used for the plans; expected another file",
                       name),
               NULL;
    const struct sp_piped *const before = find_kept(pipes, &status);
    if (before && before->length > most)
        return fail_too_large(name, most, error), NULL;
    if (before) {
        *length = before->length;
        return copy_text(before->text, before->length);
    }
    FILE *const file = from_stdin ? sp_input_of(pipes) : fopen(path, "rb");
    if (!file)
        return sp_fail(error, SP_INPUT, "%s: %s", name, strerror(errno)), NULL;
    char *const text = read_open(pipes, file, &status, name, most, length, error);
    if (!from_stdin)
        fclose(file);
    return text;
}

void sp_free_pipes(struct sp_pipes *pipes)
{
    for (struct sp_piped *piped = pipes->kept, *next; piped; piped = next) {
        next = piped->next;
        free(piped);
    }
    pipes->kept = NULL;
}

const char *sp_origin_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}
