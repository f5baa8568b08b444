/* The value of a machine's own rows: the estimate of its other rows after a fit to some. */
#include "own_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAWS = 20, MOST_SEEN = 8 };

/* Runs of one stack in a publication, some of which the fit sees. */
struct own {
    size_t *run;
    size_t n;
};

static struct own own_runs(const struct sp_study *study, int publication, int stack, int tier)
{
    struct own own = {calloc(study->n + 1, sizeof *own.run), 0};
    if (!own.run)
        abort();
    for (size_t i = 0; i < study->n; i++) {
        const struct sp_measured *const m = &study->measured[i];
        if (m->publication == publication && m->stack == stack &&
            (tier < 0 || (int)m->tier == tier))
            own.run[own.n++] = i;
    }
    return own;
}

static bool is_among(const size_t *pick, size_t n, size_t it)
{
    for (size_t k = 0; k < n; k++)
        if (pick[k] == it)
            return true;
    return false;
}

/* Draws `seen` different ones of n. */
static void draw(unsigned *state, size_t n, size_t seen, size_t *pick)
{
    for (size_t k = 0; k < seen; k++)
        do {
            *state = *state * 1103515245u + 12345u;
            pick[k] = (*state >> 8) % n;
        } while (is_among(pick, k, pick[k]));
}

static void fit_to(const struct sp_study *study, const struct own *own, const size_t *pick,
                   size_t seen, const struct sp_profile *prior, struct sp_profile *after)
{
    struct sp_sample samples[MOST_SEEN];
    for (size_t k = 0; k < seen; k++) {
        samples[k] = study->measured[own->run[pick[k]]].sample;
        samples[k].weight = 1;
    }
    sp_fit_profile(samples, seen, prior, after);
}

static void see_three(const struct sp_study *study, const struct own *own,
                      const struct sp_profile *prior, double *errors)
{
    enum { SEEN = 3 };
    int *const draws = calloc(study->n + 1, sizeof *draws);
    unsigned state = 12345;
    if (!draws)
        abort();
    for (size_t i = 0; i < own->n; i++)
        errors[own->run[i]] = 0;
    for (int d = 0; d < DRAWS; d++) {
        size_t pick[SEEN];
        struct sp_profile after;
        draw(&state, own->n, SEEN, pick);
        fit_to(study, own, pick, SEEN, prior, &after);
        for (size_t i = 0; i < own->n; i++)
            if (!is_among(pick, SEEN, i)) {
                const size_t at = own->run[i];
                errors[at] += fabs(expm1(sp_log_error(&study->measured[at].sample, &after)));
                draws[at]++;
            }
    }
    for (size_t i = 0; i < own->n; i++) {
        const size_t at = own->run[i];
        errors[at] = draws[at] > 0 ? errors[at] / draws[at] : NAN;
    }
    free(draws);
}

void sp_see_three(const struct sp_study *study, int publication, const struct sp_profile *fitted,
                  void *errors)
{
    for (int stack = 0; stack < study->stacks; stack++)
        for (int tier = 0; tier < SP_TIERS; tier++) {
            const struct own own = own_runs(study, publication, stack, tier);
            if (own.n >= 5)
                see_three(study, &own, &fitted[stack], errors);
            free(own.run);
        }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean absolute error of the runs that a draw does not see; their mean factor to `factor`. */
static double error_of_others(const struct sp_study *study, const struct own *own,
                              const size_t *pick, size_t seen, const struct sp_profile *after)
{
    double sum = 0;
    for (size_t i = 0; i < own->n; i++)
        if (!is_among(pick, seen, i))
            sum += fabs(expm1(sp_log_error(&study->measured[own->run[i]].sample, after)));
    return sum / (double)(own->n - seen);
}

static int see_eight(const struct sp_study *study, const struct own *own,
                     const struct sp_profile *prior)
{
    double error[DRAWS], factor[DRAWS];
    unsigned state = 12345;
    for (int d = 0; d < DRAWS; d++) {
        size_t pick[MOST_SEEN];
        struct sp_profile after;
        draw(&state, own->n, MOST_SEEN, pick);
        fit_to(study, own, pick, MOST_SEEN, prior, &after);
        error[d] = error_of_others(study, own, pick, MOST_SEEN, &after);
        factor[d] = after.machine_factor;
    }
    qsort(error, DRAWS, sizeof *error, ascending);
    qsort(factor, DRAWS, sizeof *factor, ascending);
    const double median = 100 * (error[DRAWS / 2 - 1] + error[DRAWS / 2]) / 2;
    const struct sp_measured *const first = &study->measured[own->run[0]];
    printf(
        "  %-50s %d of %zu rows leave the others %.1f %% off (%.1f to %.1f), machine factor %.2f\n",
        study->publication[first->publication], MOST_SEEN, own->n, median, 100 * error[0],
        100 * error[DRAWS - 1], factor[DRAWS / 2]);
    return median > 6;
}

static bool takes_part(const struct sp_study *study, const struct own *own)
{
    for (size_t i = 0; i < own->n; i++)
        if (!study->measured[own->run[i]].odd)
            return true;
    return false;
}

int sp_print_own_rows(const struct sp_study *study, const struct sp_profile *fitted)
{
    enum { ENOUGH = 2 * MOST_SEEN };
    int worse = 0;
    printf("\nmachines that no fit takes, after a fit to some of their rows\n");
    for (int p = 0; p < study->publications; p++)
        for (int stack = 0; stack < study->stacks; stack++) {
            const struct own own = own_runs(study, p, stack, -1);
            if (own.n >= ENOUGH && !takes_part(study, &own))
                worse += see_eight(study, &own, &fitted[stack]);
            free(own.run);
        }
    return worse;
}
