/* Models and recipes as frameworks name them. */
#ifndef SP_LAUNCH_MODELS_H
#define SP_LAUNCH_MODELS_H

#include "launch/launch.h"

/* Whether the model equals the built-in one of its name: same dimensions, same parameters. */
bool sp_ships_model(const struct sp_launched *launched);

/* Whether the recipe equals the built-in one of its name: same bytes and format. */
bool sp_ships_precision(const struct sp_launched *launched);

#endif
