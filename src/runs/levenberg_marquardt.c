/* Levenberg-Marquardt: fits constants of several stacks that share parameters. */
#include "runs/levenberg_marquardt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static double *new_numbers(size_t n)
{
    double *const numbers = sp_must(calloc(n + 1, sizeof *numbers));
    return numbers;
}

enum { MOST_PARTS = SP_SHARED_CONSTANTS * SP_SHARED_PARTS + SP_SHARED_UNKNOWNS };

/* Computes a stack's constants from parameters x. */
static void put_constants(const struct sp_shared_fit *f, int stack, const double *x, double *values)
{
    const size_t first = (size_t)stack * (size_t)f->constants;
    for (int c = 0; c < f->constants; c++) {
        const struct sp_shared_constant *const of = &f->layout[first + (size_t)c];
        double spreads = 0;
        for (int k = 0; k < SP_SHARED_PARTS; k++)
            if (of->parameter[k] >= 0)
                spreads += of->scale[k] * x[of->parameter[k]];
        const double value = f->expected[first + (size_t)c] * exp(f->info[c].spread * spreads);
        values[c] = fmin(f->info[c].high, fmax(f->info[c].low, value));
    }
}

static void put_all(const struct sp_shared_fit *f, const double *x, double *values)
{
    for (int s = 0; s < f->stacks; s++)
        put_constants(f, s, x, values + (size_t)s * (size_t)f->constants);
}

static const double *constants_of(const struct sp_shared_fit *f, const double *values, size_t i)
{
    return values + (size_t)f->samples[i].stack * (size_t)f->constants;
}

/* A sample's unknowns at parameters x, in standard deviations. */
static void unknowns_of(const struct sp_shared_fit *f, size_t i, const double *x,
                        double unknowns[SP_SHARED_UNKNOWNS])
{
    for (int u = 0; u < f->unknowns; u++) {
        const int at = f->samples[i].unknown[u];
        unknowns[u] = at >= 0 ? x[at] : 0;
    }
}

static double error_at(const struct sp_shared_fit *f, size_t i, const double *x,
                       const double *values)
{
    double unknowns[SP_SHARED_UNKNOWNS];
    unknowns_of(f, i, x, unknowns);
    return f->error(f->context, i, constants_of(f, values, i), unknowns);
}

/* Derivative of a sample's error by one of its numbers; the number is restored. */
static double slope_by(const struct sp_shared_fit *f, size_t i, const double *constants,
                       const double *unknowns, double *number, double step)
{
    const double here = *number;
    *number = here + step;
    const double ahead = f->error(f->context, i, constants, unknowns);
    *number = here - step;
    const double behind = f->error(f->context, i, constants, unknowns);
    *number = here;
    return (ahead - behind) / (2 * step);
}

/* Adds the derivative of a sample's error by each parameter it depends on: `change` of those in
 * `index`. Returns how many. */
static int changes_of(const struct sp_shared_fit *f, size_t i, const double *x,
                      const double *values, int *index, double *change)
{
    const struct sp_shared_sample *const s = &f->samples[i];
    const double step = 1e-5;
    double constants[SP_SHARED_CONSTANTS], unknowns[SP_SHARED_UNKNOWNS];
    int n = 0;
    memcpy(constants, constants_of(f, values, i), (size_t)f->constants * sizeof *constants);
    unknowns_of(f, i, x, unknowns);
    for (int c = 0; c < f->constants; c++) {
        const struct sp_shared_constant *const of =
            &f->layout[(size_t)s->stack * (size_t)f->constants + (size_t)c];
        const double slope =
            slope_by(f, i, constants, unknowns, &constants[c], step * constants[c]) * constants[c];
        for (int k = 0; k < SP_SHARED_PARTS; k++)
            if (of->parameter[k] >= 0) {
                index[n] = of->parameter[k];
                change[n++] = of->scale[k] * slope * f->info[c].spread;
            }
    }
    for (int u = 0; u < f->unknowns; u++)
        if (s->unknown[u] >= 0) {
            index[n] = s->unknown[u];
            change[n++] = slope_by(f, i, constants, unknowns, &unknowns[u], 100 * step);
        }
    return n;
}

/* A cost that is quadratic while small, then linear. */
static double robust_cost(double z)
{
    return sqrt(1 + z * z) - 1;
}

/* Its slope over z: the weight of an equivalent quadratic cost. */
static double robust_weight(double z)
{
    return 1 / sqrt(1 + z * z);
}

static bool is_heavy_tailed(const struct sp_shared_fit *f, size_t parameter)
{
    return f->heavy_tailed && f->heavy_tailed[parameter];
}

/* Negative log posterior at x. */
static double cost_at(const struct sp_shared_fit *f, const double *x, double *values)
{
    double sum = 0;
    put_all(f, x, values);
    for (size_t i = 0; i < (size_t)f->parameters; i++)
        sum += is_heavy_tailed(f, i) ? robust_cost(x[i]) : x[i] * x[i] / 2;
    for (size_t i = 0; i < f->n; i++) {
        const double z = error_at(f, i, x, values) / f->samples[i].noise;
        sum += f->samples[i].weight * robust_cost(z);
    }
    return sum;
}

/* Adds a sample: `change` is the derivative of its error (in noises) by each of the `n` parameters
 * in `index`. */
static void add_sample(double *gradient, double *curvature, size_t parameters, const int *index,
                       const double *change, int n, double z, double weight)
{
    for (int a = 0; a < n; a++) {
        gradient[index[a]] += weight * z * change[a];
        for (int b = 0; b < n; b++)
            curvature[(size_t)index[a] * parameters + (size_t)index[b]] +=
                weight * change[a] * change[b];
    }
}

