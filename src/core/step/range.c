/* Ranges of the estimate. */
#include <math.h>

#include <scaleplan/estimate.h>

const char *const sp_tier_names[SP_TIERS] = {"dense 16-bit", "dense 8-bit", "experts",
                                             "block formats"};

enum sp_tier sp_tier_of(const struct sp_model *model, const struct sp_chip *chip,
                        const struct sp_plan *plan)
{
    const enum sp_dtype dtype = sp_compute_dtype(chip, plan->dtype);
    if (model->moe.experts > 0)
        return SP_TIER_EXPERTS;
    if (sp_dtypes[dtype].bytes >= 2)
        return SP_TIER_DENSE_16;
    const enum sp_fp8_recipe recipe = plan->execution.fp8_recipe;
    const bool blocks = recipe == SP_FP8_MXFP8 || recipe == SP_FP8_BLOCKWISE;
    return sp_dtypes[dtype].bytes < 1 || (dtype == SP_FP8 && blocks) ? SP_TIER_BLOCKS
                                                                     : SP_TIER_DENSE_8;
}

double sp_lead_log(enum sp_tier tier)
{
#define SP_LEAD(id, width) [SP_TIER_##id] = (width),
    static const double widths[SP_TIERS] = {
#include <scaleplan/lead_widths.def>
    };
#undef SP_LEAD
    return widths[tier];
}

/* Two plans are tied if pairs of measured runs left out of the fit are in the wrong order more than
 * one time in five. The range of a step is wider, because plans of one stack share most errors.
 * Between machines no error is assumed shared. */
bool sp_is_tie(double one, double other, double lead_log)
{
    return fabs(log(one / other)) < lead_log;
}

double sp_machines_lead_log(double range_a, double range_b)
{
    return SP_LEAD_DEVIATIONS / SP_RANGE_DEVIATIONS * hypot(range_a, range_b);
}

/* Measured on runs left out of the fits, by tier and knowledge of the stack; a test fails if the
 * ranges hold too many or too few. */
double sp_range_log(const struct sp_profile *profile, enum sp_tier tier)
{
#define SP_RANGE(id, stack, software, chip, neither)                                               \
    [SP_TIER_##id] = {[SP_KNOWN_STACK] = (stack),                                                  \
                      [SP_KNOWN_SOFTWARE] = (software),                                            \
                      [SP_KNOWN_CHIP] = (chip),                                                    \
                      [SP_KNOWN_NEITHER] = (neither)},
    static const double widths[SP_TIERS][SP_KNOWN] = {
#include <scaleplan/range_widths.def>
    };
#undef SP_RANGE
    return profile->residual > 0 ? SP_RANGE_DEVIATIONS * profile->residual
                                 : widths[tier][profile->known];
}

double sp_range_of(const struct sp_step_inputs *in)
{
    const double known = sp_range_log(in->profile, sp_tier_of(in->model, &in->hw->chip, in->plan));
    return in->profile->residual > 0 ? known : hypot(known, SP_RANGE_DEVIATIONS * sp_open_log(in));
}
