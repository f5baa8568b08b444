/* Whether a step is healthy: how much of it goes into communication, and how busy the devices are.
 */
#ifndef SCALEPLAN_HEALTH_H
#define SCALEPLAN_HEALTH_H

#include <stdbool.h>

#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The usual rules of thumb: communication takes less than this share of a step, and devices are
 * busy for more than that one. Training-at-scale notes, "Monitoring". */
extern const double sp_healthy_comm_share, sp_healthy_busy_share;

struct sp_health {
    double comm_s;     /* exposed: what tensor, context, expert, data and pipeline parallelism wait
                          for */
    double comm_share; /* of the step */
    double idle_s;     /* the device runs nothing: bubble, launches, copies to and from the host */
    double busy_share; /* of the step; a kernel that waits in a collective counts as busy, as in
                          nvidia-smi */
    bool comm_ok, busy_ok, healthy;
};

/* The health of a step by its components. Shares are NAN for a step of no time. */
struct sp_health sp_health_of(const struct sp_step_time *time);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
