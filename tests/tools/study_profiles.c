/* Writes the fitted stacks of a study as files of configs/profiles. A stack whose runs enter no fit
 * gets none: it borrows. */
#include "study_profiles.h"

#include <math.h>
#include <stdio.h>

#include "bundled_profile.h"

static bool on_stack(const struct sp_measured *m, const void *context)
{
    return !m->odd && m->stack == *(const int *)context;
}

static void write_profile(const struct sp_study *study, int stack, const struct sp_profile *p,
                          const double *left_out, const char *folder)
{
    char sources[1024] = "", fitted_to[192];
    int runs = 0, groups;
    for (size_t i = 0; i < study->n; i++) {
        if (!on_stack(&study->measured[i], &stack))
            continue;
        runs++;
        sp_add_source(sources, sizeof sources, study->measured[i].run->source);
    }
    const double e = sp_mean_group_error(study, left_out, on_stack, &stack, &groups);
    snprintf(fitted_to, sizeof fitted_to,
             "%d runs, %d configurations, with those of the other stacks; mean absolute error of "
             "the step time %.1f %% when their publication is left out",
             runs, groups, 100 * e);
    if (runs > 0)
        sp_write_bundled_profile(folder, p, fitted_to, sources);
}

void sp_write_profiles(const struct sp_study *study, const struct sp_profile *fitted,
                       const double *left_out, const char *folder)
{
    for (int stack = 0; stack < study->stacks; stack++)
        write_profile(study, stack, &fitted[stack], left_out, folder);
}
