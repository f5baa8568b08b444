/* How well the estimate chooses among plans that were measured beside each other. */
#ifndef SP_CHOICE_H
#define SP_CHOICE_H

#include "study.h"

/* Prints by publication, over its series of three plans or more of one model, machine, batch and
 * number of devices: how far behind the measured best the plan is that the estimate puts first,
 * beside two rules of thumb, and the share of pairs in the right order. `log_errors` are those with
 * the publication left out. */
void sp_print_choice(const struct sp_study *study, const double *log_errors);

#endif
