/* Distance of a fit's runs from its prior, the constants that explain it, and the most informative
 * next run. */
#ifndef SP_CALIBRATION_GAP_H
#define SP_CALIBRATION_GAP_H

#include <scaleplan/search.h>

#include "runs/calibration.h"

/* Mean ln(measured / predicted) of timed runs under the prior; NAN without any. */
double sp_calibration_gap(const struct sp_calibration *fit);

/* Mean change of ln(step) over timed runs as a constant moves from prior to fit; largest first. */
struct sp_constant_effect {
    int constant;
    double effect;
};
void sp_constant_effects(const struct sp_calibration *fit,
                         struct sp_constant_effect effects[SP_CONSTANTS]);

/* A plan near a run's, and how uncertain its step is. */
struct sp_telling_run {
    const struct sp_run *run;
    struct sp_neighbour plan;
    int constant;  /* the constant that contributes most */
    double spread; /* standard deviation of ln(step) */
};

/* The most uncertain plan one change away from a run's; false if none is uncertain. */
bool sp_most_telling_run(const struct sp_calibration *fit, struct sp_telling_run *best);

#endif
