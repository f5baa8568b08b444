/* Reads the measurements of a row. */
#include <math.h>
#include <string.h>

#include <scaleplan/flops.h>

#include "runs/runs_internal.h"

/* Shortest step in s: no step is shorter than a launch. */
#define LEAST 1e-6

/* Step time from tokens/s, total or per device; NAN: not stated. */
static double step_of_tokens(struct sp_row_reader *r)
{
    const double tokens = (double)r->run->plan.batch * (double)r->run->plan.seq;
    const double each = sp_row_number(r, "measured_tokens_per_s_per_device", LEAST, 1e12);
    const double all = sp_row_number(r, "measured_tokens_per_s", LEAST, 1e18);
    if (each > 0)
        return tokens / (each * (double)sp_chips(&r->run->hw));
    return all > 0 ? tokens / all : NAN;
}

/* Step time from model FLOP/s, or from MFU on the chip's peak or the row's own; NAN: not stated or
 * unknown convention. */
static double step_of_flops(struct sp_row_reader *r)
{
    const struct sp_run *const run = r->run;
    const struct sp_plan *const p = &run->plan;
    const double rate = 1e12 * sp_row_number(r, "measured_tflops_per_device", LEAST, 1e6);
    const double mfu = sp_row_number(r, "measured_mfu", LEAST, 1);
    const double stated = 1e12 * sp_row_number(r, "mfu_peak_used", LEAST, 1e6);
    const double peak =
        stated > 0 ? stated
                   : run->hw.chip.peak_flops_per_s[sp_compute_dtype(&run->hw.chip, p->dtype)];
    const double each = rate > 0 ? rate : mfu * peak;
    const int convention = sp_row_convention(r);
    if (!(each > 0) || convention < 0)
        return NAN;
    return sp_model_flops(&run->model, (double)p->batch * (double)p->seq, (double)p->seq,
                          (enum sp_flop_convention)convention) /
           (each * (double)sp_chips(&run->hw));
}

void sp_read_row_measurement(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    const double gb = sp_row_number(r, "measured_peak_mem_gb", LEAST, 1e9);
    const double gib = sp_row_number(r, "memory_gib", LEAST, 1e9);
    const double memory = gb > 0 ? gb * 1e9 : gib * 0x1p30;
    /* the most direct measurement takes precedence */
    const double steps[] = {sp_row_number(r, "measured_step_s", LEAST, 1e9), step_of_tokens(r),
                            sp_row_number(r, "derived_step_s", LEAST, 1e9), step_of_flops(r)};
    for (size_t i = sizeof steps / sizeof *steps; i-- > 0;)
        if (steps[i] > 0)
            run->step_s = steps[i];
    run->level = sp_row_level(r);
    run->stage = sp_row_stage(r, run->plan.pp);
    run->memory_bytes = memory > 0 ? memory : NAN;
    if (strncmp(run->scoring, "memory only", 11) == 0)
        run->step_s = NAN;
    run->scored = run->scoring[0] == '\0' || strncmp(run->scoring, "yes", 3) == 0 ||
                  strncmp(run->scoring, "memory only", 11) == 0;
}
