/* The optimizer's part of a step: states read and written, and the arithmetic of orthogonal
 * updates. */
#include <math.h>

#include <scaleplan/step.h>

#include "core/step/step_internal.h"

/* Bytes of states, gradients and weights that a host reads and writes per second to update one
 * device's share, with PyTorch's Adam on its cores: all of Qwen3-0.6B's optimizer on the host of an
 * H100 adds 0.926 s to a step of 0.752 s (NVIDIA-NeMo/RL PR 3628). */
static const double host_update_bytes_per_s = 19e9;

/* The host's part: gradients come down in 4 bytes, weights go up as they are stored. */
static double host_update_s(const struct sp_step_inputs *in, double params)
{
    const struct sp_precision *const q = in->precision;
    const double link = sp_host_bytes_per_s(&in->hw->chip);
    const double states = 2 * (q->master_bytes + q->optimizer_bytes) + 4;
    return params > 0 ? params * (states / host_update_bytes_per_s +
                                  (link > 0 ? (4 + q->weight_bytes) / link : 0))
                      : 0;
}

double sp_optimizer_s(const struct sp_step_inputs *in, const struct sp_stage_weights *trained)
{
    const struct sp_precision *q = in->precision;
    const double mine = sp_owned_params(in, trained), away = in->plan->optimizer_away;
    const double bytes =
        2 * (q->master_bytes + q->optimizer_bytes) + q->weight_bytes + q->grad_bytes;
    return constant(in, SP_C_MEMORY) * (1 - away) * mine * bytes / sp_stream_bytes_per_s(in) +
           host_update_s(in, away * mine);
}

/* The three products of an iteration on an n x m matrix X, m <= n: X X^T, its square, and that
 * times X. */
static double iteration_flops(double rows, double columns)
{
    const double n = sp_larger(rows, columns), m = sp_smaller(rows, columns);
    return 2 * (2 * n * m * m + m * m * m);
}

/* Projections fused side by side into one matmul are separate matrices. */
static void add_matmul(const struct sp_step_inputs *in, const struct sp_matmul *matmul,
                       struct sp_orthogonal *sum)
{
    const struct sp_plan *const p = in->plan;
    const bool expert = matmul->part == SP_PART_EXPERTS;
    const double T = in->precision->newton_schulz;
    const double ranks = (double)(expert ? p->ep * p->etp : p->tp);
    double pieces = 0;
    for (int i = 0; i < 3; i++)
        pieces += matmul->piece[i];
    for (int i = 0; i < 3; i++) {
        const double columns = pieces > 0 ? matmul->piece[i] : i == 0 ? matmul->out : 0;
        const double flops = columns > 0 ? T * iteration_flops(matmul->in, columns) : 0;
        *(expert ? &sum->experts : &sum->dense) += matmul->count * flops / ranks;
        sum->largest = sp_larger(sum->largest, flops / (double)(expert ? p->etp : p->tp));
    }
}

struct sp_orthogonal sp_orthogonal_flops(const struct sp_step_inputs *in,
                                         const struct sp_layer *layer)
{
    struct sp_orthogonal sum = {0};
    for (int i = 0; i < layer->matmuls && in->precision->newton_schulz > 0; i++)
        if (!layer->matmul[i].frozen)
            add_matmul(in, &layer->matmul[i], &sum);
    return sum;
}

void sp_add_orthogonal(struct sp_orthogonal *sum, const struct sp_orthogonal *layer, double layers)
{
    sum->dense += layers * layer->dense;
    sum->experts += layers * layer->experts;
    sum->largest = layers > 0 ? sp_larger(sum->largest, layer->largest) : sum->largest;
}

double sp_orthogonal_s(const struct sp_step_inputs *in, const struct sp_kind_time *stage)
{
    const struct sp_orthogonal *const o = &stage->orthogonal;
    const struct sp_stage_weights *const trained = &stage->weights.trained;
    const struct sp_stage_weights dense = {1, 0}, experts = {0, 1};
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, SP_BF16);
    if (o->dense + o->experts <= 0)
        return 0;
    const double flops = sp_larger(o->dense * sp_owned_params(in, &dense) +
                                       o->experts * sp_owned_params(in, &experts),
                                   o->largest);
    const double computed =
        flops / (in->hw->chip.peak_flops_per_s[dtype] * constant(in, SP_C_MATMUL_16));
    const double moved = in->plan->zero >= 3 ? 2 * sp_shards_s(in, trained, SP_ELEMENT) : 0;
    return computed + moved;
}
