/* Layers of a plan's pipeline stages, as launch files state them. */
#ifndef SP_LAUNCH_STAGES_H
#define SP_LAUNCH_STAGES_H

#include "launch/launch.h"

/* Layers of each stage of a framework that splits evenly. */
void sp_count_stages(const struct sp_launched *launched, int64_t layers[SP_MAX_STAGES]);

#endif
