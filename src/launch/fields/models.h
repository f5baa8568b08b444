/* Models and recipes as frameworks name them. */
#ifndef SP_LAUNCH_MODELS_H
#define SP_LAUNCH_MODELS_H

#include <scaleplan/formats.h>
#include <scaleplan/model.h>

/* Whether a model is the one that ships under its name: same dimensions, same parameters. */
bool sp_is_builtin_model(const struct sp_model *model);

/* Whether a recipe is the one that ships under its name: the same bytes and format. */
bool sp_is_builtin_precision(const struct sp_precision *recipe);

#endif
