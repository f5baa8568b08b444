/* Statistics of prediction errors. */
#include <math.h>

#include <scaleplan/profile.h>

/* Shell's sort: core uses no library but libm. */
static void sort_by_size(double *values, size_t n)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            const double value = values[i];
            size_t k = i;
            for (; k >= gap && fabs(values[k - gap]) > fabs(value); k -= gap)
                values[k] = values[k - gap];
            values[k] = value;
        }
}

/* Quantile of sorted absolute errors. */
static double quantile(const double *sorted, size_t n, double share)
{
    const double at = share * (double)(n - 1);
    const size_t below = (size_t)at;
    const size_t above = below + 1 < n ? below + 1 : below;
    const double part = at - (double)below;
    return fabs(sorted[below]) * (1 - part) + fabs(sorted[above]) * part;
}

struct sp_error_stats sp_summarise_errors(double *errors, size_t n)
{
    struct sp_error_stats stats = {n, NAN, NAN, NAN, NAN};
    if (n == 0)
        return stats;
    sort_by_size(errors, n);
    double sum = 0, sum_abs = 0;
    for (size_t i = 0; i < n; i++) {
        sum += errors[i];
        sum_abs += fabs(errors[i]);
    }
    stats.bias = sum / (double)n;
    stats.mean_abs = sum_abs / (double)n;
    stats.median_abs = quantile(errors, n, 0.5);
    stats.p90_abs = quantile(errors, n, 0.9);
    return stats;
}
