/* Pipeline schedules in closed form. */
#include <math.h>

#include <scaleplan/forms.h>

#include "core/pipeline/pipeline_internal.h"
#include "core/require.h"

static double idle_ends(const struct sp_pipeline *q)
{
    return sp_bubble_1f1b_s((double)q->stages, q->forward_s, q->backward_s);
}

static double idle_rounds(const struct sp_pipeline *q)
{
    const double p = (double)q->stages, m = (double)q->microbatches;
    return sp_bubble_rounds_s(p, (double)q->chunks, sp_last_round(m, p), q->forward_s,
                              q->backward_s);
}

double sp_filling_microbatches(const struct sp_pipeline *q)
{
    const double p = (double)q->stages;
    return fmin((double)q->microbatches, q->schedule == SP_ZB_H1 ? p : 2 * p - 1);
}

static double idle_zero(const struct sp_pipeline *q)
{
    return sp_bubble_zero_s((double)q->stages, sp_filling_microbatches(q), q->forward_s,
                            q->backward_s, q->weight_grad_s);
}

static double idle_dual(const struct sp_pipeline *q)
{
    return sp_bubble_dual_s((double)q->stages, (double)q->microbatches, q->forward_s, q->backward_s,
                            q->weight_grad_s);
}

static double (*const bubbles[])(const struct sp_pipeline *) = {
    [SP_BUBBLE_ENDS] = idle_ends,
    [SP_BUBBLE_ROUNDS] = idle_rounds,
    [SP_BUBBLE_ZERO] = idle_zero,
    [SP_BUBBLE_DUAL] = idle_dual,
};

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

/* One per stage from this one to the last. */
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
    /* split chunks are exact copies when divided */
    [SP_NAIVE]       = {false,  false,  false, false, 1, SP_BUBBLE_ENDS,   one_in_flight},
    [SP_GPIPE]       = {true,   false,  false, true,  1, SP_BUBBLE_ENDS,   all_in_flight},
    [SP_1F1B]        = {true,   false,  false, true,  1, SP_BUBBLE_ENDS,   rest_in_flight},
    [SP_INTERLEAVED] = {true,   true,   false, false, 1, SP_BUBBLE_ROUNDS,chunks_in_flight},
    [SP_ZB_H1]       = {true,   false,  true,  false, 1, SP_BUBBLE_ZERO,   rest_in_flight},
    [SP_ZB_H2]       = {true,   false,  true,  false, 1, SP_BUBBLE_ZERO,   zb_h2_in_flight},
    [SP_DUALPIPE]    = {true,   false,  true,  false, 2, SP_BUBBLE_DUAL,   dual_in_flight},
    [SP_CIRCULAR]    = {true,   true,   false, false, 1, SP_BUBBLE_ROUNDS,all_in_flight},
};
/* clang-format on */

enum sp_schedule sp_usual_schedule(int64_t chunks)
{
    return chunks > 1 ? SP_INTERLEAVED : SP_1F1B;
}

double sp_bubble_s(const struct sp_pipeline *q)
{
    return bubbles[sp_schedules[q->schedule].bubble](q);
}

double sp_useful_microbatches(const struct sp_pipeline *q)
{
    return sp_schedules[q->schedule].divided ? (double)q->microbatches : 1;
}

double sp_useful_s(const struct sp_pipeline *q)
{
    return sp_pipeline_useful_s(sp_useful_microbatches(q), q->forward_s, q->backward_s);
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
    /* idle time is least for many micro-batches in multiples of p */
    at.microbatches = 1024 * q->stages;
    const double idle = sp_bubble_s(&at) / (q->forward_s + q->backward_s);
    const double exact = idle > 0 ? efficiency * idle / (1 - efficiency) : 0;
    if (!(exact < 1e15))
        return INFINITY;
    /* absorb rounding: 0.9 * 3 / (1 - 0.9) is 27.000000000000007 */
    at.microbatches = (int64_t)fmax(1, ceil(exact - 1e-9 * fmax(exact, 1)));
    for (int64_t more = 0; more < 4 * q->stages; more++, at.microbatches++) {
        const double useful = sp_useful_s(&at);
        if (useful >= (efficiency - 1e-9) * (useful + sp_bubble_s(&at)))
            break; /* a partial round, or few micro-batches in a short schedule, may leave more idle
                      time */
    }
    return (double)at.microbatches;
}

double sp_busy_s(const struct sp_played *played, int64_t stages)
{
    double busy = 0;
    for (int64_t s = 0; s < stages; s++)
        busy += played->busy_s[s];
    return busy;
}

struct sp_passes sp_passes_at(const struct sp_pipeline *q, const struct sp_stage_scale *scale,
                              int64_t stage)
{
    static const struct sp_stage_scale even = {1, 1, 1};
    const struct sp_stage_scale *const at = scale ? &scale[stage] : &even;
    return (struct sp_passes){at->forward * q->forward_s, at->backward * q->backward_s,
                              at->weight_grad * q->weight_grad_s};
}
