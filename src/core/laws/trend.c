/* Trends: exponential growth over years. */
#include <scaleplan/forms.h>
#include <scaleplan/laws.h>

#include <math.h>

double sp_trend_growth(const struct sp_trend *t)
{
    return sp_growth_per_year(t->factor, t->years);
}

double sp_trend_doubling_years(const struct sp_trend *t)
{
    return sp_doubling_time(t->factor, t->years);
}

double sp_trend_between(const struct sp_trend *t, double from, double to)
{
    return sp_trend_factor(t->factor, t->years, from, to);
}

double sp_trend_fitted_growth(const struct sp_trend *t)
{
    double year = 0, value = 0, both = 0, square = 0;
    for (int i = 0; i < t->points; i++) {
        year += t->point[i].year / t->points;
        value += log(t->point[i].value) / t->points;
    }
    for (int i = 0; i < t->points; i++) {
        const double off = t->point[i].year - year;
        both += off * (log(t->point[i].value) - value);
        square += off * off;
    }
    return square > 0 ? exp(both / square) : NAN;
}

struct sp_progress sp_progress_between(const struct sp_trend *compute,
                                       const struct sp_trend *algorithms, double from, double to)
{
    struct sp_progress p = {.compute = sp_trend_between(compute, from, to),
                            .algorithms = sp_trend_between(algorithms, from, to)};
    p.effective = sp_effective_compute(p.compute, p.algorithms);
    p.compute_share = sp_share_of_compute(p.compute, p.effective);
    return p;
}
