/* A maximum without a corner. */
#include "core/smooth.h"

#include <math.h>

double sp_smooth_max(double a, double b)
{
    const double most = sp_larger(a, b);
    if (most <= 0)
        return 0;
    const double x = sp_smaller(a, b) / most;
    return most * sqrt(sqrt(1 + x * x * x * x));
}
