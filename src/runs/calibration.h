/* One profile fitted to the runs of one stack, with what the fit is worth. */
#ifndef SP_CALIBRATION_H
#define SP_CALIBRATION_H

#include "runs/least_squares.h"
#include "runs/runs.h"

/* A run with its errors, as ln(predicted / measured). */
struct sp_calibrated {
    const struct sp_run *run;
    struct sp_sample sample;
    int group;
    double before, after, left_out; /* NAN: no step time is measured */
    double memory_before, memory_after;
};

struct sp_calibration {
    struct sp_calibrated *runs;
    size_t n;
    struct sp_profile prior, fitted;
    int groups; /* configurations with a step time */
    int parts;  /* of the cross-validation; below 2: none was possible */
    size_t memory_runs;
};

/* Fits `prior` to `runs` (`run` and `sample` filled in, `group` numbered from 0, step
 * time or memory measured). Cross-validates by configuration: each left out in turn up to five of
 * them, in five parts beyond. Fills everything else. */
void sp_calibrate(struct sp_calibration *calibration);

/* What 80 % of errors left out stay within, over 1.2816, drawn towards `pooled` as ten more runs
 * would; `errors` are sorted in place. */
double sp_residual(double *errors, size_t n, double pooled);

#endif
