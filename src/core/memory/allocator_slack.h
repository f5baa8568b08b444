/* What an allocator reserves beyond live tensors, and the runtime holds beyond that. */
#ifndef SP_ALLOCATOR_SLACK_H
#define SP_ALLOCATOR_SLACK_H

#include <scaleplan/memory.h>

#include "core/smooth.h"

/* Non-negative bytes as a saturated integer, so that sums cannot overflow. */
static inline int64_t sp_whole_bytes(double bytes)
{
    return (int64_t)(sp_smaller(bytes, SP_MOST_BYTES) + 0.5);
}

/* Sets what is reserved for the live bytes of a stage, and what the device holds. */
void sp_add_allocator_slack(const struct sp_framework *framework, struct sp_stage_memory *memory);

#endif
