/* Measures the accuracy of predicted memory: mean absolute error per source over configurations,
 * with its target. Exits 1 if one is missed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "runs/group_error.h"
#include "runs/run_estimate.h"
#include "runs/runs.h"

/* Sources by the start of their title, and their largest mean absolute error in %: SimuMax's own
 * published error, and the variation of allocators between repeats. */
static const struct target {
    const char *source;
    double most;
} targets[] = {{"SimuMax", 0.5}, {"torchtitan", 4}, {"nanotron", 4}};
enum { TARGETS = sizeof targets / sizeof *targets };

/* Why a run does not count; NULL: it counts. */
static const char *left_out(const struct sp_run *run)
{
    return run->problem[0] != '\0'        ? run->problem
           : run->level == SP_CLOSED_FORM ? "a closed form, not a measurement"
           : run->level == SP_NO_LEVEL    ? "what its memory counts is not stated"
           : !run->recompute_stated       ? "its recompute policy is not stated"
                                          : NULL;
}

static double error_of(const struct sp_run *run)
{
    struct sp_stage_memory m;
    sp_fullest_stage(&run->model, &run->precision, &run->plan, &run->framework.framework, &m);
    return sp_bytes_at_level(&m, run->level) / run->memory_bytes - 1;
}

/* Runs of one configuration have the number of the first of them. */
static void number_groups(const struct sp_runs *runs, int *group)
{
    for (size_t i = 0; i < runs->n; i++) {
        size_t first = 0;
        while (strcmp(runs->run[first].group, runs->run[i].group) != 0)
            first++;
        group[i] = (int)first;
    }
}

/* Prints a source's line; true if it meets its target. */
static bool report(const struct sp_runs *runs, const struct target *t, const int *group,
                   double *errors)
{
    double sum = 0, worst = 0;
    const char *worst_id = "";
    for (size_t i = 0; i < runs->n; i++) {
        const struct sp_run *const run = &runs->run[i];
        const bool of_source = strncmp(run->source, t->source, strlen(t->source)) == 0;
        errors[i] = NAN;
        if (!of_source || isnan(run->memory_bytes))
            continue;
        const char *const why = left_out(run);
        errors[i] = why ? NAN : error_of(run);
        if (why)
            printf("  %s left out: %s\n", run->id, why);
        else if (fabs(errors[i]) > fabs(worst)) {
            worst = errors[i];
            worst_id = run->id;
        }
    }
    double *const means = errors + runs->n;
    const size_t n = sp_group_errors(errors, group, runs->n, means);
    for (size_t i = 0; i < n; i++)
        sum += fabs(means[i]);
    const double mean = n > 0 ? 100 * sum / (double)n : INFINITY;
    printf("%-12s %3zu configurations: mean %.2f %% (at most %g), worst run %s %+.1f %%%s\n",
           t->source, n, mean, t->most, worst_id, 100 * worst, mean > t->most ? " MISSED" : "");
    return mean <= t->most;
}

int main(int argc, char **argv)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_runs runs;
    if (argc != 2) {
        fprintf(stderr, "usage: memory_accuracy RUNS.csv\n");
        return 2;
    }
    if (!sp_read_runs(argv[1], &sources, &runs, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    int *const group = calloc(runs.n + 1, sizeof *group);
    double *const errors = calloc(2 * runs.n + 1, sizeof *errors);
    bool kept = group && errors;
    if (kept)
        number_groups(&runs, group);
    for (int i = 0; i < TARGETS && group && errors; i++)
        kept = report(&runs, &targets[i], group, errors) && kept;
    free(group);
    free(errors);
    sp_runs_free(&runs);
    return kept ? 0 : 1;
}
