/* What a framework supports on a machine, from its file. */
#ifndef SP_REPERTOIRE_H
#define SP_REPERTOIRE_H

#include <scaleplan/search.h>

#include "config/load.h"

/* The schedules, policies, ZeRO stages, dispatchers and kinds of CP in the file; an empty list
 * allows all. */
struct sp_repertoire sp_framework_repertoire(const struct sp_framework_file *framework,
                                             const struct sp_hardware *hw);

#endif
