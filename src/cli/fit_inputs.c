/* Inputs of the closed forms: model, machine, recipe of training state, batch. */
#include "cli/fit_inputs.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* --accumulate: a number of micro-batches, or 0 for auto. */
static bool read_accumulation(const struct sp_args *args, struct sp_fit_inputs *f,
                              struct sp_error *error)
{
    const char *const given = args->value.accumulate;
    double micro;
    f->in.accumulate = !given && args->value.constants == 1 ? 1 : 0; /* the book has no other */
    if (!given || strcmp(given, "auto") == 0)
        return true;
    if (!sp_parse_number(given, &micro) || micro < 1 || micro > 1e6 || micro != floor(micro))
        return sp_fail(error, SP_INPUT,
                       "--accumulate: \"%s\" is neither auto nor a number of "
                       "micro-batches from 1",
                       sp_safe(given));
    f->in.accumulate = (int64_t)micro;
    return true;
}

/* The frameworks of the machine, and the recipe of training state under them. */
static bool read_frameworks(const struct sp_args *args, const struct sp_sources *sources,
                            struct sp_fit_inputs *f, struct sp_error *error)
{
    f->in.hw = &f->hw;
    if (!sp_fit_frameworks_of(sources, &f->frameworks, &f->in, error))
        return false;
    return f->in.framework ? sp_recipe_under(args, sources, f->in.framework, &f->precision, error)
                           : sp_recipe_of(args, sources, &f->hw, &f->precision, error);
}

bool sp_load_fit(const struct sp_args *args, struct sp_fit_inputs *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (!sp_model_of(args, &sources, &f->model, error) ||
        !sp_hardware_of(args, &sources, &f->hw, error) ||
        !read_frameworks(args, &sources, f, error) ||
        !sp_batch_of(args, &f->model, &f->in.batch_tokens, &f->in.seq, &f->batch_origin, error))
        return false;
    const double axes = args->value.axes;
    f->only = args->value.strategy;
    f->in.model = &f->model;
    f->in.precision = &f->precision;
    f->in.remat = sp_remat_of(args);
    f->in.exact_groups = !sources.textbook;
    f->in.overlap = (enum sp_overlap)args->value.overlap;
    f->in.axes = isnan(axes) ? 0 : (int)axes;
    f->t = sp_fit_terms(&f->in);
    return read_accumulation(args, f, error);
}
