/* How far a fit's runs are from its prior, which constants explain that, and which run would tell
 * most. */
#ifndef SP_CALIBRATION_GAP_H
#define SP_CALIBRATION_GAP_H

#include <scaleplan/search.h>

#include "runs/calibration.h"

/* Mean over the timed runs of ln(measured / predicted) under the prior; NAN: none is timed. */
double sp_calibration_gap(const struct sp_calibration *fit);

/* What the move of a constant from the prior to the fit changes of the steps: the mean over the
 * timed runs, of the logarithm. The largest comes first. */
struct sp_constant_effect {
    int constant;
    double effect;
};
void sp_constant_effects(const struct sp_calibration *fit,
                         struct sp_constant_effect effects[SP_CONSTANTS]);

/* A plan beside one that was run, and what its step would tell. */
struct sp_telling_run {
    const struct sp_run *run;
    struct sp_neighbour plan;
    int constant;  /* that it hangs on most */
    double spread; /* of the logarithm of its step by all that the runs leave open */
};

/* Of the plans that are one change away from a run's, the one that the runs leave open most; false
 * where they leave none open. */
bool sp_most_telling_run(const struct sp_calibration *fit, struct sp_telling_run *best);

#endif
