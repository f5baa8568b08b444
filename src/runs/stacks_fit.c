/* Fits the constants of all stacks at once. */
#include "runs/stacks_fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "runs/levenberg_marquardt.h"

/* Standard deviation of ln(error) between sources under a correct model; beyond it a run counts
 * linearly. */
#define NOISE 0.07
/* Spread of the common part of all GPUs or TPUs, in units of the spread between families. */
#define COMMON_SPREADS 1.0

/* Parts of a constant: common to a kind of machine, and per family. */
enum { COMMON, OWN };

struct joint {
    const struct sp_joint_sample *samples;
    const struct sp_profile *stacks;
};

static struct sp_shared_constant *row(struct sp_shared_constant *layout, int stack)
{
    return layout + (size_t)stack * SP_CONSTANTS;
}

/* A GPU's kernels were measured by chip, and training's shortfall against them follows the chip's
 * power: 2 % on A100, 10 % on H100, so that A100s were taken for slow because of the others. */
static bool has_common_part(const struct sp_profile *stack, int c)
{
    return stack->kind == SP_TORUS || sp_constants[c].of != SP_OF_CHIP;
}

/* Assigns a constant's parameters: those that earlier stacks use for the same kind of machine and
 * family, else new ones. The common part may deviate as far as one family does: with twice that,
 * one slow framework moved all others. */
static void lay_out_constant(const struct sp_profile *stacks, int stack, int c,
                             struct sp_shared_constant *layout, int *parameters)
{
    const struct sp_profile *const mine = &stacks[stack];
    struct sp_shared_constant of = {{-1, -1, -1, -1}, {COMMON_SPREADS, 1}};
    for (int k = 0; k < stack && of.parameter[OWN] < 0; k++) {
        if (stacks[k].kind != mine->kind)
            continue;
        of.parameter[COMMON] = row(layout, k)[c].parameter[COMMON];
        if (strcmp(sp_family_of_constant(&stacks[k], c), sp_family_of_constant(mine, c)) == 0)
            of.parameter[OWN] = row(layout, k)[c].parameter[OWN];
    }
    for (int part = has_common_part(mine, c) ? COMMON : OWN; part <= OWN; part++)
        if (of.parameter[part] < 0)
            of.parameter[part] = (*parameters)++;
    row(layout, stack)[c] = of;
}

/* Software parts have heavy tails (linear cost beyond the spread), so that an unusual framework
 * moves the others less: left-out errors of the first tier fell from 13.2 to 10.6 %. Chip parts
 * stay quadratic because they rest on measured kernels; with heavy tails, block formats rose to
 * 11.5 %. Variances learned from the runs were wider everywhere and worse (13.4 %). */
static void mark_heavy_tails(const struct sp_shared_constant *layout, int stacks,
                             bool *heavy_tailed)
{
    for (int s = 0; s < stacks; s++)
        for (int c = 0; c < SP_CONSTANTS; c++) {
            const int own = layout[(size_t)s * SP_CONSTANTS + (size_t)c].parameter[OWN];
            heavy_tailed[own] = sp_constants[c].of == SP_OF_SOFTWARE;
        }
}

static double error_of(const void *context, size_t i, const double *constants,
                       const double *unknowns)
{
    const struct joint *const j = context;
    const struct sp_joint_sample *const s = &j->samples[i];
    struct sp_profile profile = j->stacks[s->stack];
    memcpy(profile.value, constants, SP_CONSTANTS * sizeof *profile.value);
    return sp_log_error_with(&s->sample, &profile, unknowns);
}

/* A parameter of an earlier run of the unit with the same unknown, else a new one. */
static int parameter_of(const struct sp_joint_sample *samples, size_t i, int unknown,
                        const struct sp_shared_sample *shared, int *parameters)
{
    if (!sp_is_open(&samples[i].sample.in, (enum sp_unknown)unknown))
        return -1;
    for (size_t k = 0; k < i; k++)
        if (shared[k].unknown[unknown] >= 0 && samples[k].unit[unknown] == samples[i].unit[unknown])
            return shared[k].unknown[unknown];
    return (*parameters)++;
}

_Static_assert((int)SP_UNKNOWNS <= (int)SP_SHARED_UNKNOWNS, "unknowns have room");

/* Stacks have no separate constants: a constant is the value common to GPUs or TPUs plus its
 * family's part, shrunk towards 0. Separate constants per stack memorised 391 runs and did worse
 * than a median on new ones. */
void sp_fit_jointly(const struct sp_joint_sample *samples, size_t n,
                    const struct sp_profile *stacks, int n_stacks, struct sp_profile *fitted,
                    double (*deviations)[SP_UNKNOWNS])
{
    const size_t all = (size_t)n_stacks * SP_CONSTANTS + n * SP_UNKNOWNS + 1;
    const struct joint joint = {samples, stacks};
    struct sp_shared_constant *const layout = sp_must(calloc(all, sizeof *layout));
    struct sp_shared_sample *const shared = sp_must(calloc(n + 1, sizeof *shared));
    bool *const heavy_tailed = sp_must(calloc(2 * all, sizeof *heavy_tailed));
    double *const parameters = sp_must(calloc(2 * all, sizeof *parameters));
    struct sp_shared_fit fit = {.constants = SP_CONSTANTS,
                                .stacks = n_stacks,
                                .unknowns = SP_UNKNOWNS,
                                .info = sp_constants,
                                .layout = layout,
                                .heavy_tailed = heavy_tailed,
                                .samples = shared,
                                .n = n,
                                .error = error_of,
                                .context = &joint};
    for (int s = 0; s < n_stacks; s++)
        for (int c = 0; c < SP_CONSTANTS; c++)
            lay_out_constant(stacks, s, c, layout, &fit.parameters);
    mark_heavy_tails(layout, n_stacks, heavy_tailed);
    for (size_t i = 0; i < n; i++)
        shared[i] =
            (struct sp_shared_sample){samples[i].stack, samples[i].sample.weight, NOISE, {0}};
    for (size_t i = 0; i < n; i++)
        for (int u = 0; u < SP_UNKNOWNS; u++)
            shared[i].unknown[u] = parameter_of(samples, i, u, shared, &fit.parameters);
    sp_fit_stacks(&fit, stacks, fitted, parameters);
    for (size_t i = 0; deviations && i < n; i++)
        for (int u = 0; u < SP_UNKNOWNS; u++) {
            const int at = shared[i].unknown[u];
            deviations[i][u] = at >= 0 ? parameters[at] : 0;
        }
    free(parameters);
    free(layout);
    free(shared);
    free(heavy_tailed);
}
