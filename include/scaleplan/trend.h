/* What grows or falls by the same factor every year: compute, algorithms, memories. */
#ifndef SCALEPLAN_TREND_H
#define SCALEPLAN_TREND_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A figure of some year. */
enum { SP_MOST_TREND_POINTS = 32 };
struct sp_trend_point {
    char name[32];
    double year, value; /* year 2020.5: the middle of 2020 */
};

/* A published rate: in each `years` years it grows by `factor` (below 1: falls); `years_low` and
 * `years_high` bound the time of that factor; NAN: no range is published. It was found from
 * `first_year` to `last_year`. */
struct sp_trend {
    char name[64], unit[64];
    double factor, years, years_low, years_high;
    int64_t first_year, last_year; /* 0: not said */
    struct sp_trend_point point[SP_MOST_TREND_POINTS];
    int points;
};

/* Factor in a year, years^-1: factor^(1 / years). */
double sp_trend_growth(const struct sp_trend *trend);

/* Years in which it doubles: years ln 2 / ln factor; below 0 those in which it halves. */
double sp_trend_doubling_years(const struct sp_trend *trend);

/* Factor between two years: factor^((to - from) / years). */
double sp_trend_between(const struct sp_trend *trend, double from, double to);

/* Factor in a year of the line through the points that is nearest to their logarithms (least
 * squares); NAN with fewer than two years among them. */
double sp_trend_fitted_growth(const struct sp_trend *trend);

/* How far training came since a year: by more compute, by needing less of it, and by both; the
 * share of the logarithm that compute has. Ho et al. 2024, "Algorithmic progress in language
 * models", section 3: effective compute is compute times what algorithms save. */
struct sp_progress {
    double compute, algorithms, effective; /* factors */
    double compute_share;                  /* NAN in the year itself */
};
struct sp_progress sp_progress_between(const struct sp_trend *compute,
                                       const struct sp_trend *algorithms, double from, double to);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
