/* Shared by reading and writing Megatron-Bridge's ConfigContainer. */
#ifndef SP_LAUNCH_BRIDGE_H
#define SP_LAUNCH_BRIDGE_H

#include "launch/fields/rows.h"
#include "launch/shell/commands.h"

/* Whether a name is a field that only such a configuration has. */
bool sp_is_bridge_name(const char *name);

/* Spells names of a recipe in Python, "cfg.model.NAME", and of NeMo 2, "trainer.strategy.NAME", as
 * fields of a ConfigContainer; whether some were another tool's. */
bool sp_spell_bridge(struct sp_settings *settings);

/* Whether settings are those of a ConfigContainer, whole or in part. */
bool sp_is_bridge(const struct sp_settings *settings);

/* Adds to the arguments `to` the settings that the configuration `from` has under other names
 * and, where it has none, Megatron-Bridge's defaults: a remark names the part that comes from a
 * recipe. */
bool sp_take_bridge(struct sp_settings *from, struct sp_settings *to);

/* Whether a word is Megatron-Bridge's program that runs a recipe. */
bool sp_starts_recipe(const char *word);

/* Takes the options of the first command that runs a recipe, as fields; a recipe of adapters by its
 * name is unread. */
bool sp_take_recipe_flags(const struct sp_script *script, struct sp_settings *to);

#endif
