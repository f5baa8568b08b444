/* Models and recipes as frameworks name them. */
#ifndef SP_LAUNCH_MODELS_H
#define SP_LAUNCH_MODELS_H

#include "launch/launch.h"

/* Whether the model is the one that ships under its name: same dimensions, same parameters. */
bool sp_ships_model(const struct sp_launched *launched);

/* Whether the recipe is the one that ships under its name: the same bytes and format. */
bool sp_ships_precision(const struct sp_launched *launched);

#endif
