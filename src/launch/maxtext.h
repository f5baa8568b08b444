/* What reading and writing of MaxText's options share. Keys: MaxText/configs/base.yml. */
#ifndef SP_LAUNCH_MAXTEXT_H
#define SP_LAUNCH_MAXTEXT_H

#include <stddef.h>

#include "launch/settings.h"

/* Models that it has a configuration of (MaxText/configs/models), by their names here and there. */
enum { SP_MAXTEXT_MODELS = 30 };
extern const char *const sp_maxtext_models[SP_MAXTEXT_MODELS][2];

/* Dimensions of a model that MaxText has no configuration of, and what base.yml has for them. */
struct sp_maxtext_dimension {
    const char *key, *field;
    size_t offset; /* in struct sp_model */
    int64_t otherwise;
};
enum { SP_MAXTEXT_DIMENSIONS = 7 };
extern const struct sp_maxtext_dimension sp_maxtext_dimensions[SP_MAXTEXT_DIMENSIONS];

/* MaxText's recompute policies; `exact`: as the policy here, and not only near it. */
struct sp_maxtext_policy {
    const char *name, *remat;
    bool offload, exact;
};
enum { SP_MAXTEXT_POLICIES = 11 };
extern const struct sp_maxtext_policy sp_maxtext_policies[SP_MAXTEXT_POLICIES];

/* Options of base.yml that change neither memory nor time, names parted by blanks. */
extern const char sp_maxtext_quiet[];

/* Formats, optimizer, what is recomputed or kept elsewhere. */
void sp_read_maxtext_states(struct sp_settings *settings, struct sp_launch *launch,
                            struct sp_error *error);

/* The model: of its name, with the dimensions that override_model_config puts over it; or one of
 * dimensions alone, times global_parameter_scale. */
void sp_read_maxtext_model(struct sp_settings *settings, struct sp_launch *launch,
                           struct sp_error *error);

/* The launch's model as far as the file tells; NULL where it does not. */
const struct sp_model *sp_maxtext_model(const struct sp_sources *sources,
                                        const struct sp_launch *launch);

/* Devices that JAX sees on a chip. */
int64_t sp_jax_devices_of(const struct sp_hardware *hw);

/* Degrees of a plan that its mesh makes. */
enum sp_maxtext_degree { TENSOR, CONTEXT, EXPERT, PIPELINE, FSDP, DATA, DEGREES };

/* The mesh of the options, in chips, as degrees and as options of `step`. Where the machine is
 * known (`hw` is not NULL), the mesh must be all of it. */
bool sp_read_mesh(struct sp_settings *s, const struct sp_hardware *hw, int64_t jax_devices,
                  double degree[DEGREES], struct sp_launch *launch, struct sp_error *error);

/* A plan as its options, for sp_target_maxtext. */
void sp_write_maxtext(const struct sp_launched *launched, struct sp_written *lost, FILE *out);

/* What MaxText itself refuses in its options, for that model (NULL: not known). */
void sp_check_maxtext(const struct sp_settings *settings, const struct sp_model *model,
                      struct sp_refusals *refused);

#endif
