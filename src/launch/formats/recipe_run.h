/* The functions of a Python text, followed statement by statement. */
#ifndef SP_LAUNCH_RECIPE_RUN_H
#define SP_LAUNCH_RECIPE_RUN_H

#include "launch/formats/recipe_frame.h"

/* Follows a function called without arguments, as its decorators change it or not, or (-1) the
 * file's own statements: the return value, or else the object whose fields it set. */
struct sp_python_result sp_follow_recipe(struct sp_recipe_run *run, int def, bool decorated);

/* The same for the function that a statement "NAME = EXPRESSION" of the file makes; unknown if it
 * makes none. */
struct sp_python_result sp_follow_assigned(struct sp_recipe_run *run, int line);

#endif
