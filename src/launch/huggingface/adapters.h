/* Adapters and frozen weights, as launches set them. */
#ifndef SP_LAUNCH_ADAPTERS_H
#define SP_LAUNCH_ADAPTERS_H

#include "launch/fields/settings.h"

/* Adapters of a launch: their rank (0: not given), the modules that have one (names parted by
 * blanks or commas; NULL or empty: not given), what is taken for each if none is given, and the
 * format of the frozen weights (NULL: 16 bits), as --base-format has it. */
struct sp_adapters {
    int64_t rank, usual_rank;
    const char *modules, *usual_targets;
    const char *base;
    bool of_matrices; /* PEFT's: not of the experts that a model holds in one tensor */
};

/* Puts them as options of `step`; a remark where a module is none that is known, or stands for some
 * layers alone. */
void sp_launch_adapters(const struct sp_settings *settings, const struct sp_adapters *adapters);

/* Adapters by the names that Hugging Face's tools have for them (PEFT and TRL, LLaMA-Factory,
 * axolotl, DeepSpeed-Chat), and whether the settings ask for some. */
bool sp_read_adapters(struct sp_settings *settings);

/* Remarks on what else such settings say of adapters. */
void sp_note_adapters(struct sp_settings *settings);

/* The model's name on Hugging Face's hub (NULL: none), or why it has none. */
void sp_read_hub_model(const struct sp_settings *settings, const char *name,
                       const struct sp_sources *sources);

/* The frozen model that preference training (DPO) asks beside the trained one, which it is itself:
 * the base of its adapters, in the host's memory, or a copy. */
void sp_launch_reference(const struct sp_settings *settings, bool adapted, bool away);

#endif
