/* A measured run, as given to `step --measured`. */
#include "runs/measured_run.h"

#include <math.h>
#include <stddef.h>

#include "base/list.h"
#include "base/number.h"
#include "runs/run_estimate.h"

/* Keys of --measured and their names in the report. */
static const struct {
    const char *name;
    size_t offset;
    bool speed;
} measurements[] = {
    {"step", offsetof(struct sp_measured_run, step_s), true},
    {"memory", offsetof(struct sp_measured_run, memory_bytes), false},
    {"mem", offsetof(struct sp_measured_run, memory_bytes), false}, /* its older name */
    {"tokens_per_s", offsetof(struct sp_measured_run, tokens_per_s), true},
    {"tokens_per_s_per_device", offsetof(struct sp_measured_run, tokens_per_s_per_device), true},
    {"mfu", offsetof(struct sp_measured_run, mfu), true},
    {"tflops", offsetof(struct sp_measured_run, tflops_per_device), true},
};

bool sp_read_measured(const char *text, struct sp_measured_run *m, struct sp_error *error)
{
    enum { N = sizeof measurements / sizeof *measurements };
    *m = (struct sp_measured_run){NAN, NAN, NAN, NAN, NAN, NAN};
    char part[256];
    int speeds = 0;
    while (text && sp_next_item(&text, part, sizeof part)) {
        char *const value = sp_cut_pair(part);
        size_t i = 0;
        while (i < N && !sp_is_named(part, measurements[i].name))
            i++;
        double *const into = i < N ? (double *)(void *)((char *)m + measurements[i].offset) : NULL;
        if (!into || !value || !sp_parse_number(value, into) || !(*into > 0 && *into < 1e18))
            return sp_fail(error, SP_INPUT,
                           "--measured: \"%s%s%s\": expected step=SECONDS, tokens_per_s=, "
                           "tokens_per_s_per_device=, mfu=, tflops= or memory=BYTES, such as "
                           "step=12.3s,memory=71GiB",
                           sp_safe(part), value ? "=" : "", value ? sp_safe(value) : "");
        speeds += measurements[i].speed;
    }
    return speeds <= 1 || sp_fail(error, SP_INPUT,
                                  "--measured: give only one of step, tokens_per_s, "
                                  "tokens_per_s_per_device, mfu and tflops");
}

void sp_step_of_measured(const struct sp_estimate *e, struct sp_measured_run *m)
{
    const double given[] = {m->tokens_per_s, m->tokens_per_s_per_device, m->mfu,
                            m->tflops_per_device};
    const double estimated[] = {e->rates.tokens_per_s, e->rates.tokens_per_s_per_device,
                                e->rates.mfu, e->rates.flops_per_s_per_device / 1e12};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i] > 0)
            m->step_s = e->time.step * estimated[i] / given[i];
}

enum sp_memory_level sp_nearest_level(const struct sp_stage_memory *m, double bytes)
{
    enum sp_memory_level nearest = SP_LIVE;
    for (enum sp_memory_level i = SP_RESERVED; i <= SP_DEVICE; i++)
        if (fabs(sp_bytes_at_level(m, i) - bytes) < fabs(sp_bytes_at_level(m, nearest) - bytes))
            nearest = i;
    return nearest;
}
