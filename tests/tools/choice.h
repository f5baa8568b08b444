/* How well the estimate chooses among plans that were measured beside each other. */
#ifndef SP_CHOICE_H
#define SP_CHOICE_H

#include "study.h"

/* Of all series, in per cent: the mean and the largest of how far the plan that the estimate puts
 * first is behind the measured best, and the share of pairs in the right order. */
struct sp_regret {
    double mean, worst, right;
};

/* Prints by publication, over its series of three plans or more of one model, machine, batch and
 * number of devices: how far behind the measured best the plan is that the estimate puts first,
 * beside two rules of thumb, and the share of pairs that each has in the right order; series that
 * are further behind than is asked by name. `log_errors` are those with the publication left
 * out. */
struct sp_regret sp_print_choice(const struct sp_study *study, const double *log_errors);

#endif
