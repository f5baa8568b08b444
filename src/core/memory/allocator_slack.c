/* Memory that an allocator reserves beyond live tensors, and that the runtime needs on top. */
#include <math.h>

#include <scaleplan/forms.h>

#include "core/memory/allocator_slack.h"

void sp_use_memory_factor(double memory_factor, struct sp_framework *framework)
{
    framework->reserved_factor = fmax(1, framework->reserved_factor * memory_factor);
}

void sp_add_allocator_slack(const struct sp_framework *framework, struct sp_stage_memory *m)
{
    m->reserved =
        sp_whole_bytes(sp_step_reserved_bytes((double)m->live, framework->reserved_factor));
    m->device = sp_whole_bytes(sp_step_device_bytes((double)m->reserved, framework->context_bytes));
}
