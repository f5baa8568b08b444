/* Repeats of a configuration count once: means of errors by group. */
#ifndef SP_GROUP_ERROR_H
#define SP_GROUP_ERROR_H

#include <stddef.h>

/* The mean error of each group that has one, in the order of the groups' numbers; an error that is
 * NAN does not count. `group` numbers are from 0 to below n; `means` has room for n. Returns how
 * many. */
size_t sp_group_errors(const double *errors, const int *group, size_t n, double *means);

#endif
