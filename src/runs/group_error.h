/* Means of errors by group, so that repeats of a configuration count once. */
#ifndef SP_GROUP_ERROR_H
#define SP_GROUP_ERROR_H

#include <stddef.h>

/* Computes the mean error of each group that has one, in the order of the groups' numbers; NAN
 * errors do not count. `group` numbers are from 0 to below n; `means` has room for n. Returns the
 * number of means. */
size_t sp_group_errors(const double *errors, const int *group, size_t n, double *means);

#endif
