/* Operators of a layer on the roofline of a chip. */
#include <math.h>

#include <scaleplan/flops.h>

#include "core/step_internal.h"

enum { ELEMENT = 2 };

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

/* `experts` matmuls [m,k] x [k,n] of the layers (else of the ends): arithmetic or memory. s. */
static double matmuls_s(const struct sp_step_inputs *in, double experts, double m, double k,
                        double n, bool layer)
{
    const double flops = 2 * (m + HALF_TILE) * (k + HALF_TILE) * (n + HALF_TILE);
    const double bytes = ELEMENT * (m * k + k * n + m * n);
    return experts *
           sp_smooth_max(flops / matmul_rate(in, layer), bytes / in->hw->chip.hbm_bytes_per_s);
}

static double matmul_s(const struct sp_step_inputs *in, double m, double k, double n, bool layer)
{
    return matmuls_s(in, 1, m, k, n, layer);
}

static double shard_tokens(const struct sp_plan *plan)
{
    return (double)plan->micro_batch * (double)plan->seq / (double)plan->cp;
}

/* Causal scores and their weighted sum, flash: the masked half is skipped. */
static double core_s(const struct sp_step_inputs *in)
{
    const struct sp_model *m = in->model;
    const struct sp_mla *mla = &m->mla;
    const double T = shard_tokens(in->plan), t = (double)in->plan->tp;
    const double attended = sp_attended_tokens(m, (double)in->plan->seq);
    const bool latent = mla->kv_lora_rank > 0;
    const double width =
        latent ? (double)(mla->qk_nope_head_dim + mla->qk_rope_head_dim + mla->v_head_dim) / 2
               : (double)m->head_dim;
    const double flops = 2 * T * attended * width * (double)m->heads / t;
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, SP_BF16);
    return flops / (in->hw->chip.peak_flops_per_s[dtype] * constant(in, SP_C_ATTENTION));
}

/* Bytes of the memory-bound work over the bandwidth. */
static double memory_s(const struct sp_step_inputs *in, double elements)
{
    return constant(in, SP_C_MEMORY) * ELEMENT * elements / in->hw->chip.hbm_bytes_per_s;
}

static void time_attention(const struct sp_step_inputs *in, struct sp_layer_time *layer)
{
    const struct sp_model *m = in->model;
    const struct sp_mla *mla = &m->mla;
    const double T = shard_tokens(in->plan), t = (double)in->plan->tp;
    const double h = (double)m->d_model, a = (double)m->heads;
    if (mla->kv_lora_rank > 0) {
        const double q_l = (double)mla->q_lora_rank, k_l = (double)mla->kv_lora_rank;
        const double d_r = (double)mla->qk_rope_head_dim;
        const double d_qk = (double)mla->qk_nope_head_dim + d_r;
        layer->qkv =
            (q_l > 0 ? matmul_s(in, T, h, q_l, true) + matmul_s(in, T, q_l, a * d_qk / t, true)
                     : matmul_s(in, T, h, a * d_qk / t, true)) +
            matmul_s(in, T, h, k_l + d_r, true) +
            matmul_s(in, T, k_l, a * (double)(mla->qk_nope_head_dim + mla->v_head_dim) / t, true);
        layer->out = matmul_s(in, T, a * (double)mla->v_head_dim / t, h, true);
    } else {
        const double d = (double)m->head_dim;
        layer->qkv =
            matmul_s(in, T, h, d * (a / t + 2 * sp_kv_heads_of_rank(m, in->plan->tp)), true);
        layer->out = matmul_s(in, T, a * d / t, h, true);
    }
    layer->core = core_s(in);
}

/* Elements moved for each token and expert it goes to: into the order of the experts and back, on
 * both sides of the exchange, four copies that read and write. */
enum { MOVES = 8 };

struct sp_layer_time sp_time_of_layer(const struct sp_step_inputs *in, bool moe)
{
    const struct sp_model *m = in->model;
    const struct sp_plan *p = in->plan;
    const double T = shard_tokens(p), t = (double)p->tp, h = (double)m->d_model;
    const double gates = m->gated_mlp ? 2 : 1;
    const double wide = T / (p->sequence_parallel ? t : 1);
    struct sp_layer_time layer = {0};
    time_attention(in, &layer);
    /* two norms, two residual additions, casts: reads and writes of the width; gates and product */
    double elements = 11 * h * wide;
    if (!moe) {
        const double f = (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff);
        layer.up = matmul_s(in, T, h, gates * f / t, true);
        layer.down = matmul_s(in, T, f / t, h, true);
        elements += (gates + 1) * f * T / t;
    } else {
        const double E = (double)m->moe.experts;
        const double k = (double)m->moe.top_k * p->imbalance * in->framework->capacity_factor;
        const double f_e = (double)m->moe.d_ff_expert, etp = (double)p->etp;
        const double shared = (double)m->moe.shared_experts * f_e;
        const double local = E / (double)p->ep;
        /* each expert sees the tokens of all ranks it serves; over tp they are already divided */
        const double rows = T * k / t * etp / local;
        layer.up = matmuls_s(in, local, rows, h, gates * f_e / etp, true) +
                   matmul_s(in, wide, h, E, false);
        layer.down = matmuls_s(in, local, rows, f_e / etp, h, true);
        if (shared > 0) {
            layer.up += matmul_s(in, T, h, gates * shared / t, true);
            layer.down += matmul_s(in, T, shared / t, h, true);
        }
        elements += (gates + 1) * (k * f_e + shared) * T / t + MOVES * k * h * T / t;
    }
    if (sp_dtypes[p->dtype].bytes != 2) /* casts: read, write, write transposed */
        elements += 2 * (2 * h + (double)(m->heads * m->head_dim)) * T / t;
    layer.norms = memory_s(in, elements);
    return layer;
}

struct sp_ends_time sp_time_of_ends(const struct sp_step_inputs *in)
{
    const struct sp_plan *p = in->plan;
    const double T = shard_tokens(p), t = (double)p->tp, h = (double)in->model->d_model;
    const double V = (double)in->model->vocab;
    return (struct sp_ends_time){
        .embedding = memory_s(in, 2 * T * h),
        .head = matmul_s(in, T, h, V / t, false),
        .loss = memory_s(in, 3 * T * V / t),
    };
}
