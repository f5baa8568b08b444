/* Operators of a layer on the roofline of a chip. */
#include <math.h>

#include "core/step_internal.h"

static double constant(const struct sp_step_inputs *in, enum sp_constant id)
{
    return in->profile->value[id];
}

/* Rate of large matmuls in a format, C e. FLOP/s. */
static double matmul_rate(const struct sp_step_inputs *in, enum sp_dtype wanted)
{
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, wanted);
    const bool narrow = sp_dtypes[dtype].bytes < 2;
    return in->hw->chip.peak_flops_per_s[dtype] *
           constant(in, narrow ? SP_C_MATMUL_8 : SP_C_MATMUL_16);
}

/* Sides are worked on in tiles of 128 elements: a side of n takes n / 128 + 1/2 of them on average,
 * so that small matmuls waste more, without the steps of a single kernel's tiling. */
enum { HALF_TILE = 64 };

/* A device's part of a matmul: `count` products [rows, in] x [in, out]. */
struct products {
    double count, rows, in, out;
};

static struct products products_of(const struct sp_matmul *m, const struct sp_rank *r)
{
    const bool routed = m->part == SP_PART_EXPERTS;
    const double ranks = routed ? r->etp : r->tp;
    struct products mine = {m->count, r->tokens[SP_BY_NOTHING], m->in, m->out};
    if (m->split == SP_TP_COLUMNS)
        mine.out = sp_columns_on_rank(m, ranks);
    else if (m->split == SP_TP_ROWS)
        mine.in = m->in / ranks;
    else if (m->split == SP_TP_TOKENS)
        mine.rows = r->tokens[SP_BY_SEQUENCE];
    if (routed) {
        /* each expert sees the tokens of all ranks it serves; over tp they are already divided */
        mine.count = m->count / r->ep;
        mine.rows = r->tokens[SP_BY_WIDTH] * m->passed * r->computed * r->etp / mine.count;
    }
    return mine;
}

/* Arithmetic or memory. s. */
static double products_s(const struct products *m, double flops_per_s, double bytes_per_s)
{
    const double flops = 2 * (m->rows + HALF_TILE) * (m->in + HALF_TILE) * (m->out + HALF_TILE);
    const double bytes = SP_ELEMENT * (m->rows * m->in + m->in * m->out + m->rows * m->out);
    return m->count * sp_smooth_max(flops / flops_per_s, bytes / bytes_per_s);
}

/* Causal scores and their weighted sum, flash: the masked half is skipped. */
static double core_s(const struct sp_step_inputs *in, const struct sp_rank *rank,
                     const struct sp_mixer *mixer)
{
    const double each = sp_mixer_flops(mixer, (double)in->plan->seq, 0.5);
    const double flops = rank->tokens[SP_BY_WIDTH] * each;
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, SP_BF16);
    return flops / (in->hw->chip.peak_flops_per_s[dtype] * constant(in, SP_C_ATTENTION));
}

/* Adds memory-bound work: bytes over the bandwidth. */
static void add_moves(const struct sp_step_inputs *in, const struct sp_rank *rank,
                      const struct sp_layer *layer, struct sp_layer_time *time)
{
    const bool casts = sp_dtypes[in->plan->dtype].bytes != 2;
    const double element_s = constant(in, SP_C_MEMORY) * SP_ELEMENT / in->hw->chip.hbm_bytes_per_s;
    for (int i = 0; i < layer->n_moved; i++) {
        const struct sp_moved *const m = &layer->moved[i];
        if (!m->casts || casts)
            time->of[m->op] += element_s * (m->routed ? rank->computed : 1) * m->width *
                               rank->tokens[m->sharded_by];
    }
}

struct sp_layer_time sp_time_of_layer(const struct sp_step_inputs *in, const struct sp_rank *rank,
                                      const struct sp_layer *layer)
{
    const double plain = matmul_rate(in, SP_BF16), rate = matmul_rate(in, in->plan->dtype);
    struct sp_layer_time time = {{[SP_OP_CORE] = core_s(in, rank, &layer->mixer)}};
    add_moves(in, rank, layer, &time);
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        const struct products mine = products_of(m, rank);
        time.of[m->op] += products_s(&mine, m->plain ? plain : rate, in->hw->chip.hbm_bytes_per_s);
    }
    return time;
}
