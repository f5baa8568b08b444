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

double sp_serving_log_error(const struct sp_serving_sample *s, const double *constants)
{
    return log(sp_predict_serving(s->run, constants, s->measure) / s->run->measured[s->measure]);
}

static double error_of(const void *context, size_t i, const double *constants,
                       const double *unknowns)
{
    (void)unknowns;
    return sp_serving_log_error((const struct sp_serving_sample *)context + i, constants);
}

/* An engine's kernels are those of a die: H100 and H200 are one; a server is that of all. */
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
    const struct sp_shared_fit f = {.constants = SP_SERVING_CONSTANTS,
                                    .stacks = n_stacks,
                                    .parameters = parameters,
                                    .info = sp_serving_constants,
                                    .layout = layout,
                                    .samples = shared,
                                    .n = n,
                                    .error = error_of,
                                    .context = samples};
    sp_fit_stacks(&f, stacks, fitted, NULL);
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
