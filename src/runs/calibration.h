/* Fits one profile to the runs of one stack, and judges the fit. */
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
    int parts;  /* of the cross-validation; 0: none was possible */
    size_t memory_runs;
};

/* Fits `prior` to `runs` (`run` and `sample` filled in, `group` numbered from 0, step time or
 * memory measured). Cross-validates by configuration: up to five configurations are left out one by
 * one, more in five parts. Fills in everything else. */
void sp_calibrate(struct sp_calibration *calibration);

/* The width that holds 80 % of the errors left out, over 1.2816, drawn towards `pooled` as ten more
 * runs would; sorts `errors` in place. */
double sp_residual(double *errors, size_t n, double pooled);

#endif
