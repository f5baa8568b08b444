/* How far predictions are from measurements. */
#ifndef SCALEPLAN_STATISTICS_H
#define SCALEPLAN_STATISTICS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What relative errors, predicted / measured - 1, come to. Fractions; NAN where n is 0. */
struct sp_error_stats {
    size_t n;
    double mean_abs, median_abs, p90_abs;
    double bias; /* mean, with its sign */
};

/* Summarises `n` errors; sorts them by size in place. Quantiles lie between neighbours in
 * proportion (Hyndman and Fan 1996, type 7). */
struct sp_error_stats sp_summarise_errors(double *errors, size_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
