/* How far a measured step may lie from the estimate: by the kind of run and by how much is known of
 * its stack. */
#ifndef SCALEPLAN_RANGE_H
#define SCALEPLAN_RANGE_H

#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Kinds of runs, whose errors differ. */
enum sp_tier {
    SP_TIER_DENSE_16, /* dense models, matmuls in 16 bits */
    SP_TIER_DENSE_8,  /* in 8 bits, a scale for each tensor or row */
    SP_TIER_EXPERTS,  /* mixtures of experts */
    SP_TIER_BLOCKS,   /* dense models in formats that scale blocks: mxfp8, nvfp4 */
    SP_TIERS
};
extern const char *const sp_tier_names[SP_TIERS];

/* The tier of a model and a plan on a chip: a format that the chip lacks is the one it falls back
 * to. */
enum sp_tier sp_tier_of(const struct sp_model *model, const struct sp_chip *chip,
                        const struct sp_plan *plan);

/* Half of the range, of the logarithm of the step time, that holds 80 % of measured runs: of the
 * runs that the profile was fitted to where it says so (`residual`), else of published runs that no
 * fit had seen and of whose stack as much was known (range_widths.def). */
double sp_range_log(const struct sp_profile *profile, enum sp_tier tier);

/* A value that is this many standard deviations above 0 is above it in 80 % of a normal
 * distribution.
 */
#define SP_LEAD_DEVIATIONS 0.8416

/* The lead of one plan over another of the same model and machine, of the logarithm of their step
 * times, from which on the order is right 80 % of the time; a smaller one is a tie. Their errors
 * have most in common, so it is much less than sp_range_log: what pairs of published runs of one
 * series that no fit had seen differ by (lead_widths.def). */
double sp_lead_log(enum sp_tier tier);

/* Whether two positive values (steps, costs) lead one another by less than such a width. */
bool sp_is_tie(double one, double other, double lead_log);

/* The same of a machine's best plan over another machine's, whose 80 % ranges reach range_a and
 * range_b, as if their errors had nothing in common. */
double sp_machines_lead_log(double range_a, double range_b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
