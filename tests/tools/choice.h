/* How well the estimate chooses among plans that were measured in one series. */
#ifndef SP_CHOICE_H
#define SP_CHOICE_H

#include "study.h"

/* Of all series, in per cent: how far the plan that the estimate puts first is behind the measured
 * best, on average and at most, and the share of pairs in the right order. */
struct sp_regret {
    double mean, worst, right;
};

/* Prints by publication, over its series of three plans or more of one model, machine, batch and
 * number of devices: how far behind the measured best the plan is that the estimate puts first,
 * beside two rules of thumb, and the share of pairs that each has in the right order; series that
 * miss the goal are named. `log_errors` are those with the publication left
 * out. */
struct sp_regret sp_print_choice(const struct sp_study *study, const double *log_errors);

#endif
