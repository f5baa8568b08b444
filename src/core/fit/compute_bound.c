/* Batches and degrees above which a strategy is bound by compute, not by communication. */
#include <math.h>

#include <scaleplan/fit.h>

int64_t sp_usable_tp_degree(const struct sp_fit_terms *t, int64_t domain)
{
    const double whole = floor(sp_max_tp_degree(t->C, t->W, t->F));
    const double inside = isnan(t->W_domain) ? 0 : floor(sp_max_tp_degree(t->C, t->W_domain, t->F));
    return (int64_t)fmin(fmax(whole, fmin(inside, (double)domain)), 1e15);
}

double sp_turns(enum sp_overlap overlap)
{
    return overlap == SP_OVERLAP_NONE ? 4 : 1;
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
