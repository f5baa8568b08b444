/* Mean errors per group, so that repeats of a configuration count once. */
#ifndef SP_GROUP_ERROR_H
#define SP_GROUP_ERROR_H

#include <stddef.h>

/* Mean error of each group with any, in order of group number (0 to n - 1); NAN errors are skipped.
 * `means` has room for n. Returns the number of means. */
size_t sp_group_errors(const double *errors, const int *group, size_t n, double *means);

#endif
