/* Distributions of lengths: moments, quantiles, the expected greatest. */
#include <math.h>

#include <scaleplan/lengths.h>

#include "core/require.h"

static const double PI = 3.14159265358979323846;

/* Normal distribution function. */
static double below(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

static double density(double z)
{
    return exp(-z * z / 2) / sqrt(2 * PI);
}

static double cut(const struct sp_lengths *l, double x)
{
    return l->most > 0 ? fmin(x, l->most) : x;
}

/* The length drawn for a normal variable z, so that both have the same share below. */
static double drawn_at(const struct sp_lengths *l, double z)
{
    switch (l->kind) {
    case SP_LENGTHS_LOGNORMAL:
        return l->a * exp(l->b * (z - l->b / 2));
    case SP_LENGTHS_UNIFORM:
        return l->a + (l->b - l->a) * below(z);
    case SP_LENGTHS_EXPONENTIAL:
        return -l->a * log(below(-z));
    default:
        return l->a;
    }
}

static double length_at(const struct sp_lengths *l, double z)
{
    return l->plus + drawn_at(l, z);
}

/* Normal quantile: Winitzki's approximation, then Halley's steps. */
static double z_of(double share)
{
    const double rest = fmin(share, 1 - share), half = log(4 * rest * (1 - rest)) / 2;
    const double a = 0.147, b = 2 / (PI * a) + half;
    double z = -sqrt(2 * (sqrt(fmax(0, b * b - 2 * half / a)) - b));
    for (int i = 0; i < 3; i++) {
        const double step = (below(z) - rest) / density(z);
        z -= step / (1 + z * step / 2);
    }
    return share < 0.5 ? z : -z;
}

/* Number of lengths of a trace that are no longer, by bisection. */
static size_t count_up_to(const struct sp_lengths *l, double tokens)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (l->sorted[middle] <= tokens)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Share of longer lengths before `most` cuts them. */
static double share_over(const struct sp_lengths *l, double tokens)
{
    const double x = tokens - l->plus;
    switch (l->kind) {
    case SP_LENGTHS_LOGNORMAL:
        if (l->b > 0 && x > 0)
            return below(-(log(x / l->a) / l->b + l->b / 2));
        return x < l->a;
    case SP_LENGTHS_UNIFORM:
        return l->b > l->a ? fmin(1, fmax(0, (l->b - x) / (l->b - l->a))) : x < l->a;
    case SP_LENGTHS_EXPONENTIAL:
        return exp(-fmax(0, x) / l->a);
    case SP_LENGTHS_TRACE:
        return 1 - (double)count_up_to(l, x) / (double)l->n;
    default:
        return x < l->a;
    }
}

/* Integral of the greatest of n to this power: Simpson's rule over the normal variable up to the
 * limit, where the integrand has a kink; the limit itself beyond it. */
static double power_of_greatest(const struct sp_lengths *l, double n, double power)
{
    enum { PARTS = 2048, WIDE = 14 };
    const double cut_share = l->most > 0 ? share_over(l, l->most) : 0;
    const double spread = l->kind == SP_LENGTHS_LOGNORMAL ? power * l->b : 0;
    const double top = fmin(cut_share > 0 ? -z_of(cut_share) : INFINITY, WIDE + spread);
    const double bottom = fmin(top, -WIDE), width = (top - bottom) / PARTS;
    double sum = 0;
    if (cut_share >= 1)
        return pow(l->most, power);
    for (int i = 0; i <= PARTS; i++) {
        const double z = bottom + i * width;
        const double log_below = z < 0 ? log(below(z)) : log1p(-below(-z));
        const double weight = i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2;
        sum += weight * pow(length_at(l, z), power) * n * exp((n - 1) * log_below) * density(z);
    }
    return sum * width / 3 +
           (cut_share > 0 ? pow(l->most, power) * -expm1(n * log1p(-cut_share)) : 0);
}

/* The same of a trace: the i-th is the greatest with (i/m)^n - ((i - 1)/m)^n. */
static double power_of_trace(const struct sp_lengths *l, double n, double power)
{
    const double m = (double)l->n;
    double sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += pow(cut(l, l->plus + l->sorted[i]), power) *
               (n == 1 ? 1 : m * (pow((double)(i + 1) / m, n) - pow((double)i / m, n)));
    return sum / m;
}

static double moment(const struct sp_lengths *l, double n, double power)
{
    if (l->kind == SP_LENGTHS_TRACE)
        return power_of_trace(l, n, power);
    if (l->kind == SP_LENGTHS_FIXED)
        return pow(cut(l, l->plus + l->a), power);
    return power_of_greatest(l, n, power);
}

void sp_settle_lengths(struct sp_lengths *l)
{
    l->mean = moment(l, 1, 1);
    l->square = moment(l, 1, 2);
}

struct sp_lengths sp_fixed_length(double tokens)
{
    return (struct sp_lengths){.a = tokens, .mean = tokens, .square = tokens * tokens};
}

double sp_greatest_length(const struct sp_lengths *l, double n)
{
    sp_require(n >= 1, "their number must be at least 1");
    return moment(l, n, 1);
}

double sp_lengths_quantile(const struct sp_lengths *l, double share)
{
    if (l->kind != SP_LENGTHS_TRACE)
        return cut(l, length_at(l, z_of(share)));
    const size_t rank = (size_t)ceil(share * (double)l->n);
    return cut(l, l->plus + l->sorted[rank > 0 ? rank - 1 : 0]);
}

double sp_lengths_over(const struct sp_lengths *l, double x)
{
    return l->most > 0 && x >= l->most ? 0 : share_over(l, x);
}

double sp_draw_share(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

double sp_draw_length(const struct sp_lengths *l, uint64_t *state)
{
    return fmax(1, floor(sp_lengths_quantile(l, sp_draw_share(state)) + 0.5));
}
