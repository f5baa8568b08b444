/* Pipeline schedules in closed form. */
#include <math.h>

#include "core/pipeline/pipeline_internal.h"
#include "core/require.h"

/* Interleaved: micro-batches go round in groups of p, v times; a last group of r < p still takes as
 * long as p, less what it does not fill. In units of F + B. */
static double rounds_idle(double p, double v, double m)
{
    const double r = m - (ceil(m / p) - 1) * p;
    return p - r + (r - 1) / v;
}

static double idle_rounds(const struct sp_pipeline *q)
{
    return rounds_idle((double)q->stages, (double)q->chunks, (double)q->microbatches) *
           (q->forward_s + q->backward_s);
}

static double idle_ends(const struct sp_pipeline *q)
{
    return (double)(q->stages - 1) * (q->forward_s + q->backward_s);
}

/* Weight gradients fill the gaps of as many micro-batches as there are, up to `most`. */
static double idle_less_weights(const struct sp_pipeline *q, double most)
{
    const double p = (double)q->stages, m = (double)q->microbatches;
    return fmax(
        (p - 1) * (q->forward_s + q->backward_s) - (p + fmin(m, most) - 2) * q->weight_grad_s, 0);
}

static double idle_zb_h1(const struct sp_pipeline *q)
{
    return idle_less_weights(q, (double)q->stages);
}

static double idle_zb_h2(const struct sp_pipeline *q)
{
    return idle_less_weights(q, 2 * (double)q->stages - 1);
}

/* Few micro-batches: half of them come from either end. */
static double idle_dual(const struct sp_pipeline *q)
{
    const double p = (double)q->stages, m = (double)q->microbatches;
    const double F = q->forward_s, B = q->backward_s, W = q->weight_grad_s;
    return p < 2 ? 0
                 : fmax(fmax((p / 2 - 1) * (F + 2 * B - 3 * W), 0),
                        (p + m / 2 - 1) * (F + B - W) + W - m * (F + B));
}

static double one_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    (void)q;
    (void)rank;
    return 1;
}

static double all_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    (void)rank;
    return (double)q->microbatches;
}

/* One for each stage from here to the end. */
static double rest_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    return fmin((double)q->microbatches, (double)(q->stages - rank));
}

static double chunks_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    const double p = (double)q->stages, m = (double)q->microbatches, v = (double)q->chunks;
    return v == 1 ? rest_in_flight(q, rank)
                  : fmin(m * v, 2 * (p - (double)rank - 1) + (v - 1) * p + 1) / v;
}

static double zb_h2_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    (void)rank;
    return fmin((double)q->microbatches, 2 * (double)q->stages - 1);
}

static double dual_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    (void)rank;
    return fmin((double)q->microbatches, (double)q->stages + 1);
}

/* clang-format off */
const struct sp_schedule_traits sp_schedules[SP_SCHEDULES] = {
    /*                  divided chunked splits exact copies */
    [SP_NAIVE]       = {false,  false,  false, false, 1, idle_ends,   one_in_flight},
    [SP_GPIPE]       = {true,   false,  false, true,  1, idle_ends,   all_in_flight},
    [SP_1F1B]        = {true,   false,  false, true,  1, idle_ends,   rest_in_flight},
    [SP_INTERLEAVED] = {true,   true,   false, false, 1, idle_rounds, chunks_in_flight},
    [SP_ZB_H1]       = {true,   false,  true,  false, 1, idle_zb_h1,  rest_in_flight},
    [SP_ZB_H2]       = {true,   false,  true,  false, 1, idle_zb_h2,  zb_h2_in_flight},
    [SP_DUALPIPE]    = {true,   false,  true,  false, 2, idle_dual,   dual_in_flight},
    [SP_CIRCULAR]    = {true,   true,   false, false, 1, idle_rounds, all_in_flight},
};
/* clang-format on */

enum sp_schedule sp_usual_schedule(int64_t chunks)
{
    return chunks > 1 ? SP_INTERLEAVED : SP_1F1B;
}

double sp_bubble_s(const struct sp_pipeline *q)
{
    return sp_schedules[q->schedule].bubble_s(q);
}

double sp_useful_s(const struct sp_pipeline *q)
{
    const double m = sp_schedules[q->schedule].divided ? (double)q->microbatches : 1;
    return m * (q->forward_s + q->backward_s);
}

double sp_in_flight(const struct sp_pipeline *q, int64_t rank)
{
    sp_require(rank >= 0 && rank < q->stages, "the rank must be below the stages");
    return sp_schedules[q->schedule].in_flight(q, rank);
}

double sp_microbatches_for(const struct sp_pipeline *q, double efficiency)
{
    struct sp_pipeline at = *q;
    if (!sp_schedules[q->schedule].divided)
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

struct sp_passes sp_passes_at(const struct sp_pipeline *q, const struct sp_stage_scale *scale,
                              int64_t stage)
{
    static const struct sp_stage_scale even = {1, 1, 1};
    const struct sp_stage_scale *const at = scale ? &scale[stage] : &even;
    return (struct sp_passes){at->forward * q->forward_s, at->backward * q->backward_s,
                              at->weight_grad * q->weight_grad_s};
}
