/* The value of a machine's own rows: the estimate of its other rows after a fit to some. */
#ifndef SP_OWN_ROWS_H
#define SP_OWN_ROWS_H

#include "study.h"

/* For a publication that the fit left out, by stack and tier with five runs or more: the mean
 * absolute error of each run after three of the others, in the array `errors`; as sp_on_fold. */
void sp_see_three(const struct sp_study *study, int publication, const struct sp_profile *fitted,
                  void *errors);

/* Prints the error on the other rows after a fit to eight rows, for each machine outside the
 * fits: the median of twenty draws. Returns how many are above 6 %. */
int sp_print_own_rows(const struct sp_study *study, const struct sp_profile *fitted);

#endif
