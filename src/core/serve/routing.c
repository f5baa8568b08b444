/* Expected fullest of the ranks of experts. Ranks share a fixed total, so that their loads are
 * those of independent variables less their mean: the greatest of n is that of independent ones
 * with the variance n / (n - 1) of a rank's. David and Nagaraja 2003, "Order Statistics",
 * section 5.3. */
#include "core/serve/routing.h"

#include <math.h>

/* By the trapezoidal rule, whose error falls as exp(-2 (pi s / step)^2) for a bell of width s, here
 * from 0.35 for 1,000 variables to 0.83 for two. */
double sp_greatest_normal(double n)
{
    const double from = -5, to = 8, step = 0.5, pi = acos(-1);
    double sum = 0;
    for (double z = from; z <= to && n > 1; z += step)
        sum += z * pow(erfc(-z / sqrt(2)) / 2, n - 1) * exp(-z * z / 2);
    return n * sum * step / sqrt(2 * pi);
}

double sp_uneven_ranks(const struct sp_routing *r, double variance)
{
    if (r->ranks <= 1)
        return 1;
    return fmin(r->ranks, 1 + r->greatest * sqrt(variance * r->ranks / (r->experts - 1)));
}

double sp_fullest_rank(const struct sp_routing *r, double uneven, double tokens)
{
    const double E = r->experts, k = r->picks, beyond = uneven - 1;
    const double drawn = r->ranks * (E - k) / ((E - 1) * k * tokens);
    if (r->ranks <= 1)
        return 1;
    return fmin(r->ranks, 1 + sqrt(beyond * beyond + r->greatest * r->greatest * drawn));
}

double sp_most_used(const struct sp_routing *r, double experts, double used)
{
    const double share = fmin(1, used / experts);
    return fmin(experts, used + r->greatest * sqrt(used * (1 - share)));
}
