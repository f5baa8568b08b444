/* Fits one profile to the runs of one stack, and judges the fit. */
#ifndef SP_CALIBRATION_H
#define SP_CALIBRATION_H

#include "runs/profile_fit.h"
#include "runs/runs.h"

/* A run with its errors, as ln(predicted / measured). */
struct sp_calibrated {
    const struct sp_run *run;
    struct sp_sample sample;
    int group;
    double before, after, left_out; /* NAN: no step time measured */
    double memory_before, memory_after;
};

struct sp_calibration {
    struct sp_calibrated *runs;
    size_t n;
    struct sp_profile prior, fitted;
    int groups; /* configurations with a step time */
    int parts;  /* of the cross-validation; 0: none was possible */
    size_t memory_runs;
};

/* Fits `prior` to `runs` (`run`, `sample` and `group` from 0 set; step time or memory measured).
 * Cross-validates by configuration: leaves one out if there are at most five, else one of five
 * parts. Fills in the rest. */
void sp_calibrate(struct sp_calibration *calibration);

/* Width that holds 80 % of the left-out errors, over 1.2816, shrunk towards `pooled` as if by ten
 * more runs; sorts `errors`. */
double sp_residual(double *errors, size_t n, double pooled);

#endif
