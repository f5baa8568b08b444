/* What a machine's own rows are worth: the estimate of its other rows after a fit to some. */
#ifndef SP_OWN_ROWS_H
#define SP_OWN_ROWS_H

#include "study.h"

/* Of a publication that the fit left out, by stack and tier with five runs or more: the mean
 * absolute error of each run after three of the others, in the array `errors`; as sp_on_fold. */
void sp_see_three(const struct sp_study *study, int publication, const struct sp_profile *fitted,
                  void *errors);

/* Prints what eight rows of each machine that no fit takes leave of its others, the median of
 * twenty draws. Returns how many are above 6 %. */
int sp_print_own_rows(const struct sp_study *study, const struct sp_profile *fitted);

#endif
