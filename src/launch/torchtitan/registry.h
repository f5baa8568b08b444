/* torchtitan's fields as its Python has them. */
#ifndef SP_LAUNCH_TITAN_REGISTRY_H
#define SP_LAUNCH_TITAN_REGISTRY_H

#include "launch/fields/settings.h"

/* Gives fields of Trainer.Config the names of torchtitan's options: the model by its flavor, which
 * is in the folder of the registry at `path`, and how layers are checkpointed. */
bool sp_spell_titan(const char *path, struct sp_settings *settings);

/* Asks for the micro-batch and the length if a missing file or function decides them. */
void sp_miss_titan_sizes(const struct sp_settings *settings, const char *name, const char *value);

#endif
