/* Operators of a layer on the roofline of a chip. */
#include <math.h>

#include "core/step_internal.h"

static double constant(const struct sp_step_inputs *in, enum sp_constant id)
{
    return in->profile->value[id];
}

double sp_smooth_max(double a, double b)
{
    const double most = fmax(a, b);
    if (most <= 0)
        return 0;
    const double x = fmin(a, b) / most;
    return most * sqrt(sqrt(1 + x * x * x * x));
}

/* Rate of large matmuls, C e. FLOP/s. */
static double matmul_rate(const struct sp_step_inputs *in, bool layer)
{
    const enum sp_dtype wanted = layer ? in->plan->dtype : SP_BF16;
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, wanted);
    const bool narrow = sp_dtypes[dtype].bytes < 2;
    return in->hw->chip.peak_flops_per_s[dtype] *
           constant(in, narrow ? SP_C_MATMUL_8 : SP_C_MATMUL_16);
}

/* Sides are worked on in tiles of 128 elements: a side of n takes n / 128 + 1/2 of them on average,
 * so that small matmuls waste more, without the steps of a single kernel's tiling. */
enum { HALF_TILE = 64 };

/* A device's part of matmuls: arithmetic or memory. s. */
static double matmul_s(const struct sp_step_inputs *in, const struct sp_matmul *matmul)
{
    const struct sp_rank_matmul m =
        sp_matmul_on_rank(matmul, in->plan, in->framework->capacity_factor);
    const double flops = 2 * (m.rows + HALF_TILE) * (m.in + HALF_TILE) * (m.out + HALF_TILE);
    const double bytes = SP_ELEMENT * (m.rows * m.in + m.in * m.out + m.rows * m.out);
    return m.count * sp_smooth_max(flops / matmul_rate(in, !matmul->plain),
                                   bytes / in->hw->chip.hbm_bytes_per_s);
}

/* Causal scores and their weighted sum, flash: the masked half is skipped. */
static double core_s(const struct sp_step_inputs *in, const struct sp_mixer *mixer)
{
    const double T = sp_shard_tokens(in->plan), t = (double)in->plan->tp;
    const double flops = T * sp_mixer_flops(mixer, (double)in->plan->seq, 0.5) / t;
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, SP_BF16);
    return flops / (in->hw->chip.peak_flops_per_s[dtype] * constant(in, SP_C_ATTENTION));
}

/* Memory-bound work: bytes over the bandwidth. */
static double moves_s(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    const struct sp_plan *p = in->plan;
    const struct sp_rank_tokens tokens = sp_tokens_on_rank(p, in->framework);
    const double routed = p->imbalance * in->framework->capacity_factor;
    const bool casts = sp_dtypes[p->dtype].bytes != 2;
    double elements = 0;
    for (int i = 0; i < layer->n_moved; i++) {
        const struct sp_moved *const m = &layer->moved[i];
        if (!m->casts || casts)
            elements += (m->routed ? routed : 1) * m->width * tokens.of[m->sharded_by];
    }
    return constant(in, SP_C_MEMORY) * SP_ELEMENT * elements / in->hw->chip.hbm_bytes_per_s;
}

struct sp_layer_time sp_time_of_layer(const struct sp_step_inputs *in, const struct sp_layer *layer)
{
    struct sp_layer_time time = {{[SP_OP_NORMS] = moves_s(in, layer)}};
    if (layer->mixer.heads > 0)
        time.of[SP_OP_CORE] = core_s(in, &layer->mixer);
    for (int i = 0; i < layer->matmuls; i++)
        time.of[layer->matmul[i].op] += matmul_s(in, &layer->matmul[i]);
    return time;
}
