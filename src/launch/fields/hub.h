/* Models by their names on Hugging Face's hub. */
#ifndef SP_LAUNCH_HUB_H
#define SP_LAUNCH_HUB_H

#include "launch/launch.h"

/* The name here of a model of the hub, or of its folder (NULL: none); false if there is none. */
bool sp_find_hub_model(const char *given, const struct sp_sources *sources, char *out, size_t size);

#endif
