/* What a valid plan asks of the sizes of its stages. */
#ifndef SP_STAGES_H
#define SP_STAGES_H

#include <scaleplan/plan.h>

/* Whether stages at the ends that have sizes of their own leave a layer for each of the others. */
bool sp_ends_leave_layers(int64_t layers, const struct sp_plan *plan);

#endif
