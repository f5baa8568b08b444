/* The abilities of a framework on a machine, from its file. */
#ifndef SP_REPERTOIRE_H
#define SP_REPERTOIRE_H

#include <scaleplan/search.h>

#include "config/load.h"

/* The schedules, policies, ZeRO stages, dispatchers and kinds of CP in the file; an empty list
 * allows all. */
struct sp_repertoire sp_framework_repertoire(const struct sp_framework_file *framework,
                                             const struct sp_hardware *hw);

/* Leaves out the kinds of CP that the framework refuses for that model on that machine. */
void sp_narrow_contexts(const struct sp_framework_file *framework, const struct sp_hardware *hw,
                        const struct sp_model *model, struct sp_repertoire *runs);

/* Applies its rules for tensors in host memory: which can only be moved together with others; and
 * leaves out those that layers of that model do not have. */
void sp_narrow_offload(const struct sp_framework_file *framework, const struct sp_model *model,
                       struct sp_repertoire *runs);

#endif
