/* axolotl's names of what Hugging Face's Trainer has. */
#ifndef SP_LAUNCH_AXOLOTL_H
#define SP_LAUNCH_AXOLOTL_H

#include "launch/fields/rows.h"

/* Whether settings are those of an axolotl YAML. */
bool sp_is_axolotl(const struct sp_settings *settings);

/* Names such settings as the Trainer does; others stay. False with an error. */
bool sp_spell_axolotl(struct sp_settings *settings);

#endif
