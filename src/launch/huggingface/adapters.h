/* Adapters and frozen weights, as launches set them. */
#ifndef SP_LAUNCH_ADAPTERS_H
#define SP_LAUNCH_ADAPTERS_H

#include "launch/fields/settings.h"

/* Adapters of a launch: their rank (0: not given), the adapted modules (names separated by blanks
 * or commas; NULL or empty: not given), the default if none is given, and the format of the frozen
 * weights (NULL: 16 bits), as in --base-format. */
struct sp_adapters {
    int64_t rank, usual_rank;
    const char *modules, *usual_targets;
    const char *base;
    bool of_matrices; /* PEFT's: not of the experts that a model holds in one tensor */
};

/* Puts them as options of `step`; a remark if a module is unknown, or stands for only some
 * layers. */
void sp_launch_adapters(const struct sp_settings *settings, const struct sp_adapters *adapters);

/* Adapters by the names that Hugging Face's tools have for them (PEFT and TRL, LLaMA-Factory,
 * axolotl, DeepSpeed-Chat), and whether the settings ask for some. */
bool sp_read_adapters(struct sp_settings *settings);

/* Remarks on other settings of adapters. */
void sp_note_adapters(struct sp_settings *settings);

/* The model's name on Hugging Face's hub (NULL: none), or why it has none. */
void sp_read_hub_model(const struct sp_settings *settings, const char *name,
                       const struct sp_sources *sources);

/* The frozen model that preference training (DPO) compares with the trained one: the trained
 * model's own base without adapters, or a copy in the host's memory. */
void sp_launch_reference(const struct sp_settings *settings, bool adapted, bool away);

#endif
