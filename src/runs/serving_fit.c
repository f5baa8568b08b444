/* Fits the serving constants of all stacks at once. */
#include "runs/serving_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "runs/levenberg_marquardt.h"

/* Parts of a constant, and their spreads in units of the constant's. */
enum { COMMON, FAMILY, OWN };
static const double spreads[] = {[COMMON] = 2, [FAMILY] = 1, [OWN] = 0.7};

/* Standard deviation of ln(error) under a correct model. */
static const double noise[SP_SERVING_MEASURES] = {
    [SP_MEASURED_TPOT] = 0.07, [SP_MEASURED_TTFT] = 0.2, [SP_MEASURED_RATE] = 0.15};

static double log_error(const struct sp_serving_sample *s, const struct sp_serve_estimate *e)
{
    const double predicted[] = {[SP_MEASURED_TPOT] = e->tpot_s,
                                [SP_MEASURED_TTFT] = e->ttft_s,
                                [SP_MEASURED_RATE] = e->tokens_per_s};
    return log(predicted[s->measure] / s->run->measured[s->measure]);
}

double sp_serving_log_error(const struct sp_serving_sample *s, const double *constants)
{
    const struct sp_serve_estimate e = sp_estimate_serving_run(s->run, constants);
    return log_error(s, &e);
}

enum { KEPT = 2 * SP_SERVING_CONSTANTS + 1 }; /* as many as a gradient takes */

/* What was estimated for the run of the last sample. A run's samples follow one another and are
 * asked for the same constants, so that each estimate serves all of its measures. */
struct estimated {
    const struct sp_serving_run *run;
    int n;
    struct {
        double constants[SP_SERVING_CONSTANTS];
        struct sp_serve_estimate estimate;
    } at[KEPT];
};

struct fitting {
    const struct sp_serving_sample *samples;
    struct estimated *estimated;
};

static bool are_same(const double *a, const double *b)
{
    int c = 0;
    while (c < SP_SERVING_CONSTANTS && a[c] == b[c])
        c++;
    return c == SP_SERVING_CONSTANTS;
}

static double error_of(const void *context, size_t i, const double *constants,
                       const double *unknowns)
{
    const struct fitting *const f = context;
    const struct sp_serving_sample *const s = &f->samples[i];
    struct estimated *const e = f->estimated;
    int k = 0;
    (void)unknowns;
    if (s->run != e->run)
        e->n = 0;
    e->run = s->run;
    while (k < e->n && !are_same(e->at[k].constants, constants))
        k++;
    if (k == KEPT)
        k = e->n = 0;
    if (k == e->n) {
        memcpy(e->at[k].constants, constants, sizeof e->at->constants);
        e->at[k].estimate = sp_estimate_serving_run(s->run, constants);
        e->n++;
    }
    return log_error(s, &e->at[k].estimate);
}

/* Kernel constants are shared by engine and die (H100 and H200 are one die); constants of the
 * server and of grouped matmuls are shared by all. */
static bool is_same_die(const struct sp_profile *a, const struct sp_profile *b, int constant)
{
    const enum sp_trait of = sp_serving_constants[constant].of;
    if (of == SP_OF_HOST)
        return true;
    return of == SP_OF_KERNELS && strcmp(a->chip_family, b->chip_family) == 0 &&
           strcmp(a->software_family, b->software_family) == 0;
}

/* Assigns a stack's parameters of a constant: common, per family, per stack (of kernels per
 * engine and die), each shrunk towards 0, so that stacks with few runs stay near their relatives.
 * Rows and sources have no parameters. */
static void lay_out(const struct sp_profile *stacks, int stack, int c,
                    struct sp_shared_constant *layout, int *parameters)
{
    const struct sp_profile *const mine = &stacks[stack];
    struct sp_shared_constant *const of = &layout[stack * SP_SERVING_CONSTANTS + c];
    *of = (struct sp_shared_constant){{-1, -1, -1, -1}, {spreads[0], spreads[1], spreads[2]}};
    for (int k = 0; k < stack; k++) {
        const struct sp_shared_constant *const other = &layout[k * SP_SERVING_CONSTANTS + c];
        if (stacks[k].kind != mine->kind)
            continue;
        of->parameter[COMMON] = other->parameter[COMMON];
        if (strcmp(sp_family_of_constant(&stacks[k], c), sp_family_of_constant(mine, c)) == 0)
            of->parameter[FAMILY] = other->parameter[FAMILY];
        if (is_same_die(&stacks[k], mine, c))
            of->parameter[OWN] = other->parameter[OWN];
    }
    for (int part = COMMON; part <= OWN; part++)
        if (of->parameter[part] < 0)
            of->parameter[part] = (*parameters)++;
}

static void fit(const struct sp_serving_sample *samples, size_t n, const struct sp_profile *stacks,
                int n_stacks, const struct sp_shared_constant *layout, int parameters,
                struct sp_profile *fitted)
{
    struct sp_shared_sample *const shared = sp_must(calloc(n + 1, sizeof *shared));
    for (size_t i = 0; i < n; i++)
        shared[i] = (struct sp_shared_sample){
            samples[i].stack, samples[i].weight, noise[samples[i].measure], {-1}};
    const struct fitting fitting = {samples, sp_must(calloc(1, sizeof *fitting.estimated))};
    const struct sp_shared_fit f = {.constants = SP_SERVING_CONSTANTS,
                                    .stacks = n_stacks,
                                    .parameters = parameters,
                                    .info = sp_serving_constants,
                                    .layout = layout,
                                    .samples = shared,
                                    .n = n,
                                    .error = error_of,
                                    .context = &fitting};
    sp_fit_stacks(&f, stacks, fitted, NULL);
    free(fitting.estimated);
    free(shared);
}

void sp_fit_serving(const struct sp_serving_sample *samples, size_t n,
                    const struct sp_profile *stacks, int n_stacks, struct sp_profile *fitted)
{
    int parameters = 0;
    struct sp_shared_constant *const layout =
        sp_must(calloc((size_t)n_stacks * SP_SERVING_CONSTANTS + 1, sizeof *layout));
    for (int s = 0; s < n_stacks; s++)
        for (int c = 0; c < SP_SERVING_CONSTANTS; c++)
            lay_out(stacks, s, c, layout, &parameters);
    fit(samples, n, stacks, n_stacks, layout, parameters, fitted);
    free(layout);
}

void sp_fit_serving_pair(const struct sp_serving_sample *samples, size_t n,
                         const struct sp_profile *prior, struct sp_profile *fitted)
{
    struct sp_shared_constant layout[SP_SERVING_CONSTANTS];
    struct sp_profile around = *prior;
    for (int c = 0; c < SP_SERVING_CONSTANTS; c++) {
        layout[c] = (struct sp_shared_constant){{c, -1, -1, -1}, {1}};
        around.expected[c] = prior->value[c];
    }
    fit(samples, n, &around, 1, layout, SP_SERVING_CONSTANTS, fitted);
    memcpy(fitted->expected, prior->expected, sizeof fitted->expected);
}
