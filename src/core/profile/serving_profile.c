/* Serving constants without runs; percentiles and ranges. */
#include <math.h>

#include <scaleplan/estimate.h>
#include <scaleplan/serve_estimate.h>

#define SP_CONSTANT(id, key, unit, of, gpu, tpu, spread, low, high, meaning)                       \
    {key, unit, of, gpu, tpu, spread, low, high, meaning},
const struct sp_constant_info sp_serving_constants[SP_SERVING_CONSTANTS] = {
#include <scaleplan/serving_constants.def>
};
#undef SP_CONSTANT

/* Speed of prompt attention in an engine relative to the isolated kernel: lengths vary, and cache
 * blocks are looked up. */
#define PROMPT_OF_KERNEL 0.75

void sp_expect_serving(const struct sp_hardware *hw, struct sp_profile *profile)
{
    const struct sp_kernels *const k = &hw->chip.kernels;
    double *const e = profile->expected;
    profile->kind = hw->network.kind;
    profile->serves = true;
    for (int i = 0; i < SP_SERVING_CONSTANTS; i++)
        e[i] = hw->network.kind == SP_SWITCHED ? sp_serving_constants[i].gpu
                                               : sp_serving_constants[i].tpu;
    if (k->attention[SP_KERNEL_BF16].share > 0)
        e[SP_V_PROMPT] = PROMPT_OF_KERNEL * k->attention[SP_KERNEL_BF16].share;
    for (int i = 0; i < SP_SERVING_CONSTANTS; i++) {
        profile->value[i] = e[i];
        profile->determined[i] = 0;
    }
}

double sp_latency_percentile(enum sp_serve_latency latency, double mean_s, double percentile)
{
    static const double spread[SP_SERVE_LATENCIES] = {
        [SP_LATENCY_TTFT] = 0.32, [SP_LATENCY_TPOT] = 0.070};
    const double deviations = percentile == 99   ? 2.3263
                              : percentile == 95 ? 1.6449
                              : percentile == 90 ? 1.2816
                                                 : 0;
    return mean_s * exp(deviations * spread[latency]);
}

enum { DENSE, EXPERTS, KINDS };

double sp_serving_range_log(const struct sp_profile *profile, const struct sp_model *model,
                            enum sp_serve_latency latency)
{
#define SP_WIDTH(of, kind, stack, software, chip, neither)                                         \
    [SP_LATENCY_##of][kind] = {[SP_KNOWN_STACK] = (stack),                                         \
                               [SP_KNOWN_SOFTWARE] = (software),                                   \
                               [SP_KNOWN_CHIP] = (chip),                                           \
                               [SP_KNOWN_NEITHER] = (neither)},
    static const double widths[SP_SERVE_LATENCIES][KINDS][SP_KNOWN] = {
#include <scaleplan/serving_widths.def>
    };
#undef SP_WIDTH
    if (profile->residual > 0 && latency == SP_LATENCY_TPOT)
        return SP_RANGE_DEVIATIONS * profile->residual;
    return widths[latency][model->moe.experts > 0 ? EXPERTS : DENSE][profile->known];
}
