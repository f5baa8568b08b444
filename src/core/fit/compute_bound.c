/* Batches and degrees above which a strategy is bound by compute, not by communication. */
#include <math.h>

#include <scaleplan/fit.h>

double sp_critical_tokens_per_chip(double C, double W, double r)
{
    return r * C / W;
}

double sp_max_tp_degree(double C, double W, double F)
{
    return F * W / C;
}

int64_t sp_usable_tp_degree(const struct sp_fit_terms *t, int64_t domain)
{
    const double whole = floor(sp_max_tp_degree(t->C, t->W, t->F));
    const double inside = isnan(t->W_domain) ? 0 : floor(sp_max_tp_degree(t->C, t->W_domain, t->F));
    return (int64_t)fmax(whole, fmin(inside, (double)domain));
}

double sp_critical_tokens_per_chip_mixed(double C, double W_X, double W_Y, double F, double r,
                                         enum sp_overlap overlap)
{
    const double together = r * C * C / (W_X * W_Y * F);
    return overlap == SP_OVERLAP_NONE ? 4 * together : together;
}

double sp_optimal_fsdp_degree(double B, double N, double W_X, double W_Y, double F, double r)
{
    return sqrt(B * N * W_X / (r * F * W_Y));
}

double sp_critical_dcn(const struct sp_fit_terms *t)
{
    return t->S > 1 ? sp_critical_tokens_per_chip(t->C, t->M * t->W_dcn, t->r) : 0;
}

double sp_critical_across_slices(double ici, double dcn, enum sp_overlap overlap)
{
    if (overlap == SP_OVERLAP_AXES || dcn <= 0)
        return fmax(ici, dcn);
    const double edge = sqrt(ici / 4) + sqrt(ici / 4 + dcn);
    return edge * edge;
}

double sp_peak_of_wire(double C, double wire_bytes)
{
    return C * wire_bytes / 2;
}

double sp_min_d_ff_for_tp(double Y, double C, double W)
{
    return Y * C / W;
}

double sp_practical_tp(double F, double W, double C, double domain)
{
    return exp2(floor(log2(fmin(F * W / C, domain))));
}

double sp_min_d_ff_for_ep(double Z, double k, double domain, double C, double W_gpu, double W_node)
{
    const double inside = C / W_gpu * (fmin(Z, domain) - 1) / k * fmin(k / Z, 1);
    const double across = C / W_node * fmax(Z - domain, 0) / k * fmin(domain * k / Z, 1);
    return fmax(inside, across);
}

double sp_min_d_ff_for_ep_torus(double k, double C, const struct sp_torus_group *group)
{
    const double Z = sp_torus_chips(group);
    return C * Z * sp_torus_bandwidth_s(SP_ALL_TO_ALL, 1, group) * fmin(Z / k, 1);
}

double sp_min_d_ff_for_ep_limit(double domain, double C, double W)
{
    return C / W * domain;
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
