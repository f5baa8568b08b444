/* Known shapes of about a size. */
#ifndef SP_STUDY_SHAPES_H
#define SP_STUDY_SHAPES_H

#include "config/load.h"

/* A language model whose tokens pass all of its parameters. */
struct sp_known_shape {
    char name[64];
    double params; /* as the law counts them, else all */
};

/* The shapes nearest in size (by the ratio) to a number of parameters, nearest first, users' models
 * among them; parameters counted as by `law`, or all where that is NULL. Returns how many of `most`
 * there are. --set is ignored: it is of one model. */
size_t sp_nearest_shapes(double params, const struct sp_scaling_law *law,
                         const struct sp_sources *sources, struct sp_known_shape *found,
                         size_t most);

/* Whether the layers of a model are known; else false with an error that names commands that need
 * less. */
bool sp_needs_layers(const struct sp_model *model, struct sp_error *error);

#endif
