/* Critical batches and degrees. */
#include <math.h>

#include <scaleplan/critical.h>

double sp_min_d_ff_for_tp(double Y, double C, double W)
{
    return Y * C / W;
}

double sp_practical_tp(double F, double W, double C, double domain)
{
    return exp2(floor(log2(fmin(F * W / C, domain))));
}

double sp_min_d_ff_for_ep(double Z, double k, double domain, double C, double W)
{
    if (Z <= domain)
        return 0;
    return C / W * (Z - domain) / k * fmin(domain * k / Z, 1);
}

double sp_model_parallel_nodes(double tp, double pp, double domain)
{
    return pp * fmax(tp / domain, 1);
}

struct sp_split sp_best_pow2_split(double B, int64_t N, double F, double C, double W_X, double W_Y,
                                   double r, enum sp_overlap overlap)
{
    struct sp_split best = {.comms_over_math = INFINITY};
    for (int64_t Y = 1; Y <= N && N % Y == 0; Y *= 2) {
        const int64_t X = N / Y;
        struct sp_split split = {.fsdp = (double)X, .tp = (double)Y};
        split.fsdp_load = r * C * split.fsdp / (W_X * B);
        split.tp_load = Y > 1 ? C * split.tp / (W_Y * F) : 0;
        split.comms_over_math = overlap == SP_OVERLAP_NONE ? split.fsdp_load + split.tp_load
                                                           : fmax(split.fsdp_load, split.tp_load);
        if (split.comms_over_math < best.comms_over_math)
            best = split;
    }
    return best;
}

double sp_nearest_pow2(double x)
{
    return exp2(round(log2(x)));
}

struct sp_layer_bytes sp_layer_bytes(double B, double D, double F, double X, double Y)
{
    return (struct sp_layer_bytes){8 * D * F, 12 * D * F, 8 * B * D, 12 * (B * D / X + D * F / Y)};
}

double sp_stationary_min_chips(double D, double F)
{
    return 32 * (F / D) * 0.75 * 0.75;
}

double sp_stationary_x(double N, double D, double F)
{
    return sqrt(N * D / (2 * F));
}

double sp_chip_math_s(double P_active, double b, double C)
{
    return 6 * P_active * b / C;
}

double sp_chip_fsdp_comms_s(double P_active, double critical, double C)
{
    return sp_chip_math_s(P_active, critical, C);
}

double sp_chip_mixed_comms_s(double P_active, double b, double critical, double C)
{
    return sp_chip_math_s(P_active, sqrt(b * critical), C);
}

double sp_chip_tp_comms_s(double P_active, double b, double C, double Y, double largest_Y)
{
    return sp_chip_math_s(P_active, b, C) * Y / largest_Y;
}
