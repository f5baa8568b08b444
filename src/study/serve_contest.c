/* Compares the serving instances of several machines. */
#include "study/serve_contest.h"

#include <math.h>
#include <stdlib.h>

#include <scaleplan/forms.h>

#include "base/memory.h"

/* Less is better; chips of different machines cost differently. */
static double score(enum sp_serve_objective objective, const struct sp_serve_entry *e)
{
    return objective == SP_SERVE_COST ? e->usd : sp_serve_score(e->point, objective);
}

/* Whether a machine's price makes it worse, or nothing is known of both. */
static bool costs_no_less(const struct sp_serve_entry *a, const struct sp_serve_entry *b)
{
    return isnan(a->usd) || isnan(b->usd) || a->usd >= b->usd;
}

/* Chips of different machines are not one unit: cost compares money, and the front has three
 * coordinates. */
static bool is_beaten(const struct sp_serve_entry *all, size_t n, const struct sp_serve_entry *e)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].machine != e->machine && all[i].estimated == e->estimated &&
            sp_serve_covers(all[i].point, e->point) && costs_no_less(e, &all[i]))
            return true;
    return false;
}

static bool is_before(enum sp_serve_objective objective, const struct sp_serve_entry *a,
                      const struct sp_serve_entry *b)
{
    return a->estimated != b->estimated ? a->estimated : score(objective, a) < score(objective, b);
}

static double usd_of(const struct sp_serve_rival *r, const struct sp_serve_point *p)
{
    return sp_usd_per_mtoken(sp_chip_seconds_of_token(p, r->input, r->output), r->usd_per_h);
}

size_t sp_rank_serving(const struct sp_serve_rival *rivals, int n,
                       enum sp_serve_objective objective, bool front,
                       struct sp_serve_entry **entries)
{
    size_t room = 1, found = 0, left = 0;
    for (int i = 0; i < n; i++)
        room += (size_t)rivals[i].n;
    struct sp_serve_entry *const all = sp_must(calloc(room, sizeof *all));
    struct sp_serve_entry *const kept = sp_must(calloc(room, sizeof *kept));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < rivals[i].n; k++) {
            const struct sp_serve_point *const p = &rivals[i].points[k];
            all[found++] =
                (struct sp_serve_entry){i, p, rivals[i].estimated, usd_of(&rivals[i], p)};
        }
    for (size_t i = 0; i < found; i++) {
        if (front && is_beaten(all, found, &all[i]))
            continue;
        size_t at = left++;
        for (; at > 0 && is_before(objective, &all[i], &kept[at - 1]); at--)
            kept[at] = kept[at - 1];
        kept[at] = all[i];
    }
    free(all);
    *entries = kept;
    return left;
}
