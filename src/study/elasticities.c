/* How strongly a goal depends on each figure of a machine. */
#include "study/elasticities.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    const struct sp_elasticity *const x = a, *const y = b;
    const double dx = fabs(x->elasticity), dy = fabs(y->elasticity);
    return dx != dy ? (dx < dy) - (dx > dy) : (int)x->figure - (int)y->figure;
}

static bool is_number(enum sp_machine_figure figure)
{
    return figure == SP_FIGURE_DOMAIN || figure == SP_FIGURE_CHIPS;
}

size_t sp_find_elasticities(struct sp_aimed *aimed, const struct sp_demand *demand,
                            const bool vary[SP_FIGURES], double delta,
                            struct sp_elasticity found[SP_FIGURES])
{
    const bool replan = aimed->replan;
    double low, high;
    size_t n = 0;
    for (enum sp_machine_figure i = 0; i < SP_FIGURES; i++) {
        struct sp_elasticity *const f = &found[n];
        if (!vary[i] || is_number(i))
            continue;
        *f = (struct sp_elasticity){.figure = i, .delta = delta, .replanned = NAN};
        if (replan)
            f->replanned = sp_elasticity_of(demand, aimed->hw, i, delta, &low, &high);
        aimed->replan = false;
        f->elasticity = sp_elasticity_of(demand, aimed->hw, i, delta, &f->low, &f->high);
        aimed->replan = replan;
        n++;
    }
    qsort(found, n, sizeof *found, by_size);
    return n;
}

double sp_rest_of_time(const struct sp_elasticity *found, size_t n)
{
    double rest = 1;
    for (size_t i = 0; i < n; i++)
        if (!is_number(found[i].figure) && found[i].figure != SP_FIGURE_HBM &&
            found[i].figure != SP_FIGURE_PRICE)
            rest += found[i].elasticity;
    return rest;
}
