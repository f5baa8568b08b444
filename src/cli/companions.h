/* Models that only run forward alongside the trained one, from the command line. */
#ifndef SP_CLI_COMPANIONS_H
#define SP_CLI_COMPANIONS_H

#include "cli/command.h"

#include <scaleplan/estimate.h>

/* clang-format off */
#define SP_OPTIONS_COMPANIONS \
    SP_TAKE(reference), \
    SP_TAKE(teacher), \
    SP_TAKE(teacher_top_k, .needs = SP_THESE(SP_O_teacher))
/* clang-format on */

/* Loads --reference and --teacher for a model, whose tuning then points to `beside`, in a command
 * that has these options; `hw` NULL: no machine decides whether they can be offloaded. */
bool sp_take_companions(const struct sp_args *args, const struct sp_sources *sources,
                        const struct sp_hardware *hw, struct sp_model *model,
                        struct sp_companions *companions, struct sp_error *error);

/* Whether the plan fits each of them. */
bool sp_check_companions(const struct sp_companions *companions, const struct sp_plan *plan,
                         const struct sp_hardware *hw, struct sp_error *error);

/* Puts their costs; nothing if there are none. */
void sp_put_companions(struct sp_report *report, const struct sp_args *args,
                       const struct sp_companions *companions, const struct sp_plan *plan,
                       const struct sp_estimate *estimate);

/* The same for closed forms: their names, FLOPs per token, and `bytes` per device unless that is
 * NULL. */
void sp_put_companion_work(struct sp_report *report, const struct sp_args *args,
                           const struct sp_companions *companions,
                           const double bytes[SP_COMPANION_ROLES]);

#endif
