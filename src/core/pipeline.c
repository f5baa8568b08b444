/* Pipeline schedules in closed form. */
#include <math.h>

#include <scaleplan/pipeline.h>

/* Interleaved: micro-batches go round in groups of p, v times; a last group of r < p still takes as
 * long as p, less what it does not fill. In units of F + B. */
static double rounds_idle(double p, double v, double m)
{
    const double r = m - (ceil(m / p) - 1) * p;
    return p - r + (r - 1) / v;
}

double sp_bubble_s(const struct sp_pipeline *q)
{
    const double p = (double)q->stages, v = (double)q->chunks, m = (double)q->microbatches;
    const double F = q->forward_s, B = q->backward_s, W = q->weight_grad_s;
    switch (q->schedule) {
    case SP_INTERLEAVED:
    case SP_CIRCULAR:
        return rounds_idle(p, v, m) * (F + B);
    case SP_ZB_H1: /* weight gradients fill the gaps of as many micro-batches as there are */
        return fmax((p - 1) * (F + B) - (p + fmin(m, p) - 2) * W, 0);
    case SP_ZB_H2:
        return fmax((p - 1) * (F + B) - (p + fmin(m, 2 * p - 1) - 2) * W, 0);
    case SP_DUALPIPE: /* few micro-batches: half of them come from either end */
        return p < 2 ? 0
                     : fmax(fmax((p / 2 - 1) * (F + 2 * B - 3 * W), 0),
                            (p + m / 2 - 1) * (F + B - W) + W - m * (F + B));
    default:
        return (p - 1) * (F + B);
    }
}

double sp_useful_s(const struct sp_pipeline *q)
{
    const double m = q->schedule == SP_NAIVE ? 1 : (double)q->microbatches;
    return m * (q->forward_s + q->backward_s);
}

double sp_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    const double p = (double)q->stages, m = (double)q->microbatches, v = (double)q->chunks;
    const double r = (double)rank;
    switch (q->schedule) {
    case SP_NAIVE:
        return 1;
    case SP_1F1B:
    case SP_ZB_H1:
        return fmin(m, p - r);
    case SP_INTERLEAVED:
        return v == 1 ? fmin(m, p - r) : fmin(m * v, 2 * (p - r - 1) + (v - 1) * p + 1) / v;
    case SP_ZB_H2:
        return fmin(m, 2 * p - 1);
    case SP_DUALPIPE:
        return fmin(m, p + 1);
    default:
        return m;
    }
}

double sp_microbatches_for(const struct sp_pipeline *q, double efficiency)
{
    struct sp_pipeline at = *q;
    if (q->schedule == SP_NAIVE) /* its batch is not divided */
        return efficiency * (double)q->stages <= 1 ? 1 : INFINITY;
    /* no number of micro-batches leaves less idle time than many, in multiples of p */
    at.microbatches = 1024 * q->stages;
    const double idle = sp_bubble_s(&at) / (q->forward_s + q->backward_s);
    const double exact = idle > 0 ? efficiency * idle / (1 - efficiency) : 0;
    if (!(exact < 1e15))
        return INFINITY;
    /* 0.9 * 3 / (1 - 0.9) is 27.000000000000007: rounding is not a micro-batch. */
    at.microbatches = (int64_t)fmax(1, ceil(exact - 1e-9 * fmax(exact, 1)));
    for (int64_t more = 0; more < 4 * q->stages; more++, at.microbatches++) {
        const double useful = sp_useful_s(&at);
        if (useful >= (efficiency - 1e-9) * (useful + sp_bubble_s(&at)))
            break; /* a part of a round, or the filling of a short schedule, may leave more */
    }
    return (double)at.microbatches;
}

double sp_hop_s(double batch_tokens, double d_model, double microbatches, double bytes_per_s)
{
    return 2 * batch_tokens * d_model / (bytes_per_s * microbatches);
}

double sp_hops_s(double hop_s, double microbatches, double stages)
{
    return hop_s * (microbatches + stages - 2);
}
