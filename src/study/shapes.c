/* Known shapes of about a size. */
#include "study/shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nearest {
    double params;
    const struct sp_scaling_law *law;
    struct sp_sources sources;
    struct sp_known_shape *found;
    size_t n, most;
};

static double distance(const struct nearest *nearest, const struct sp_known_shape *shape)
{
    return fabs(log(shape->params / nearest->params));
}

/* Scaling laws and rules of thumb describe decoders without experts. */
static bool is_dense_decoder(const struct sp_model *m)
{
    return sp_model_has_shape(m) && m->vocab > 0 && m->moe.experts == 0 && m->encoder.layers == 0 &&
           !m->bidirectional && m->denoised == 0;
}

static void offer(const char *name, void *context)
{
    struct nearest *const nearest = context;
    struct sp_error ignored = {0};
    struct sp_known_shape shape;
    struct sp_model *const model = sp_load_config(SP_MODELS, name, &nearest->sources, &ignored);
    const bool fits = model && strlen(name) < sizeof shape.name && is_dense_decoder(model);
    if (fits) {
        snprintf(shape.name, sizeof shape.name, "%s", name);
        shape.params =
            nearest->law ? sp_params_of_law(nearest->law, model) : sp_count_params(model).total;
    }
    free(model);
    if (!fits)
        return;
    size_t at = nearest->n;
    while (at > 0 && distance(nearest, &shape) < distance(nearest, &nearest->found[at - 1]))
        at--;
    if (at == nearest->most)
        return;
    nearest->n += nearest->n < nearest->most;
    memmove(&nearest->found[at + 1], &nearest->found[at],
            (nearest->n - at - 1) * sizeof *nearest->found);
    nearest->found[at] = shape;
}

size_t sp_nearest_shapes(double params, const struct sp_scaling_law *law,
                         const struct sp_sources *sources, struct sp_known_shape *found,
                         size_t most)
{
    struct nearest nearest = {params, law, *sources, found, 0, most};
    nearest.sources.n_sets = 0;
    sp_each_config(SP_MODELS, sources, offer, &nearest);
    return nearest.n;
}

bool sp_needs_layers(const struct sp_model *model, struct sp_error *error)
{
    return sp_model_has_shape(model) ||
           sp_fail(error, SP_INPUT,
                   "%s: its layers are not known, but are needed here; `fit`, `batch` and `train` "
                   "count its %s by size",
                   model->name, sp_takes_pictures(model) ? "images" : "tokens");
}
