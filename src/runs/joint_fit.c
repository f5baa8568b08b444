/* The constants of all stacks at once. */
#include "runs/joint_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs of other sources differ by this much (of the logarithm) from a model that is right for one;
 * beyond a few times that a run tells no more. */
#define NOISE 0.07
/* GPUs or TPUs all together may be this many spreads away from what is expected of them. */
#define COMMON_SPREADS 2.0

/* Where the parts of each stack's constants stand among the parameters, which count in spreads. */
struct layout {
    int common[SP_CONSTANTS], own[SP_CONSTANTS];
};

struct joint {
    const struct sp_joint_sample *samples;
    size_t n;
    const struct sp_profile *stacks;
    int n_stacks, parameters;
    struct layout *layout;      /* by stack */
    struct sp_profile *profile; /* by stack: constants at the parameters that were last put */
};

/* Gives parameters to the kind of machine and to the families of each stack. */
static void lay_out(struct joint *j)
{
    j->parameters = 0;
    for (int s = 0; s < j->n_stacks; s++)
        for (int c = 0; c < SP_CONSTANTS; c++) {
            const struct sp_profile *const mine = &j->stacks[s];
            j->layout[s].common[c] = j->layout[s].own[c] = -1;
            for (int k = 0; k < s && j->layout[s].own[c] < 0; k++) {
                if (j->stacks[k].kind != mine->kind)
                    continue;
                j->layout[s].common[c] = j->layout[k].common[c];
                if (strcmp(sp_family_of_constant(&j->stacks[k], c),
                           sp_family_of_constant(mine, c)) == 0)
                    j->layout[s].own[c] = j->layout[k].own[c];
            }
            if (j->layout[s].common[c] < 0)
                j->layout[s].common[c] = j->parameters++;
            if (j->layout[s].own[c] < 0)
                j->layout[s].own[c] = j->parameters++;
        }
}

static void put_constants(struct joint *j, const double *x)
{
    for (int s = 0; s < j->n_stacks; s++)
        for (int c = 0; c < SP_CONSTANTS; c++) {
            const double spreads =
                COMMON_SPREADS * x[j->layout[s].common[c]] + x[j->layout[s].own[c]];
            j->profile[s].value[c] = sp_constant_in_bounds(
                c, j->stacks[s].expected[c] * exp(sp_constants[c].spread * spreads));
        }
}

/* Error of one run, and what it changes by with each constant's logarithm. */
static double error_and_slopes(const struct joint *j, const struct sp_joint_sample *sample,
                               double slope[SP_CONSTANTS])
{
    const double step = 1e-5;
    struct sp_profile moved = j->profile[sample->stack];
    const double error = sp_log_error(&sample->sample, &moved);
    for (int c = 0; c < SP_CONSTANTS && slope; c++) {
        const double value = moved.value[c];
        moved.value[c] = value * (1 + step);
        const double ahead = sp_log_error(&sample->sample, &moved);
        moved.value[c] = value * (1 - step);
        slope[c] = (ahead - sp_log_error(&sample->sample, &moved)) / (2 * step);
        moved.value[c] = value;
    }
    return error;
}

/* Minus the logarithm of the posterior at x: quadratic for small errors, then linear. */
static double cost_at(struct joint *j, const double *x)
{
    double sum = 0;
    put_constants(j, x);
    for (int i = 0; i < j->parameters; i++)
        sum += x[i] * x[i] / 2;
    for (size_t i = 0; i < j->n; i++) {
        const double z = error_and_slopes(j, &j->samples[i], NULL) / NOISE;
        sum += j->samples[i].sample.weight * (sqrt(1 + z * z) - 1);
    }
    return sum;
}

/* The gradient of the cost, and its curvature as if errors were linear in x (Gauss and Newton);
 * errors that count linearly are weighted down. */
static void gradient_and_curvature(struct joint *j, const double *x, double *gradient,
                                   double *curvature)
{
    const size_t n = (size_t)j->parameters;
    memset(curvature, 0, n * n * sizeof *curvature);
    for (size_t i = 0; i < n; i++) {
        gradient[i] = x[i];
        curvature[i * n + i] = 1;
    }
    put_constants(j, x);
    for (size_t i = 0; i < j->n; i++) {
        const struct sp_joint_sample *const s = &j->samples[i];
        const struct layout *const at = &j->layout[s->stack];
        double slope[SP_CONSTANTS], change[2 * SP_CONSTANTS];
        size_t index[2 * SP_CONSTANTS];
        const double z = error_and_slopes(j, s, slope) / NOISE;
        const double weight = s->sample.weight / sqrt(1 + z * z);
        for (int c = 0; c < SP_CONSTANTS; c++) {
            index[2 * c] = (size_t)at->common[c];
            index[2 * c + 1] = (size_t)at->own[c];
            change[2 * c + 1] = slope[c] * sp_constants[c].spread / NOISE;
            change[2 * c] = COMMON_SPREADS * change[2 * c + 1];
        }
        for (int a = 0; a < 2 * SP_CONSTANTS; a++) {
            gradient[index[a]] += weight * z * change[a];
            for (int b = 0; b < 2 * SP_CONSTANTS; b++)
                curvature[index[a] * n + index[b]] += weight * change[a] * change[b];
        }
    }
}

