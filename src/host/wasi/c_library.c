/* Functions of the C library that take less room here than those of wasi-libc: texts are UTF-8 and
 * angles are small. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The module's locale is UTF-8, whatever a program asks for. */
char *setlocale(int category, const char *name)
{
    (void)category, (void)name;
    return (char *)"C.UTF-8";
}

char *nl_langinfo(nl_item item)
{
    (void)item;
    return (char *)"UTF-8";
}

/* The errors that wasi.js returns, in the words of a shell. */
char *strerror(int error)
{
    static const struct {
        int error;
        char words[28];
    } known[] = {
        {ENOENT, "No such file or directory"}, {EISDIR, "Is a directory"},
        {ENOTDIR, "Not a directory"},          {EEXIST, "File exists"},
        {EBADF, "Bad file descriptor"},        {EINVAL, "Invalid argument"},
        {ENOMEM, "Cannot allocate memory"},    {EFBIG, "File too large"},
        {ENOSYS, "Function not implemented"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error)
            return (char *)known[i].words;
    return (char *)"Unknown error";
}

/* Copies are one instruction of a module. */
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    return __builtin_memcpy(to, from, n);
}

void *memmove(void *to, const void *from, size_t n)
{
    return __builtin_memmove(to, from, n);
}

void *memset(void *to, int byte, size_t n)
{
    return __builtin_memset(to, byte, n);
}

char *strstr(const char *text, const char *part)
{
    const size_t n = strlen(part);
    for (; n > 0 && (text = strchr(text, *part)); text++)
        if (strncmp(text, part, n) == 0)
            break;
    return (char *)text;
}

typedef int compare_items(const void *, const void *);

/* Sorts n items, with room for as many: halves, then both in turn. Equals keep their order, as in
 * glibc, so that a page lists them as a shell does. */
static void merge_sort(char *items, char *room, size_t n, size_t size, compare_items *compare)
{
    const size_t half = n / 2;
    if (half == 0)
        return;
    char *const second = items + half * size, *const end = items + n * size;
    merge_sort(items, room, half, size, compare);
    merge_sort(second, room, n - half, size, compare);
    memcpy(room, items, half * size);
    char *to = items;
    for (char *a = room, *const a_end = room + half * size, *b = second; a < a_end; to += size) {
        char **const next = b < end && compare(a, b) > 0 ? &b : &a;
        memcpy(to, *next, size);
        *next += size;
    }
}

void qsort(void *items, size_t n, size_t size, compare_items *compare)
{
    char *const room = malloc(n / 2 * size + 1);
    if (!room)
        abort();
    merge_sort(items, room, n, size, compare);
    free(room);
}

/* Reduces an angle of -4 to 4 by quarter turns, for cos(): the rest in two parts; returns the
 * number of quarter turns. pi / 2 is in two parts too, the first of 33 bits, so that a multiple of
 * it is exact. */
int __rem_pio2(double angle, double *left)
{
    static const double first = 0x1.921fb544p+0, second = 0x1.0b4611a626331p-34;
    const double turns = rint(angle * M_2_PI);
    const double rest = angle - turns * first, less = turns * second;
    left[0] = rest - less;
    left[1] = rest - left[0] - less;
    return (int)turns;
}
