/* A measured step against its estimate. */
#ifndef SP_GAP_H
#define SP_GAP_H

#include <scaleplan/estimate.h>

struct sp_gap {
    double gap_s;  /* measured minus estimated */
    double mfu;    /* of the measured step */
    bool in_range; /* whether the profile's 80 % range contains it */
    int constant;  /* the constant that explains the gap with the least strain; SP_CONSTANTS: none
                      within bounds */
    double value;  /* its explaining value */
    double strain; /* |ln(value / profile's)| over the constant's expected spread */
};

/* Compares a measured step of step_s seconds with its estimate. */
struct sp_gap sp_gap_of(const struct sp_step_inputs *in, const struct sp_estimate *estimate,
                        double step_s);

#endif
