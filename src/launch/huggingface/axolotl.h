/* axolotl's names for settings of Hugging Face's Trainer. */
#ifndef SP_LAUNCH_AXOLOTL_H
#define SP_LAUNCH_AXOLOTL_H

#include "launch/fields/rows.h"

/* Whether settings are those of an axolotl YAML. */
bool sp_is_axolotl(const struct sp_settings *settings);

/* Gives such settings the Trainer's names; others are unchanged. False with an error. */
bool sp_spell_axolotl(struct sp_settings *settings);

#endif
