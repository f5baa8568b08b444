/* A measured step against its estimate. */
#ifndef SP_GAP_H
#define SP_GAP_H

#include <scaleplan/estimate.h>

struct sp_gap {
    double gap_s;          /* measured less estimated */
    double mfu, tuned_mfu; /* of the measured step */
    bool in_range;         /* whether the profile's 80 % range holds it */
    int constant;  /* of the profile: the one whose other value explains the gap with the least
                      strain; SP_CONSTANTS: none does within its bounds */
    double value;  /* that value */
    double strain; /* |ln(value / profile's)| over the spread expected between stacks */
};

/* Compares a step of step_s seconds with the estimate of the same plan. */
struct sp_gap sp_gap_of(const struct sp_step_inputs *in, const struct sp_estimate *estimate,
                        double step_s);

#endif
