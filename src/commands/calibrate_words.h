/* calibrate: what the runs say, in words, the largest gain first. */
#ifndef SP_CALIBRATE_WORDS_H
#define SP_CALIBRATE_WORDS_H

#include "answer/report.h"
#include "runs/calibration.h"

/* Puts how far the runs are from the profile, which constants explain most of that, and which
 * further run would tell most. */
void sp_put_gap_of_runs(struct sp_report *report, const struct sp_calibration *fit);
void sp_put_next_run(struct sp_report *report, const struct sp_calibration *fit);

#endif
