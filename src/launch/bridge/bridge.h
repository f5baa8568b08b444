/* What reading and writing of Megatron-Bridge's ConfigContainer share. */
#ifndef SP_LAUNCH_BRIDGE_H
#define SP_LAUNCH_BRIDGE_H

#include "launch/fields/settings.h"

/* `gives` of a value that is a list of words, and of one that may be a pattern of layers. */
#define SP_BRIDGE_LIST "[]"
#define SP_BRIDGE_LAYERS "[0, 1]"

/* Where an argument of Megatron-LM stands: "section.field", NULL where the configuration has none.
 * `gives` is the field's value of an argument that has none of its own; NULL: the argument's own. A
 * flag behind "!" is one that is not given. `is_read`: the field stands for the argument; others
 * are written beside it. */
struct sp_bridge_path {
    const char *flag, *path, *gives;
    bool is_read;
};
extern const struct sp_bridge_path sp_bridge_paths[];
extern const size_t sp_bridge_path_count;

/* Whether a name is a field that only such a configuration has. */
bool sp_is_bridge_name(const char *name);

/* Spells names of a recipe in Python, "cfg.model.NAME", and of NeMo 2, "trainer.strategy.NAME", as
 * fields of a ConfigContainer; whether some were another tool's. */
bool sp_spell_bridge(struct sp_settings *settings);

/* Whether settings are those of a ConfigContainer, whole or in part. */
bool sp_is_bridge(const struct sp_settings *settings);

/* Adds to the arguments `to` what the configuration `from` says by other words, and where it says
 * nothing, what Megatron-Bridge takes: a remark says what that is of a recipe. */
bool sp_take_bridge(struct sp_settings *from, struct sp_settings *to, struct sp_launch *launch,
                    struct sp_error *error);

#endif
