/* Profiles: constants, expected values, borrowing. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <scaleplan/profile.h>
#include <scaleplan/serve_estimate.h>

#define SP_CONSTANT(id, key, unit, of, gpu, tpu, spread, low, high, meaning)                       \
    {key, unit, of, gpu, tpu, spread, low, high, meaning},
const struct sp_constant_info sp_constants[SP_CONSTANTS] = {
#include <scaleplan/profile_constants.def>

#include "core/require.h"
};
#undef SP_CONSTANT

static double clamp(double value, double low, double high)
{
    return fmin(high, fmax(low, value));
}

double sp_constant_in_bounds(int constant, double value)
{
    sp_require(constant >= 0 && constant < SP_CONSTANTS, "the constant must be below SP_CONSTANTS");
    return clamp(value, sp_constants[constant].low, sp_constants[constant].high);
}

_Static_assert((int)SP_CONSTANTS <= (int)SP_PROFILE_ROOM, "the constants of training fit");
_Static_assert((int)SP_SERVING_CONSTANTS <= (int)SP_PROFILE_ROOM, "so do those of serving");

struct sp_constant_list sp_constants_of(const struct sp_profile *p)
{
    if (p->serves)
        return (struct sp_constant_list){sp_serving_constants, SP_SERVING_CONSTANTS};
    return (struct sp_constant_list){sp_constants, SP_CONSTANTS};
}

/* Expected share of the 16-bit peak for large matmuls on unmeasured GPUs: the more FLOPs per
 * watt, the more the power limit costs. A line through NVIDIA's chips in configs/kernels, A100
 * to GB300. */
static double matmul_share(const struct sp_chip *chip)
{
    const double tera_flops_per_joule = chip->peak_flops_per_s[SP_BF16] / chip->tdp_w / 1e12;
    return clamp(0.927 - 0.091 * tera_flops_per_joule, 0.5, 0.86);
}

/* Expected constants from the chip's measured kernels and collectives. The fit moves them by 6 to
 * 12 % per chip family, because a kernel measured in isolation does not reach a training step's
 * power limit. */
static void expect_kernels(const struct sp_chip *chip, double *expected)
{
    const struct sp_kernels *const k = &chip->kernels;
    const struct sp_collective_curve *const gather = &k->collective[SP_ALL_GATHER];
    const double ranks = 8;
    if (k->matmul[SP_KERNEL_BF16].share > 0)
        expected[SP_C_MATMUL_16] = k->matmul[SP_KERNEL_BF16].share;
    if (k->matmul[SP_KERNEL_FP8].share > 0)
        expected[SP_C_MATMUL_8] = k->matmul[SP_KERNEL_FP8].share;
    if (gather->share > 0) /* a rank's own part takes time too, which a gather's bytes exclude */
        expected[SP_C_SCALE_UP] = gather->share * (ranks - 1) / (ranks - 1 + gather->own_share);
}

void sp_expect_constants(const struct sp_hardware *hw, const struct sp_framework *framework,
                         struct sp_profile *profile)
{
    const bool gpu = hw->network.kind == SP_SWITCHED;
    double *const e = profile->expected;
    profile->kind = hw->network.kind;
    profile->machine_factor = 1;
    for (int i = 0; i < SP_CONSTANTS; i++)
        e[i] = gpu ? sp_constants[i].gpu : sp_constants[i].tpu;
    if (gpu && hw->chip.tdp_w > 0 && !isnan(hw->chip.peak_flops_per_s[SP_BF16])) {
        const double share = matmul_share(&hw->chip);
        e[SP_C_MATMUL_16] = share;
        e[SP_C_MATMUL_8] = clamp(share - 0.035, 0.45, 0.8);
    }
    expect_kernels(&hw->chip, e);
    if (framework->memory_passes > 0)
        e[SP_C_MEMORY] = framework->memory_passes;
    if (framework->attention > 0)
        e[SP_C_ATTENTION] = framework->attention;
    if (framework->attention > 0 && framework->ampere_attention) {
        const double ampere = 312e12; /* FLOP/s of an A100 */
        const enum sp_dtype dtype = sp_compute_dtype(&hw->chip, SP_BF16);
        if (dtype != SP_DTYPES)
            e[SP_C_ATTENTION] *= fmin(1, sqrt(ampere / hw->chip.peak_flops_per_s[dtype]));
    }
    for (int i = 0; i < SP_CONSTANTS; i++) {
        e[i] = sp_constant_in_bounds(i, e[i]);
        profile->value[i] = e[i];
        profile->determined[i] = 0;
    }
}

/* Constants that lengthen a step as they grow; the others are rates. */
static const bool grows_step[SP_CONSTANTS] = {[SP_C_MEMORY] = true,
                                              [SP_C_LAUNCH] = true,
                                              [SP_C_CONTENTION] = true,
                                              [SP_C_STRAGGLER] = true,
                                              [SP_C_TP_EXPOSED] = true};

/* Shares of times that other constants give. */
static const bool is_share[SP_CONSTANTS] = {
    [SP_C_CONTENTION] = true, [SP_C_STRAGGLER] = true, [SP_C_TP_EXPOSED] = true};