/* Gradient of the cost, and Gauss-Newton curvature with robust weights. */
static void gradient_and_curvature(const struct sp_shared_fit *f, const double *x, double *values,
                                   double *gradient, double *curvature)
{
    const size_t n = (size_t)f->parameters;
    memset(curvature, 0, n * n * sizeof *curvature);
    for (size_t i = 0; i < n; i++) {
        const double weight = is_heavy_tailed(f, i) ? robust_weight(x[i]) : 1;
        gradient[i] = weight * x[i];
        curvature[i * n + i] = weight;
    }
    put_all(f, x, values);
    for (size_t i = 0; i < f->n; i++) {
        const struct sp_shared_sample *const s = &f->samples[i];
        double change[MOST_PARTS];
        int index[MOST_PARTS];
        const int parts = changes_of(f, i, x, values, index, change);
        for (int k = 0; k < parts; k++)
            change[k] /= s->noise;
        const double z = error_at(f, i, x, values) / s->noise;
        add_sample(gradient, curvature, n, index, change, parts, z, s->weight * robust_weight(z));
    }
}

/* Solves (A + damping diag A) step = -gradient for positive definite A by Cholesky decomposition
 * into `lower`. */
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

/* Descends from x by damped steps until they gain nothing. */
static void descend(const struct sp_shared_fit *f, double *x, double *values)
{
    enum { MOST_STEPS = 60 };
    const size_t n = (size_t)f->parameters;
    double *const A = new_numbers(n * n), *const lower = new_numbers(n * n);
    double *const gradient = new_numbers(n), *const step = new_numbers(n),
                  *const next = new_numbers(n);
    double cost = cost_at(f, x, values), damping = 1e-3, gained = 1;
    for (int i = 0; i < MOST_STEPS && gained > 1e-7 * cost && damping < 1e6; i++) {
        gradient_and_curvature(f, x, values, gradient, A);
        for (gained = -1; gained < 0 && damping < 1e6; damping *= gained < 0 ? 8 : 0.2) {
            solve(A, gradient, n, damping, lower, step);
            for (size_t k = 0; k < n; k++)
                next[k] = x[k] + step[k];
            gained = cost - cost_at(f, next, values);
        }
        if (gained >= 0) {
            memcpy(x, next, n * sizeof *x);
            cost -= gained;
        }
    }
    free(A);
    free(lower);
    free(gradient);
    free(step);
    free(next);
}

/* Variance of a sum of parameters, scale by parameter: `lower` is Cholesky's factor of the
 * curvature. */
static double variance_of(const struct sp_shared_constant *of, const double *lower, size_t n,
                          double *room)
{
    double sum = 0;
    memset(room, 0, n * sizeof *room);
    for (int k = 0; k < SP_SHARED_PARTS; k++)
        if (of->parameter[k] >= 0)
            room[of->parameter[k]] = of->scale[k];
    for (size_t r = 0; r < n; r++) {
        for (size_t k = 0; k < r; k++)
            room[r] -= lower[r * n + k] * room[k];
        room[r] /= lower[r * n + r];
        sum += room[r] * room[r];
    }
    return sum;
}

/* The same without measurements. */
static double prior_of(const struct sp_shared_constant *of)
{
    double sum = 0;
    for (int k = 0; k < SP_SHARED_PARTS; k++)
        sum += of->parameter[k] >= 0 ? of->scale[k] * of->scale[k] : 0;
    return fmax(sum, 1e-12);
}

/* The share of a constant's variance that the measurements take away, whatever the unknowns are. */
static void measure_determined(const struct sp_shared_fit *f, const double *x, double *values,
                               double *determined)
{
    const size_t n = (size_t)f->parameters, all = (size_t)f->stacks * (size_t)f->constants;
    double *const curvature = new_numbers(n * n), *const lower = new_numbers(n * n);
    double *const gradient = new_numbers(n), *const room = new_numbers(n);
    gradient_and_curvature(f, x, values, gradient, curvature);
    solve(curvature, gradient, n, 0, lower, room);
    for (size_t at = 0; at < all; at++)
        determined[at] =
            fmax(0, 1 - variance_of(&f->layout[at], lower, n, room) / prior_of(&f->layout[at]));
    free(curvature);
    free(lower);
    free(gradient);
    free(room);
}

/* Levenberg-Marquardt: NLopt's gradient methods stop at a cost of 640 to 1,100 where this reaches
 * 559, with ten times the evaluations. */
void sp_fit_shared(const struct sp_shared_fit *f, double *values, double *determined,
                   double *parameters)
{
    double *const x = new_numbers((size_t)f->parameters); /* all at the expected values */
    descend(f, x, values);
    put_all(f, x, values);
    measure_determined(f, x, values, determined);
    if (parameters)
        memcpy(parameters, x, (size_t)f->parameters * sizeof *x);
    free(x);
}

void sp_fit_stacks(const struct sp_shared_fit *f, const struct sp_profile *stacks,
                   struct sp_profile *fitted, double *parameters)
{
    const size_t each = (size_t)f->constants, all = each * (size_t)f->stacks;
    double *const expected = new_numbers(all), *const values = new_numbers(all),
                  *const determined = new_numbers(all);
    struct sp_shared_fit fit = *f;
    fit.expected = expected;
    for (size_t s = 0; s < (size_t)f->stacks; s++)
        memcpy(expected + s * each, stacks[s].expected, each * sizeof *expected);
    sp_fit_shared(&fit, values, determined, parameters);
    for (size_t s = 0; s < (size_t)f->stacks; s++) {
        fitted[s] = stacks[s];
        memcpy(fitted[s].value, values + s * each, each * sizeof *values);
        memcpy(fitted[s].determined, determined + s * each, each * sizeof *determined);
    }
    free(expected);
    free(values);
    free(determined);
}
