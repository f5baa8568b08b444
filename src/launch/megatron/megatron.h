/* Shared by reading and writing Megatron-LM's arguments. Flags: megatron/training/arguments.py
 * and the fields of TransformerConfig, ModelParallelConfig and TrainingConfig, Megatron-LM 0.20. */
#ifndef SP_LAUNCH_MEGATRON_H
#define SP_LAUNCH_MEGATRON_H

#include "launch/fields/rules.h"
#include "launch/shell/flags.h"

/* Whether a name of a YAML file, or of a dotted word, is one of Megatron's own. */
bool sp_is_megatron_name(const char *name);

/* Takes settings of such a file as flags. */
bool sp_read_megatron_yaml(struct sp_launch_words *const words[], struct sp_settings *from,
                           struct sp_settings *to);

/* Adds slime's own settings to its arguments, if they are slime's, for a number of replicas (0: not
 * known). */
bool sp_spell_slime(const struct sp_launch_file *file, struct sp_settings *settings,
                    int64_t replicas);

/* Whether a file's program is ms-swift's over Megatron-LM; and the flags of such a launch, by
 * Megatron-LM's names, with its defaults. */
bool sp_is_megatron_swift(const struct sp_launch_file *file);
bool sp_read_megatron_swift(struct sp_launch_file *file);

/* Counts a sample of preferences as the two sequences that it is (false: a kind of training that is
 * not supported); and the reference, if its loss has one. */
bool sp_spell_preferences(const struct sp_launch_file *file, struct sp_settings *settings);
void sp_read_preferences(const struct sp_launch_file *file, struct sp_settings *settings,
                         bool adapted);

/* Formats and states: the precision, the changes that the arguments make to it, the optimizer. */
void sp_read_megatron_states(struct sp_settings *settings);

/* The model's shape as an option, where the arguments hold one. */
void sp_read_megatron_model(struct sp_settings *settings);

/* Adds the layers with experts by --moe-layer-freq to a shape: a number (one layer in every n) or a
 * list such as "([0]*2+[1]*2)*3"; a remark where the order of layers is not kept. */
void sp_read_moe_layers(struct sp_settings *settings, char *shape, size_t size);

/* The layers of a list such as "'[0]*3+[1]*58'" as "0 0 0 1 ...", within `size`; false: not such a
 * list, or too long. */
bool sp_list_moe_layers(const char *text, char *out, size_t size);

/* Recomputed modules, by a setting that lists them: as a policy where it is one, else module by
 * module, with a remark where a word is not modelled. */
void sp_read_recompute_modules(struct sp_settings *settings, const char *name);

/* Recomputation, with `chunks` stages times chunks in all, and offload to host memory. */
void sp_read_recompute(struct sp_settings *settings, int64_t chunks);
void sp_read_offload(struct sp_settings *settings);
void sp_read_optimizer_offload(struct sp_settings *settings, const char *on, const char *fraction,
                               double usual);

/* The same for a plan: the arguments made in code, and the losses. */
void sp_make_recompute(const struct sp_launched *launched, struct sp_settings *made);
void sp_lose_recompute(const struct sp_launched *launched);

/* The exchange of experts, CUDA graphs, the scaling of 8-bit matmuls, offloaded layers; and the
 * same when written: the arguments made by code. */
void sp_read_execution(struct sp_settings *settings);
void sp_make_execution(const struct sp_launched *launched, struct sp_settings *made);

/* The framework by --tp-comm-overlap and what an export assumed; and whether a plan has the flag.
 */
void sp_read_tp_overlap(struct sp_settings *settings, struct sp_settings *assumed);
bool sp_overlaps_tp(const struct sp_launched *launched);

/* A plan as settings: arguments of the newest version; parts that no argument expresses are
 * lost. */
void sp_put_megatron(const struct sp_launched *launched, struct sp_settings *settings);

/* Comments of a written plan: its assumptions, and environment variables that Megatron-LM
 * checks. */
void sp_write_megatron_comments(const struct sp_launched *launched, FILE *out);

/* A plan as its arguments, for sp_target_megatron. */
void sp_write_megatron(const struct sp_launched *launched, FILE *out);

#endif
