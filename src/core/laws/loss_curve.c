/* Whether the loss of a run falls, rises or spikes. */
#include <math.h>

#include <scaleplan/training.h>

#include "core/require.h"

/* Differences below this share of a mean are rounding. */
static const double ROUNDING = 1e-9;

/* The line through the last window, whose mean is known. */
static void fit_line(const double *last, struct sp_loss_curve *curve)
{
    const size_t n = (size_t)curve->window;
    const double middle = (curve->window - 1) / 2;
    const double square = curve->window * (curve->window * curve->window - 1) / 12;
    double product = 0, rest = 0;
    for (size_t i = 0; i < n; i++)
        product += ((double)i - middle) * (last[i] - curve->mean);
    curve->slope = product / square;
    for (size_t i = 0; i < n; i++) {
        const double off = last[i] - curve->mean - curve->slope * ((double)i - middle);
        rest += off * off;
    }
    curve->error = sqrt(rest / (curve->window - 2) / square);
    curve->rises = curve->slope > 2 * curve->error &&
                   curve->slope * curve->window > ROUNDING * fabs(curve->mean);
}

struct sp_loss_curve sp_read_loss_curve(const double *losses, size_t count)
{
    enum { WINDOW = 1000 };
    static const double DEVIATIONS = 7;
    sp_require(count >= SP_FEWEST_LOSSES, "the losses must be at least SP_FEWEST_LOSSES");
    const size_t w = count / 2 < WINDOW ? count / 2 : WINDOW;
    struct sp_loss_curve curve = {.window = (double)w, .least = INFINITY};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double mean = curve.mean,
                     deviation = sqrt(fmax(squares / (double)w - mean * mean, 0));
        curve.spikes += i >= w && losses[i] - mean > DEVIATIONS * deviation + ROUNDING * fabs(mean);
        sum += losses[i] - (i >= w ? losses[i - w] : 0);
        squares += losses[i] * losses[i] - (i >= w ? losses[i - w] * losses[i - w] : 0);
        curve.mean = sum / (double)w;
        if (i + 1 >= w && curve.mean < curve.least) {
            curve.least = curve.mean;
            curve.since_least = (double)(count - 1 - i);
        }
    }
    fit_line(losses + count - w, &curve);
    return curve;
}
