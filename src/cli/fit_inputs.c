/* Inputs of the closed forms: model, machine, recipe of training state, batch. */
#include "cli/fit_inputs.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* --microbatches, or 0 for auto; the book has one if it is not given. */
static int64_t accumulation_of(const struct sp_args *args, bool textbook)
{
    const double given = args->value.microbatches;
    return !isnan(given) ? (int64_t)given : textbook && !args->given.microbatches ? 1 : 0;
}

/* The frameworks of the machine, and the recipes of training state under them. */
static bool read_frameworks(const struct sp_args *args, const struct sp_sources *sources,
                            struct sp_fit_inputs *f, struct sp_error *error)
{
    f->in.hw = &f->hw;
    if (!sp_fit_frameworks_of(sources, &f->frameworks, &f->in, error))
        return false;
    if (!f->in.framework)
        return sp_recipe_of(args, sources, &f->hw, &f->precision, error);
    f->in.sharding_precision = &f->sharding_precision;
    return sp_recipe_under(args, sources, f->in.framework, &f->precision, error) &&
           sp_recipe_under(args, sources, f->in.sharding_framework, &f->sharding_precision, error);
}

bool sp_load_fit(const struct sp_args *args, struct sp_layers *layers, struct sp_fit_inputs *f,
                 struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (!sp_model_of(args, &sources, &f->model, error) ||
        !sp_hardware_of(args, &sources, &f->hw, error) ||
        !read_frameworks(args, &sources, f, error) ||
        !sp_check_peak(&f->hw, (enum sp_dtype)f->precision.compute_dtype, error) ||
        !sp_problem_of(args, &f->model, &f->hw, &f->problem, error))
        return false;
    f->in.batch_tokens = f->problem.batch.tokens;
    f->in.seq = f->problem.batch.seq;
    const double axes = args->value.axes;
    f->only = args->value.strategy;
    f->kinds = f->only < 0 ? ~0u : 1u << f->only;
    f->in.model = &f->model;
    f->in.layers = layers;
    sp_list_model(&f->model, layers);
    f->in.precision = &f->precision;
    f->in.remat = sp_remat_of(args);
    f->in.exact_groups = !sources.textbook;
    f->in.overlap = (enum sp_overlap)args->value.overlap;
    f->in.axes = isnan(axes) ? 0 : (int)axes;
    f->t = sp_fit_terms(&f->in);
    f->in.accumulate = accumulation_of(args, sources.textbook);
    return true;
}
