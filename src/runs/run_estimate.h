/* The estimate of a measured run. */
#ifndef SP_RUN_ESTIMATE_H
#define SP_RUN_ESTIMATE_H

#include <scaleplan/estimate.h>

#include "runs/runs.h"

/* Estimates a run that has no problem, with a profile and its memory factor. */
void sp_estimate_run(const struct sp_run *run, const struct sp_profile *profile,
                     struct sp_estimate *estimate);

/* Bytes counted at a memory level below SP_CLOSED_FORM. */
double sp_bytes_at_level(const struct sp_stage_memory *memory, enum sp_memory_level level);

#endif
