/* A run that was measured, as `step --measured` says it. */
#ifndef SP_MEASURED_RUN_H
#define SP_MEASURED_RUN_H

#include <scaleplan/estimate.h>

#include "base/error.h"

/* A real run: NAN where it was not measured. Its speed is said as one of a step time, a rate, an
 * MFU or FLOP/s; sp_step_of_measured makes a step time of each. */
struct sp_measured_run {
    double step_s, memory_bytes;
    double tokens_per_s, tokens_per_s_per_device, mfu, tflops_per_device;
};

/* Parses "step=12.3s,mem=71GiB" or "tokens_per_s=4.1e5", "tokens_per_s_per_device=402", "mfu=41%",
 * "tflops=402" (a device); NULL: nothing measured. */
bool sp_read_measured(const char *text, struct sp_measured_run *measured, struct sp_error *error);

/* Fills the step time of a run that told another speed: the estimate's rates are inverse to its
 * step. MFU and TFLOP/s by the estimate's convention. */
void sp_step_of_measured(const struct sp_estimate *estimate, struct sp_measured_run *measured);

/* The level of memory that a measured peak is nearest to. */
enum sp_memory_level sp_nearest_level(const struct sp_stage_memory *memory, double bytes);

#endif
