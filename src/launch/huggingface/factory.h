/* LLaMA-Factory's newer YAML (v1) by the names of Hugging Face's Trainer. */
#ifndef SP_LAUNCH_FACTORY_H
#define SP_LAUNCH_FACTORY_H

#include "launch/fields/settings.h"

/* Whether settings are of that form. */
bool sp_is_factory(const struct sp_settings *settings);

/* Gives them the Trainer's names, with the defaults of that form; others are left as they are.
 * `devices`: of the machine, 0 where it is not known. */
bool sp_spell_factory(struct sp_settings *settings, int64_t devices);

#endif