void sp_use_machine_factor(double factor, struct sp_profile *profile)
{
    for (int i = 0; i < SP_CONSTANTS; i++)
        profile->value[i] *= is_share[i] ? 1 : grows_step[i] ? factor : 1 / factor;
    profile->used_factor = factor * (profile->used_factor > 0 ? profile->used_factor : 1);
    profile->machine_factor = 1;
}

/* A step is monotone in each constant (tested), so one evaluation gives the worst step of the
 * intervals, without sampling, and search bounds remain valid. */
void sp_worsen_constants(const struct sp_profile *profile, struct sp_profile *worst)
{
    *worst = *profile;
    for (int i = 0; i < SP_CONSTANTS; i++) {
        const double known = sp_constants[i].spread * sqrt(1 - profile->determined[i]);
        const double moves = SP_RANGE_DEVIATIONS * known * (grows_step[i] ? 1 : -1);
        worst->value[i] = sp_constant_in_bounds(i, profile->value[i] * exp(moves));
    }
}

const char *sp_family_of_constant(const struct sp_profile *p, int constant)
{
    const char *const family[] = {[SP_OF_CHIP] = p->chip_family,
                                  [SP_OF_SOFTWARE] = p->software_family,
                                  [SP_OF_KERNELS] = p->software_family,
                                  [SP_OF_HOST] = "host", /* all stacks have the same */
                                  [SP_OF_OVERLAP] = p->overlap_family[0] ? p->overlap_family
                                                                         : p->software_family};
    return family[sp_constants_of(p).of[constant].of];
}

static bool can_lend(const struct sp_profile *from, const struct sp_profile *to)
{
    return from->kind == to->kind && from->serves == to->serves &&
           strcmp(from->name, to->name) != 0;
}

/* Mean logarithm of a constant's ratio to its expected value over one family, weighted by
 * `determined`. */
static double family_ratio(const struct sp_profile *known, size_t n, const struct sp_profile *to,
                           int constant, const char *family, double *weight)
{
    double sum = 0;
    *weight = 0;
    for (size_t k = 0; k < n; k++)
        if (can_lend(&known[k], to) && known[k].expected[constant] > 0 &&
            strcmp(sp_family_of_constant(&known[k], constant), family) == 0) {
            const double w = known[k].determined[constant] + 1e-3;
            sum += w * log(known[k].value[constant] / known[k].expected[constant]);
            *weight += w;
        }
    return *weight > 0 ? sum / *weight : 0;
}

/* The share of a family's constant that runs determine, the same for all its stacks; 0 without
 * runs. */
static double family_determined(const struct sp_profile *known, size_t n,
                                const struct sp_profile *to, int constant)
{
    const char *const family = sp_family_of_constant(to, constant);
    double most = 0;
    for (size_t k = 0; k < n; k++)
        if (can_lend(&known[k], to) &&
            strcmp(sp_family_of_constant(&known[k], constant), family) == 0)
            most = fmax(most, known[k].determined[constant]);
    return most;
}

/* Mean over families, weighted by what runs determined; 0 without any. */
static double common_ratio(const struct sp_profile *known, size_t n, const struct sp_profile *to,
                           int constant)
{
    double sum = 0, weights = 0;
    for (size_t k = 0; k < n; k++) {
        const char *const family = sp_family_of_constant(&known[k], constant);
        bool first = can_lend(&known[k], to);
        for (size_t before = 0; before < k && first; before++)
            first = !can_lend(&known[before], to) ||
                    strcmp(sp_family_of_constant(&known[before], constant), family) != 0;
        if (!first)
            continue;
        double weight;
        const double ratio = family_ratio(known, n, to, constant, family, &weight);
        const double counts = known[k].determined[constant] + 1e-3;
        sum += counts * ratio;
        weights += counts;
    }
    return weights > 0 ? sum / weights : 0;
}

void sp_borrow_constants(const struct sp_profile *known, size_t n, struct sp_profile *profile)
{
    bool software = false, chip = false;
    for (size_t k = 0; k < n; k++)
        if (can_lend(&known[k], profile)) {
            if (strcmp(known[k].date, profile->date) > 0)
                memcpy(profile->date, known[k].date, sizeof profile->date);
            software |= strcmp(known[k].software_family, profile->software_family) == 0;
            chip |= strcmp(known[k].chip_family, profile->chip_family) == 0;
        }
    const struct sp_constant_list constants = sp_constants_of(profile);
    profile->known = software ? SP_KNOWN_SOFTWARE : chip ? SP_KNOWN_CHIP : SP_KNOWN_NEITHER;
    for (int i = 0; i < constants.n; i++) {
        double weight;
        double ratio =
            family_ratio(known, n, profile, i, sp_family_of_constant(profile, i), &weight);
        if (weight == 0)
            ratio = common_ratio(known, n, profile, i);
        profile->value[i] =
            clamp(profile->expected[i] * exp(ratio), constants.of[i].low, constants.of[i].high);
        profile->determined[i] = family_determined(known, n, profile, i);
    }
}
