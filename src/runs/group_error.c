/* Means of errors by group. */
#include "runs/group_error.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

size_t sp_group_errors(const double *errors, const int *group, size_t n, double *means)
{
    int *const repeats = sp_must(calloc(n + 1, sizeof *repeats));
    for (size_t i = 0; i < n; i++)
        means[i] = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(errors[i])) {
            means[group[i]] += errors[i];
            repeats[group[i]]++;
        }
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (repeats[i] > 0)
            means[found++] = means[i] / repeats[i];
    free(repeats);
    return found;
}
