/* The known name that is nearest to a mistyped one. */
#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Names are compared up to here. */
enum { LONGEST_NAME = 63 };

/* Edits (insert, delete, replace, swap neighbours) between two short names, letters' case ignored.
 */
static size_t edit_distance(const char *a, const char *b)
{
    static size_t rows[3][LONGEST_NAME + 1];
    const size_t n = strnlen(a, LONGEST_NAME), m = strnlen(b, LONGEST_NAME);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t cost = last[j - 1] + (x != y);
            if (last[j] + 1 < cost)
                cost = last[j] + 1;
            if (now[j - 1] + 1 < cost)
                cost = now[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < cost)
                cost = before[j - 2] + 1;
            now[j] = cost;
        }
        size_t *const oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

void sp_nearest_offer(struct sp_nearest *nearest, const char *candidate)
{
    const size_t distance = edit_distance(nearest->wanted, candidate);
    if (nearest->best[0] && distance >= nearest->distance)
        return;
    nearest->distance = distance;
    snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
}

const char *sp_nearest_hint(const struct sp_nearest *nearest)
{
    static char hint[160];
    const size_t length = strnlen(nearest->wanted, LONGEST_NAME);
    hint[0] = '\0';
    if (nearest->best[0] && nearest->distance <= (length < 4 ? 1 : 1 + length / 3))
        snprintf(hint, sizeof hint, "; did you mean \"%s\"?", sp_safe(nearest->best));
    return hint;
}
