/* Maxima: inline fmax and fmin, and a smooth maximum. */
#ifndef SP_SMOOTH_H
#define SP_SMOOTH_H

#include <math.h>

/* fmax and fmin without a call; NAN is ignored. */
static inline double sp_larger(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

static inline double sp_smaller(double a, double b)
{
    return b < a || isnan(a) ? b : a;
}

/* A smooth maximum, (a^4 + b^4)^(1/4): continuous, monotone, never below either. */
static inline double sp_smooth_max(double a, double b)
{
    const double most = sp_larger(a, b);
    if (most <= 0)
        return 0;
    const double x = sp_smaller(a, b) / most;
    return most * sqrt(sqrt(1 + x * x * x * x));
}

#endif
