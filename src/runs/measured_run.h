/* A measured run, as given to `step --measured`. */
#ifndef SP_MEASURED_RUN_H
#define SP_MEASURED_RUN_H

#include <scaleplan/estimate.h>

#include "base/error.h"

/* A measured run; NAN: not measured. Its speed is a step time, rate, MFU or FLOP/s;
 * sp_step_of_measured converts it to a step time. */
struct sp_measured_run {
    double step_s, memory_bytes;
    double tokens_per_s, tokens_per_s_per_device, mfu, tflops_per_device;
};

/* => 16 */
bool sp_read_measured(const char *text, struct sp_measured_run *measured, struct sp_error *error);

/* Sets the step time from another measure of speed; MFU and TFLOP/s by the estimate's
 * convention. */
void sp_step_of_measured(const struct sp_estimate *estimate, struct sp_measured_run *measured);

/* The level of memory closest to a measured peak. */
enum sp_memory_level sp_nearest_level(const struct sp_stage_memory *memory, double bytes);

#endif
