/* What reading and writing of Megatron-LM's arguments share. Flags: megatron/training/arguments.py
 * and the fields of TransformerConfig, ModelParallelConfig and TrainingConfig, Megatron-LM 0.20. */
#ifndef SP_LAUNCH_MEGATRON_H
#define SP_LAUNCH_MEGATRON_H

#include <stddef.h>

#include "launch/shell.h"

/* A whole number of a plan: its flag, the option of `step`, its place in struct sp_plan. */
struct sp_degree_flag {
    const char *flag, *option;
    size_t offset;
    bool always; /* written even where it is 1 */
};
enum { SP_DEGREE_FLAGS = 6 };
extern const struct sp_degree_flag sp_degree_flags[SP_DEGREE_FLAGS];

/* A whole number of a model's shape: its flag, the field of model files, its place in struct
 * sp_model. */
struct sp_shape_flag {
    const char *flag, *key;
    size_t offset;
};
enum { SP_SHAPE_FLAGS = 6, SP_MIXTURE_FLAGS = 3, SP_LATENT_FLAGS = 5 };
extern const struct sp_shape_flag sp_shape_flags[SP_SHAPE_FLAGS],
    sp_mixture_flags[SP_MIXTURE_FLAGS], sp_latent_flags[SP_LATENT_FLAGS];

/* --data-parallel-sharding-strategy of each ZeRO stage. */
extern const char *const sp_strategies[4];

/* --offload-modules of every layer; of experts there is more. */
extern const char sp_megatron_offloaded[];

/* Arguments without a value, and those that change neither memory nor time. */
extern const struct sp_flag_names sp_megatron_flags;
extern const char sp_megatron_quiet[];

/* Whether a name of a YAML file, or of a dotted word, is one of Megatron's own. */
bool sp_is_megatron_name(const char *name);

/* Takes settings of such a file as flags. */
bool sp_read_megatron_yaml(struct sp_settings *from, struct sp_settings *to,
                           struct sp_launch *launch, struct sp_error *error);

/* Adds what other spellings stand for behind them. */
bool sp_spell_megatron(struct sp_settings *settings, struct sp_error *error);

/* Adds what slime sets behind its arguments, where they are slime's. */
bool sp_spell_slime(struct sp_settings *settings, struct sp_launch *launch, struct sp_error *error);

/* Versions in the order of SP_VERSIONS_OF_megatron, the newest first. */
enum sp_core { SP_CORE_20, SP_CORE_19, SP_CORE_18, SP_CORE_17, SP_CORE_16, SP_CORE_15, SP_CORE_14 };

/* What Megatron-LM itself refuses in the arguments, which are spelled as the newest version does,
 * on this many devices (0: unknown). */
void sp_check_megatron(const struct sp_settings *settings, enum sp_core version, int64_t devices,
                       struct sp_refusals *refused);

/* Whether a list that blanks or commas divide has the word; a list of NULL has none. */
bool sp_has_word(const char *list, const char *word);

/* Formats and states: the precision, what of it the arguments change, the optimizer. */
void sp_read_megatron_states(struct sp_settings *settings, struct sp_launch *launch,
                             struct sp_error *error);

/* The model's shape as an option, where the arguments hold one. */
void sp_read_megatron_model(struct sp_settings *settings, struct sp_launch *launch,
                            struct sp_error *error);

/* Adds the layers with experts by --moe-layer-freq to a shape: a number, one layer in so many, or a
 * list such as "([0]*2+[1]*2)*3"; a remark where the order of layers is not kept. */
void sp_read_moe_layers(struct sp_settings *settings, char *shape, size_t size,
                        struct sp_launch *launch, struct sp_error *error);

/* The layers of a list such as "'[0]*3+[1]*58'" as "0 0 0 1 ...", within `size`; false: it is
 * none, or too long. */
bool sp_list_moe_layers(const char *text, char *out, size_t size);

/* --recompute-modules of selective recomputation: as a policy where it is one, else module by
 * module, with a remark where a word is not modelled. */
void sp_read_modules(struct sp_settings *settings, struct sp_launch *launch);

/* The exchange of experts, CUDA graphs, the scaling of 8-bit matmuls, offloaded layers. */
void sp_read_execution(struct sp_settings *settings, struct sp_launch *launch,
                       struct sp_error *error);

/* The same, written; first what Megatron-LM cannot say of it. */
void sp_write_modules(const struct sp_launched *launched, FILE *out);
void sp_lose_execution(const struct sp_launched *launched, struct sp_written *lost);
void sp_write_execution(const struct sp_launched *launched, FILE *out);

/* The name of a version, "0.20", by its place in SP_VERSIONS_OF_megatron. */
const char *sp_megatron_version(int version);

/* Spells arguments as that version does; a setting without a name is none. What it does not have is
 * lost. */
void sp_spell_for_version(struct sp_settings *settings, int version, struct sp_written *lost);

/* A plan as arguments of the newest version, as settings; what no argument says is lost. */
void sp_put_megatron(const struct sp_launched *launched, struct sp_settings *settings,
                     struct sp_written *lost);

/* Comments of a written plan: what is assumed, and variables of the environment that Megatron-LM's
 * checks look at. */
void sp_write_megatron_comments(const struct sp_launched *launched, FILE *out);

/* A plan as its arguments, for sp_target_megatron. */
void sp_write_megatron(const struct sp_launched *launched, struct sp_written *lost, FILE *out);

#endif
