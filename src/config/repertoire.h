/* What a framework runs on a machine, by its file. */
#ifndef SP_REPERTOIRE_H
#define SP_REPERTOIRE_H

#include <scaleplan/search.h>

#include "config/load.h"

/* Schedules, policies, ZeRO stages and dispatchers that the file lists; an empty list has all. */
struct sp_repertoire sp_framework_repertoire(const struct sp_framework_file *framework,
                                             const struct sp_hardware *hw);

#endif
