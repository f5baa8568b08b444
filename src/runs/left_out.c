/* Counts measured runs that do not count, by reason. */
#include "runs/left_out.h"

#include <stdio.h>

#include "base/error.h"
#include "base/text.h"

void sp_leave_out(struct sp_left_out *l, const char *id, const char *reason)
{
    int i = 0;
    l->n++;
    while (i < l->reasons && !sp_is(l->of[i].reason, reason))
        i++;
    if (i == SP_LEFT_OUT_REASONS)
        return;
    if (i == l->reasons) {
        snprintf(l->of[i].id, sizeof l->of[i].id, "%s", id);
        snprintf(l->of[i].reason, sizeof l->of[i].reason, "%s", reason);
        l->reasons++;
    }
    l->of[i].n++;
}

void sp_left_out_text(const struct sp_left_out *l, char *out, size_t size)
{
    size_t told = 0;
    out[0] = '\0';
    for (int i = 0; i < l->reasons; i++) {
        const char *const separator = i > 0 ? "; " : "", *const id = sp_safe(l->of[i].id);
        told += l->of[i].n;
        if (l->of[i].n == 1)
            sp_append(out, size, "%s%s: %s", separator, id, l->of[i].reason);
        else
            sp_append(out, size, "%s%zu runs: %s, the first %s", separator, l->of[i].n,
                      l->of[i].reason, id);
    }
    if (told < l->n)
        sp_append(out, size, "; %zu more", l->n - told);
}
