/* The trainings that a script starts. */
#ifndef SP_LAUNCH_TRAININGS_H
#define SP_LAUNCH_TRAININGS_H

#include "launch/fields/settings.h"

/* If a script starts several trainings that differ in a setting that decides the answer (rows of
 * `core`), leaves only the one that `file->recipe` counts (from 1), or fails and asks for it. */
bool sp_choose_training(struct sp_launch_file *file, const char *core);

#endif
