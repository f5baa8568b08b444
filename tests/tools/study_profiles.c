/* The fitted stacks of a study as files of configs/profiles. */
#include "study_profiles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_file.h"
#include "runs/profile_file.h"

static bool on_stack(const struct sp_measured *m, const void *context)
{
    return m->stack == *(const int *)context;
}

static void write_profile(const struct sp_study *study, int stack, const struct sp_profile *p,
                          const double *left_out, const char *folder)
{
    char *path, sources[1024] = "", fitted_to[192];
    int runs = 0, groups;
    struct sp_error error = {0};
    if (asprintf(&path, "%s/%s.json", folder, p->name) < 0)
        abort();
    for (size_t i = 0; i < study->n; i++) {
        if (study->measured[i].stack != stack)
            continue;
        runs++;
        const char *const source = study->measured[i].run->source;
        const size_t used = strlen(sources);
        if (!strstr(sources, source))
            snprintf(sources + used, sizeof sources - used, "%s%s", used ? "; " : "", source);
    }
    const double e = sp_mean_group_error(study, left_out, on_stack, &stack, &groups);
    snprintf(fitted_to, sizeof fitted_to,
             "%d runs, %d configurations, with those of the other stacks; mean absolute error of "
             "the step time %.1f %% when their publication is left out",
             runs, groups, 100 * e);
    char *const text = sp_profile_text(p, fitted_to, sources), *bundled;
    if (asprintf(&bundled, "{\n  \"$schema\": \"../schema/profiles.json\",%s", text + 1) < 0)
        abort();
    if (!sp_write_file(path, bundled, strlen(bundled), &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    free(bundled);
    free(text);
    free(path);
}

void sp_write_profiles(const struct sp_study *study, const struct sp_profile *fitted,
                       const double *left_out, const char *folder)
{
    for (int stack = 0; stack < study->stacks; stack++)
        write_profile(study, stack, &fitted[stack], left_out, folder);
}
