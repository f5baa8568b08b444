/* Shared by reading and writing MaxText's options. Keys: MaxText/configs/base.yml. */
#ifndef SP_LAUNCH_MAXTEXT_H
#define SP_LAUNCH_MAXTEXT_H

#include "launch/fields/rules.h"

/* Formats, optimizer, and the recomputed or offloaded tensors. */
void sp_read_maxtext_states(struct sp_settings *settings);

/* remat_policy custom: the tensors of a layer that the options keep. */
void sp_read_custom(struct sp_settings *settings);

/* Whether remat_policy custom can express what the plan recomputes and moves to the host. */
bool sp_custom_names(const struct sp_launched *launched);

/* The same for a plan that keeps some tensors in host memory. */
void sp_make_custom(const struct sp_launched *launched, struct sp_settings *settings);

/* The model: the named one, with the dimensions that override_model_config changes; or one given
 * only by its dimensions, times global_parameter_scale. */
void sp_read_maxtext_model(struct sp_settings *settings);

/* Loads the launch's model as far as the file determines it; NULL if it does not, else `model`. */
const struct sp_model *sp_maxtext_model(const struct sp_sources *sources,
                                        const struct sp_launch *launch, struct sp_model *model);

/* Devices that JAX sees on a chip. */
int64_t sp_jax_devices_of(const struct sp_hardware *hw);

/* Degrees of a plan that its mesh makes. */
enum sp_maxtext_degree { TENSOR, CONTEXT, EXPERT, PIPELINE, FSDP, DATA, DEGREES };

/* Puts the options that a file overrides (`base_config`, or the YAML that a command names) before
 * its own, if that lies beside `origin`; a remark if it does not. */
bool sp_follow_maxtext(const char *origin, struct sp_settings *settings);

/* The effect of sharding rules other than base.yml's: whether the weights of layers are split
 * over ranks of experts and of a sequence. */
struct sp_maxtext_rules {
    bool experts_shard, context_shards;
};

/* Reads the rules for the axes that a mesh uses (`used`: names separated by blanks); an error if
 * they give one of those another meaning than base.yml. */
bool sp_read_rules(struct sp_settings *settings, const char *used, struct sp_maxtext_rules *rules);

/* The mesh of the options, in chips, as degrees and as options of `step`, with its rules. Where the
 * machine is known (`hw` is not NULL), the mesh must be all of it. */
bool sp_read_mesh(struct sp_settings *s, const struct sp_hardware *hw, int64_t jax_devices,
                  double degree[DEGREES], struct sp_maxtext_rules *rules);

/* Writes a plan as MaxText's options, for sp_target_maxtext. */
void sp_write_maxtext(const struct sp_launched *launched, FILE *out);

#endif
