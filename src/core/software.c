/* Profiles: the list of their constants, what is expected of them, and what siblings lend. */
#include <math.h>
#include <string.h>

#include <scaleplan/software.h>

#define SP_CONSTANT(id, key, unit, of, gpu, tpu, spread, low, high, meaning)                       \
    {key, unit, of, gpu, tpu, spread, low, high, meaning},
const struct sp_constant_info sp_constants[SP_CONSTANTS] = {
#include <scaleplan/profile_constants.def>
};
#undef SP_CONSTANT

double sp_range_log(const struct sp_profile *profile)
{
    return 1.2816 * profile->residual;
}

static double clamp(double value, double low, double high)
{
    return fmin(high, fmax(low, value));
}

/* Share of the peak that the power limit leaves to large matmuls. */
static double matmul_share(const struct sp_chip *chip)
{
    const double tera_flops_per_joule = chip->peak_flops_per_s[SP_BF16] / chip->tdp_w / 1e12;
    return clamp(0.82 - 0.17 * (tera_flops_per_joule - 0.78), 0.5, 0.85);
}

void sp_expect_constants(const struct sp_hardware *hw, const struct sp_framework *framework,
                         struct sp_profile *profile)
{
    const bool gpu = hw->network.kind == SP_SWITCHED;
    double *const e = profile->expected;
    profile->kind = hw->network.kind;
    for (int i = 0; i < SP_CONSTANTS; i++)
        e[i] = gpu ? sp_constants[i].gpu : sp_constants[i].tpu;
    if (gpu && hw->chip.tdp_w > 0 && !isnan(hw->chip.peak_flops_per_s[SP_BF16])) {
        const double share = matmul_share(&hw->chip);
        e[SP_C_MATMUL_16] = share;
        e[SP_C_MATMUL_8] = clamp(share - 0.08, 0.45, 0.8);
    }
    if (framework->attention > 0)
        e[SP_C_ATTENTION] = framework->attention;
    if (framework->attention > 0 && framework->ampere_attention) {
        const double ampere = 312e12; /* FLOP/s of an A100 */
        const enum sp_dtype dtype = sp_compute_dtype(&hw->chip, SP_BF16);
        if (dtype != SP_DTYPES)
            e[SP_C_ATTENTION] *= fmin(1, sqrt(ampere / hw->chip.peak_flops_per_s[dtype]));
    }
    for (int i = 0; i < SP_CONSTANTS; i++) {
        e[i] = clamp(e[i], sp_constants[i].low, sp_constants[i].high);
        profile->value[i] = e[i];
        profile->determined[i] = 0;
    }
}

/* Weight of a sibling's word on one constant. */
static double lends(const struct sp_profile *from, const struct sp_profile *to, int constant)
{
    const bool chip = strcmp(from->chip_family, to->chip_family) == 0;
    const bool software = strcmp(from->software_family, to->software_family) == 0;
    const bool of_chip = sp_constants[constant].of == SP_OF_CHIP;
    double weight =
        0.3 + (of_chip ? 6 : 1) * (chip ? 1 : 0) + (of_chip ? 1 : 6) * (software ? 1 : 0);
    if (constant == SP_C_LAUNCH && !software)
        weight *= 0.05; /* how a framework launches says nothing about another */
    return weight * (from->determined[constant] + 0.02);
}

void sp_borrow_constants(const struct sp_profile *known, size_t n, struct sp_profile *profile)
{
    for (int i = 0; i < SP_CONSTANTS; i++) {
        double sum = 0, weights = 0.5; /* the expectation itself */
        for (size_t k = 0; k < n; k++) {
            if (known[k].kind != profile->kind || strcmp(known[k].name, profile->name) == 0 ||
                !(known[k].expected[i] > 0))
                continue;
            const double weight = lends(&known[k], profile, i);
            sum += weight * log(known[k].value[i] / known[k].expected[i]);
            weights += weight;
        }
        profile->value[i] = clamp(profile->expected[i] * exp(sum / weights), sp_constants[i].low,
                                  sp_constants[i].high);
        profile->determined[i] = 0;
    }
}

int sp_usual_zero(const struct sp_framework *framework)
{
    if (framework->usual_zero >= 0)
        return (int)framework->usual_zero;
    return framework->gathered_layers > 0 ? 3 : 1;
}

double sp_dispatch_bytes(const struct sp_plan *plan, const struct sp_framework *framework)
{
    return framework->fp8_dispatch && sp_dtypes[plan->dtype].bytes < 2 ? 1 : sp_combine_bytes();
}

double sp_combine_bytes(void)
{
    return sp_dtypes[SP_BF16].bytes;
}

void sp_use_memory_factor(double memory_factor, struct sp_framework *framework)
{
    framework->reserved_factor = fmax(1, framework->reserved_factor * memory_factor);
}
