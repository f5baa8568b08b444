/* Pipeline schedules in closed form. */
#include <math.h>

#include <scaleplan/pipeline.h>

double sp_bubble_s(const struct sp_pipeline *q)
{
    const double p = (double)q->stages, v = (double)q->chunks;
    const double F = q->forward_s, B = q->backward_s, W = q->weight_grad_s;
    switch (q->schedule) {
    case SP_INTERLEAVED:
    case SP_CIRCULAR:
        return (p - 1) * (F + B) / v;
    case SP_ZB_H1:
        return fmax((p - 1) * (F + B - 2 * W), 0);
    case SP_ZB_H2:
        return fmax((p - 1) * (F + B - 3 * W), 0);
    case SP_DUALPIPE:
        return p < 2 ? 0 : fmax((p / 2 - 1) * (F + 2 * B - 3 * W), 0);
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
    const double idle = sp_bubble_s(q) / (q->forward_s + q->backward_s);
    const double exact = efficiency * idle / (1 - efficiency);
    /* 0.9 * 3 / (1 - 0.9) is 27.000000000000007: rounding is not a micro-batch. */
    return ceil(exact - 1e-9 * fmax(exact, 1));
}

double sp_hop_s(double batch_tokens, double d_model, double microbatches, double bytes_per_s)
{
    return 2 * batch_tokens * d_model / (bytes_per_s * microbatches);
}

double sp_hops_s(double hop_s, double microbatches, double stages)
{
    return hop_s * (microbatches + stages - 2);
}
