/* One operation on the roofline of a chip. */
#include <math.h>

#include <scaleplan/flops.h>

struct sp_work sp_matmul_work(double B, double D, double F, struct sp_operands b, bool batched)
{
    const double weights = b.w_bytes * D * F * (batched ? B : 1);
    return (struct sp_work){2 * B * D * F, b.a_bytes * B * D + weights + b.out_bytes * B * F};
}

struct sp_work sp_matmul_weights_work(double B, double D, double F, double w_bytes, bool batched)
{
    return sp_matmul_work(B, D, F, (struct sp_operands){.w_bytes = w_bytes}, batched);
}

double sp_critical_rows(double D, double F, struct sp_operands b, double C, double W)
{
    const double gain = 2 * D * F / C - (b.a_bytes * D + b.out_bytes * F) / W;
    return gain > 0 ? b.w_bytes * D * F / W / gain : INFINITY;
}

double sp_critical_rows_small(double w_bytes, double C, double W, double expert_ratio)
{
    return C / W * w_bytes / 2 * expert_ratio;
}

struct sp_work sp_dot_work(double n, double element_bytes)
{
    return (struct sp_work){2 * n - 1, element_bytes * (2 * n + 1)};
}

struct sp_work sp_add_work(double n, double element_bytes)
{
    return (struct sp_work){n, 3 * n * element_bytes};
}

double sp_attention_intensity(double T, double S, double G)
{
    return S * T * G / (T * G + S);
}

double sp_attention_ridge_tokens(double ridge, double G)
{
    return ridge * (G + 1) / G;
}

double sp_min_contracting_dim(double C, double W)
{
    return 2 * C / W;
}

double sp_padded(double size, double side)
{
    return ceil(size / side) * side;
}

double sp_attainable_flops_per_s(double intensity, double C, double W)
{
    return fmin(C, W * intensity);
}

struct sp_three_way sp_three_way(double B, double D, double F, struct sp_operands b, double C,
                                 double W_hbm, double W_ici)
{
    const struct sp_work weights = sp_matmul_weights_work(B, D, F, b.w_bytes, false);
    return (struct sp_three_way){b.a_bytes * B * D / W_ici, weights.bytes / W_hbm,
                                 weights.flops / C};
}