/* Solves (A + damping diag A) step = -gradient for a positive definite A, by Cholesky's
 * decomposition into `lower`. */
static void solve(const double *A, const double *gradient, size_t n, double damping, double *lower,
                  double *step)
{
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c <= r; c++) {
            double sum = A[r * n + c] * (r == c ? 1 + damping : 1);
            for (size_t k = 0; k < c; k++)
                sum -= lower[r * n + k] * lower[c * n + k];
            lower[r * n + c] = r == c ? sqrt(sum) : sum / lower[c * n + c];
        }
    for (size_t r = 0; r < n; r++) {
        step[r] = -gradient[r];
        for (size_t k = 0; k < r; k++)
            step[r] -= lower[r * n + k] * step[k];
        step[r] /= lower[r * n + r];
    }
    for (size_t r = n; r-- > 0;) {
        for (size_t k = r + 1; k < n; k++)
            step[r] -= lower[k * n + r] * step[k];
        step[r] /= lower[r * n + r];
    }
}

/* Goes down from x by Levenberg's and Marquardt's damped steps until they gain nothing. */
static void descend(struct joint *j, double *x)
{
    enum { MOST_STEPS = 60 };
    const size_t n = (size_t)j->parameters;
    double *const room = calloc(2 * n * n + 3 * n + 1, sizeof *room);
    if (!room)
        abort();
    double *const A = room, *const lower = A + n * n, *const gradient = lower + n * n,
                  *const step = gradient + n, *const next = step + n;
    double cost = cost_at(j, x), damping = 1e-3, gained = 1;
    for (int i = 0; i < MOST_STEPS && gained > 1e-7 * cost && damping < 1e6; i++) {
        gradient_and_curvature(j, x, gradient, A);
        for (gained = -1; gained < 0 && damping < 1e6; damping *= gained < 0 ? 8 : 0.2) {
            solve(A, gradient, n, damping, lower, step);
            for (size_t k = 0; k < n; k++)
                next[k] = x[k] + step[k];
            gained = cost - cost_at(j, next);
        }
        if (gained >= 0) {
            memcpy(x, next, n * sizeof *x);
            cost -= gained;
        }
    }
    free(room);
}

/* How far samples pin each family's constant down: information over information plus prior. */
static void measure_determined(const struct joint *j, struct sp_profile *fitted)
{
    double *const information = calloc((size_t)j->parameters + 1, sizeof *information);
    if (!information)
        abort();
    for (size_t i = 0; i < j->n; i++) {
        double slope[SP_CONSTANTS];
        error_and_slopes(j, &j->samples[i], slope);
        for (int c = 0; c < SP_CONSTANTS; c++) {
            const double change = slope[c] * sp_constants[c].spread / NOISE;
            information[j->layout[j->samples[i].stack].own[c]] +=
                j->samples[i].sample.weight * change * change;
        }
    }
    for (int s = 0; s < j->n_stacks; s++)
        for (int c = 0; c < SP_CONSTANTS; c++) {
            const double known = information[j->layout[s].own[c]];
            fitted[s].determined[c] = known / (known + 1);
        }
    free(information);
}

void sp_fit_jointly(const struct sp_joint_sample *samples, size_t n,
                    const struct sp_profile *stacks, int n_stacks, struct sp_profile *fitted)
{
    struct joint j = {.samples = samples, .n = n, .stacks = stacks, .n_stacks = n_stacks};
    j.layout = calloc((size_t)n_stacks + 1, sizeof *j.layout);
    j.profile = calloc((size_t)n_stacks + 1, sizeof *j.profile);
    double *const x =
        calloc(2 * SP_CONSTANTS * (size_t)n_stacks + 1, sizeof *x); /* all at what is expected */
    if (!j.layout || !j.profile || !x)
        abort();
    memcpy(j.profile, stacks, (size_t)n_stacks * sizeof *stacks);
    lay_out(&j);
    descend(&j, x);
    put_constants(&j, x);
    memcpy(fitted, j.profile, (size_t)n_stacks * sizeof *fitted);
    measure_determined(&j, fitted);
    free(j.layout);
    free(j.profile);
    free(x);
}
