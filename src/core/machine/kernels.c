/* Curves of measured kernels and collectives. */
#include <math.h>

#include <scaleplan/machine.h>

#include "core/smooth.h"

/* Format whose peak the share refers to, and bytes per weight with scales (NVFP4: one 8-bit scale
 * per 16 elements). */
static const struct {
    enum sp_dtype dtype;
    double weight_bytes;
} formats[SP_KERNEL_FORMATS] = {
    [SP_KERNEL_BF16] = {SP_BF16, 2},
    [SP_KERNEL_FP8] = {SP_FP8, 1},
    [SP_KERNEL_FP8_BLOCK] = {SP_FP8, 1},
    [SP_KERNEL_NVFP4] = {SP_FP4, 0.5 + 1.0 / 16},
};

enum { OUTPUT_BYTES = 2 };

void sp_clear_collectives(struct sp_kernels *kernels)
{
    for (int i = 0; i < SP_COLLECTIVES; i++)
        kernels->collective[i] = (struct sp_collective_curve){.share = NAN};
}

void sp_clear_kernels(struct sp_kernels *kernels)
{
    *kernels = (struct sp_kernels){.name = ""};
    for (int i = 0; i < SP_KERNEL_FORMATS; i++)
        kernels->matmul[i].share = NAN;
    for (int i = 0; i < SP_KERNEL_ATTENTION_FORMATS; i++)
        kernels->attention[i].share = NAN;
    sp_clear_collectives(kernels);
}

/* sp_smooth_max treats NAN as 0, so unknown values are tested first. */
static bool is_known(double share, double peak)
{
    return share > 0 && peak > 0;
}

/* Five constants, as many as the measurements determine. Casts have their own (cast_bytes) because
 * engines time the quantisation of inputs too: without it, large fp8 matmuls on an H100 would get
 * 0.57 instead of 0.74. The half tile is fitted: 0 on H100 and H200 in bf16, 89 elements on an
 * A100. */
double sp_matmul_kernel_s(const struct sp_chip *chip, enum sp_kernel_format format, double m,
                          double n, double k)
{
    const struct sp_matmul_curve *const c = &chip->kernels.matmul[format];
    const double peak = chip->peak_flops_per_s[formats[format].dtype], h = c->half_tile;
    if (!is_known(c->share, peak))
        return NAN;
    const double flops = 2 * (m + h) * (n + h) * (k + h);
    const double bytes = formats[format].weight_bytes * (m * k + n * k) + OUTPUT_BYTES * m * n;
    const double works = flops / (c->share * peak);
    const double moves = bytes / (c->memory_share * chip->hbm_bytes_per_s);
    const double casts = c->cast_bytes * m * k / chip->hbm_bytes_per_s;
    return c->launch_s + sp_smooth_max(works, moves) + casts;
}

/* fill_queries is a tail independent of the number of heads: few heads do not fill the chip. */
double sp_attention_kernel_s(const struct sp_chip *chip, enum sp_kernel_format format, double heads,
                             double head_dim, double seq)
{
    const struct sp_attention_curve *const c = &chip->kernels.attention[format];
    const double peak = chip->peak_flops_per_s[formats[format].dtype];
    if (!is_known(c->share, peak))
        return NAN;
    const double scores = seq * (heads * (seq / 2 + c->edge_keys) + c->fill_queries);
    return c->launch_s + 4 * head_dim * scores / (c->share * peak);
}

/* A backward pass has 2.5 times the FLOPs and runs at .85 of the forward pass's rate (Shah et al.
 * 2024, FlashAttention 3, figures 5 and 6; Dao 2023 has the same ratio on an A100). A kernel of the
 * A100 reaches .608 of that chip's peak in the forward pass (configs/kernels/a100.json), and gains
 * the square root of a faster chip's peak up to the H100's: later chips run its instructions no
 * faster. */
double sp_trained_attention_share(const struct sp_chip *chip, bool of_ampere)
{
    const double ampere = 312e12, hopper = 989e12, forward = 0.608;
    const double both = (1 + 2.5) / (1 + 2.5 / 0.85);
    const double peak = chip->peak_flops_per_s[SP_BF16];
    if (!is_known(chip->kernels.attention[SP_KERNEL_BF16].share, peak))
        return NAN;
    if (!of_ampere || peak <= ampere)
        return both * chip->kernels.attention[SP_KERNEL_BF16].share;
    return both * forward * sqrt(ampere * sp_smaller(peak, hopper)) / peak;
}

/* Two protocols: low rate for short messages, a floor per rank for long ones. A rank's own part
 * costs time (own_share), so 2 ranks reach less of the link than 8. Measured on NCCL only, as
 * reduce-scatter and all-gather: engines' own all-reduces are for decoding. */
double sp_collective_kernel_s(const struct sp_kernels *kernels, const struct sp_network *network,
                              enum sp_collective op, double ranks, double bytes)
{
    const struct sp_collective_curve *const c = &kernels->collective[op];
    if (!is_known(c->share, network->domain_bytes_per_s))
        return NAN;
    const double times = op == SP_ALL_REDUCE ? 2 : 1;
    const double parts = times * (ranks - 1 + c->own_share) / ranks;
    const double sends = bytes * parts / network->domain_bytes_per_s;
    const double longs = sp_smooth_max(sends / c->share, ranks * c->floor_s);
    /* fmin ignores NAN: a collective with one protocol */
    return c->latency_s + (ranks - 1) * c->rank_latency_s + fmin(sends / c->low_share, longs);
}
