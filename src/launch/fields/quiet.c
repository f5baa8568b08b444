/* Lists of names: of options without effect, and of those by which a format is known. */
#include "launch/fields/quiet.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST = 192 };

/* Writes a name with "#" for the place of an item: "datasets.0.path" is "datasets.#.path". */
static void spell(const char *name, char out[LONGEST])
{
    size_t n = 0;
    for (const char *at = name; *at && n + 1 < LONGEST;) {
        const size_t digits = at > name && at[-1] == '.' ? strspn(at, "0123456789") : 0;
        const bool place = digits > 0 && (at[digits] == '.' || !at[digits]);
        out[n++] = *at;
        if (place)
            out[n - 1] = '#';
        at += place ? digits : 1;
    }
    out[n] = '\0';
}

/* Whether a packed list has the name. embed.cmake packs: "=", and the sorted numbers of the names,
 * each as the step from the one before, in three digits of 64, or four behind "~". */
static bool is_packed(const char *list, const char *end, const char *name)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    uint32_t wanted = 0, at = 0;
    for (; *name; name++)
        wanted = (wanted * 1000003 + (unsigned char)*name) & 0x3fffff;
    for (list++; list < end && at <= wanted;) {
        uint32_t step = 0;
        const char *const stop = list + (*list == '~' ? 5 : 3);
        for (list += *list == '~'; list < stop && list < end; list++) {
            const char *const digit = strchr(digits, *list);
            step = step * 64 + (uint32_t)(digit ? digit - digits : 0);
        }
        at += step;
        if (at == wanted)
            return true;
    }
    return false;
}

bool sp_is_quiet(const char *quiet, const char *name)
{
    char spelled[LONGEST];
    spell(name, spelled);
    const size_t length = strlen(spelled);
    for (size_t n; *quiet; quiet += n) {
        quiet += strspn(quiet, " ");
        n = strcspn(quiet, " ");
        if (*quiet == '=' ? is_packed(quiet, quiet + n, spelled)
                          : n == length && n > 0 && strncmp(quiet, spelled, n) == 0)
            return true;
    }
    return false;
}
