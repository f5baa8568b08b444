/* Fits the serving constants of all stacks (chip and engine) at once. */
#ifndef SP_SERVING_FIT_H
#define SP_SERVING_FIT_H

#include "runs/serving_runs.h"

/* One measurement of a run. */
struct sp_serving_sample {
    const struct sp_serving_run *run;
    enum sp_serving_measure measure;
    int stack;     /* index of the stack */
    double weight; /* repeats of a configuration share a weight of 1 */
};

/* Fits the stacks `stacks`, prepared by sp_expect_serving, to samples of some of them. A constant
 * is its expected value with a common part, a part per family of chip or engine, and a part per
 * stack, each shrunk towards 0. */
void sp_fit_serving(const struct sp_serving_sample *samples, size_t n,
                    const struct sp_profile *stacks, int n_stacks, struct sp_profile *fitted);

/* The same for one stack, from its own runs, around `prior`. */
void sp_fit_serving_pair(const struct sp_serving_sample *samples, size_t n,
                         const struct sp_profile *prior, struct sp_profile *fitted);

/* ln(predicted / measured). */
double sp_serving_log_error(const struct sp_serving_sample *sample, const double *constants);

#endif
