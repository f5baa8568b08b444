/* The least value of a smooth function of a few numbers. */
#include "runs/descent.h"

#include <stdbool.h>
#include <string.h>

/* Moves one number, or two, by a step in the directions given by the bits of `move`; false beyond a
 * bound. */
static bool step_of(const struct sp_descent *d, const double *x, int move, double step, double *y)
{
    const int one = move / 4 / d->n, other = move / 4 % d->n;
    memcpy(y, x, (size_t)d->n * sizeof *y);
    y[one] += move & 1 ? step : -step;
    if (other != one)
        y[other] += move & 2 ? step : -step;
    return y[one] >= d->low[one] && y[one] <= d->high[one] && y[other] >= d->low[other] &&
           y[other] <= d->high[other];
}

double sp_descend(const struct sp_descent *d, double *x)
{
    double least = d->cost(x, d->context);
    for (double step = 0.5; step > 1e-5;) {
        bool gained = false;
        for (int move = 0; move < d->n * d->n * 4; move++) {
            double y[SP_MOST_DESCENT];
            if (!step_of(d, x, move, step, y))
                continue;
            const double cost = d->cost(y, d->context);
            if (cost < least - 1e-12) {
                least = cost;
                gained = true;
                memcpy(x, y, (size_t)d->n * sizeof *x);
            }
        }
        if (!gained)
            step /= 2;
    }
    return least;
}
