/* Requirements on the stage sizes of a valid plan. */
#ifndef SP_STAGES_H
#define SP_STAGES_H

#include <scaleplan/plan.h>

/* Whether stages at the ends with given sizes leave a layer for each of the others. */
bool sp_ends_leave_layers(int64_t layers, const struct sp_plan *plan);

/* Whether a plan's explicit stages, if any, number pp and have all layers, with at least one for
 * each stage between the ends. */
bool sp_own_stages_fit(const struct sp_model *model, const struct sp_plan *plan);

/* The kind of a stage with the layers from `from` to before `until`, at an end of the model or
 * not. */
void sp_kind_between(const struct sp_model *model, int64_t from, int64_t until, bool first,
                     bool last, struct sp_stage_kind *kind);

/* The same stage where modules for further tokens are on the stage before the last: `here`. */
void sp_put_modules_apart(const struct sp_model *model, bool here, struct sp_stage_kind *kind);

/* From this layer on, all layers have one kind and are trained alike; the encoder is before
 * them. */
int64_t sp_alike_from(const struct sp_model *model);

#endif
