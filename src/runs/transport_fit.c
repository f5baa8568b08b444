/* Fits the curve of a collective over a transport to measured times. */
#include "runs/transport_fit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <scaleplan/forms.h>

#include "runs/descent.h"

/* Standard deviation of ln(time) between repeats of a message on one cluster. */
#define NOISE 0.05

enum { SHARE, START, RAMP, GROWTH, CONSTANTS };

/* Normal priors of the constants' logarithms. Starts and ramps are those that sweeps down to a few
 * bytes have; growth is that of NCCL's all-to-all over 2 to 32 nodes of EFA and of its
 * reduce-scatter over 16 to 128 nodes of InfiniBand, 0.07 to 0.1. A share follows from the longest
 * messages of any sweep. */
static const struct {
    double expected, spread;
} priors[CONSTANTS] = {
    [SHARE] = {0.8, 2}, [START] = {1e-4, 1.5}, [RAMP] = {5e-5, 1.5}, [GROWTH] = {0.08, 0.3}};

static struct sp_transport_curve curve_of(const double *x)
{
    return (struct sp_transport_curve){.share = exp(x[SHARE]),
                                       .start_s = exp(x[START]),
                                       .ramp_s = exp(x[RAMP]),
                                       .growth = exp(x[GROWTH])};
}

struct sp_transport_point sp_transport_point(const struct sp_hardware *hw, enum sp_collective op,
                                             double ranks, double size_bytes, double time_s)
{
    struct sp_device_group g = sp_group_on(hw);
    g.nodes.devices = ranks;
    const double V = op == SP_ALL_TO_ALL ? size_bytes * ranks : size_bytes;
    return (struct sp_transport_point){
        .bound_s = sp_time_of_collective(op, V, &g).throughput_s,
        .nodes = sp_group_nodes(&g.nodes),
        .time_s = time_s,
    };
}

double sp_transport_error(const struct sp_transport_curve *c, const struct sp_transport_point *p)
{
    return log(sp_transport_s(c->start_s, c->ramp_s, p->bound_s, c->growth, p->nodes, c->share) /
               p->time_s);
}

/* The points of a fit. */
struct points {
    const struct sp_transport_point *at;
    size_t n;
};

/* Quadratic for small errors, linear for large ones: first messages of sweeps meet cold caches. */
static double cost(const double *x, void *context)
{
    const struct points *const points = context;
    const struct sp_transport_curve c = curve_of(x);
    double sum = 0;
    for (size_t i = 0; i < points->n; i++) {
        const double z = sp_transport_error(&c, &points->at[i]) / NOISE;
        sum += sqrt(1 + z * z) - 1;
    }
    for (int i = 0; i < CONSTANTS; i++) {
        const double z = (x[i] - log(priors[i].expected)) / priors[i].spread;
        sum += z * z / 2;
    }
    return sum;
}

/* Three digits, as files have them. */
static double rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    return atof(text);
}

struct sp_transport_curve sp_fit_transport(const struct sp_transport_point *points, size_t n)
{
    double best[CONSTANTS] = {0}, least = DBL_MAX;
    struct points all = {points, n};
    struct sp_descent d = {.n = CONSTANTS, .cost = cost, .context = &all};
    for (int i = 0; i < CONSTANTS; i++) {
        d.low[i] = -HUGE_VAL;
        d.high[i] = HUGE_VAL;
    }
    for (int start = -1; start <= 1; start++) { /* the ramp has a valley on each side */
        double x[CONSTANTS];
        for (int i = 0; i < CONSTANTS; i++)
            x[i] = log(priors[i].expected);
        x[RAMP] += 3 * start;
        const double c = sp_descend(&d, x);
        if (c < least) {
            least = c;
            for (int i = 0; i < CONSTANTS; i++)
                best[i] = x[i];
        }
    }
    struct sp_transport_curve c = curve_of(best);
    c.share = rounded(c.share);
    c.start_s = rounded(c.start_s);
    c.ramp_s = rounded(c.ramp_s);
    c.growth = rounded(c.growth);
    c.rows = (double)n;
    for (size_t i = 0; i < n; i++)
        c.residual += fabs(sp_transport_error(&c, &points[i])) / (double)n;
    return c;
}
