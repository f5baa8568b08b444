/* The components of a step's time. */
#include "answer/time_parts.h"

/* clang-format off */
#define PART(id, name) {SP_Q_STEP_T_##id, #name, offsetof(struct sp_step_time, name)}
const struct sp_time_part sp_time_parts[SP_TIME_PARTS] = {
    PART(MATMUL, matmul),
    PART(ATTENTION, attention),
    PART(ELEMENTWISE, elementwise),
    PART(RECOMPUTE, recompute),
    PART(LAUNCH, launch),
    PART(OFFLOAD, offload),
    PART(TP, tp_comm),
    PART(CP, cp_comm),
    PART(EP, ep_comm),
    PART(DP, dp_comm),
    PART(PP, pp_comm),
    PART(BUBBLE, bubble),
    PART(OPTIMIZER, optimizer),
    PART(STRAGGLER, straggler),
};
#undef PART
/* clang-format on */

double sp_time_part(const struct sp_step_time *time, size_t i)
{
    return *(const double *)(const void *)((const char *)time + sp_time_parts[i].offset);
}

size_t sp_most_time_beside_matmuls(const struct sp_step_time *time)
{
    size_t most = 1;
    for (size_t i = 2; i < SP_TIME_PARTS; i++)
        if (sp_time_part(time, i) > sp_time_part(time, most))
            most = i;
    return most;
}
