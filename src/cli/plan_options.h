/* A plan from the command line: what is given, what is inferred. */
#ifndef SP_PLAN_OPTIONS_H
#define SP_PLAN_OPTIONS_H

#include <scaleplan/names.h>

#include "cli/command.h"
#include "study/planned.h"

/* What runs plans, for sp_base_of: a framework, its recipe of training state, calibrated constants.
 * And all that makes a plan, for sp_plan_of; a row stands for the options that describe the plan
 * itself (sp_plan_fields). */
/* clang-format off */
#define SP_OPTIONS_STACK \
    SP_TAKE(framework), \
    SP_OPTION_RECIPE, \
    SP_TAKE(profile)
#define SP_OPTIONS_PLANNED \
    SP_OPTIONS_MODEL, SP_OPTIONS_MACHINE, SP_OPTIONS_BATCH, {.id = SP_EACH_FIELD}, SP_OPTIONS_STACK
/* clang-format on */

/* Loads model, machine, framework, precision, profile, and makes the plan. What does not fit
 * together is an error that names the numbers. */
bool sp_plan_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Loads what a plan stands on: model, machine, framework, precision, profile, batch and sequence,
 * for `search` (whose plan has `seq`, `batch` and `dtype` set). */
bool sp_base_of(const struct sp_args *args, const struct sp_sources *sources,
                struct sp_planned *planned, struct sp_error *error);

/* Makes the plan on what sp_base_of loaded. */
bool sp_plan_on(const struct sp_args *args, struct sp_planned *planned, struct sp_error *error);

/* Says that a batch of tokens was rounded to sequences that replicas share, where it was. */
void sp_note_batch(struct sp_report *report, const struct sp_planned *planned);

#endif
