/* Memory that an allocator reserves beyond live tensors, and that the runtime needs on top. */
#ifndef SP_ALLOCATOR_SLACK_H
#define SP_ALLOCATOR_SLACK_H

#include <scaleplan/memory.h>

#include "core/smooth.h"

/* Non-negative bytes as a saturated integer, so that sums cannot overflow. */
static inline int64_t sp_whole_bytes(double bytes)
{
    return (int64_t)(sp_smaller(bytes, SP_MOST_BYTES) + 0.5);
}

/* Sets the memory reserved for the live bytes of a stage, and the memory in use on the device. */
void sp_add_allocator_slack(const struct sp_framework *framework, struct sp_stage_memory *memory);

#endif
