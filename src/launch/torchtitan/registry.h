/* torchtitan's fields as its Python has them. */
#ifndef SP_LAUNCH_TITAN_REGISTRY_H
#define SP_LAUNCH_TITAN_REGISTRY_H

#include "launch/fields/settings.h"

/* Gives fields of Trainer.Config the names of torchtitan's options: the model by its flavor, which
 * stands in the folder of the registry at `path`, and how layers are checkpointed. */
bool sp_spell_titan(const char *path, struct sp_settings *settings);

#endif
