/* Estimates a measured run. */
#include "runs/run_estimate.h"

void sp_estimate_run(const struct sp_run *run, const struct sp_profile *profile,
                     struct sp_estimate *estimate)
{
    struct sp_framework framework = run->framework.framework;
    struct sp_profile machine = *profile;
    sp_use_memory_factor(profile->memory_factor, &framework);
    sp_use_machine_factor(profile->machine_factor, &machine);
    const struct sp_step_inputs in = {&run->model, &run->hw, &run->precision, &framework, &machine,
                                      &run->plan,  NULL};
    sp_estimate(&in, SP_FLOPS_6P, NULL, estimate);
    if (run->stage >= 0)
        estimate->memory = estimate->stage[run->stage];
}

double sp_bytes_at_level(const struct sp_stage_memory *m, enum sp_memory_level level)
{
    const int64_t bytes[] = {m->live, m->reserved, m->device};
    return (double)bytes[level];
}
