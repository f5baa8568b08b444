/* Explains the difference between a measured step and its estimate. */
#include "runs/gap.h"

#include <math.h>

/* The value of a constant that makes the estimate equal `step_s`; NAN if outside its bounds. */
static double explaining_value(const struct sp_step_inputs *inputs, int constant, double step_s)
{
    struct sp_profile profile = *inputs->profile;
    struct sp_step_inputs in = *inputs;
    in.profile = &profile;
    double low = log(sp_constants[constant].low), high = log(sp_constants[constant].high);
    profile.value[constant] = exp(low);
    const double at_low = sp_estimate_step(&in).step;
    profile.value[constant] = exp(high);
    const double at_high = sp_estimate_step(&in).step;
    if ((at_low - step_s) * (at_high - step_s) > 0 || at_low == at_high)
        return NAN;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        profile.value[constant] = exp(middle);
        if ((sp_estimate_step(&in).step < step_s) == (at_low < step_s))
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2);
}

struct sp_gap sp_gap_of(const struct sp_step_inputs *in, const struct sp_estimate *e, double step_s)
{
    struct sp_gap gap = {.gap_s = step_s - e->time.step,
                         .mfu = sp_measured_mfu(e->rates.mfu, e->time.step, step_s),
                         .in_range = step_s >= e->low_s && step_s <= e->high_s,
                         .constant = SP_CONSTANTS,
                         .value = NAN,
                         .strain = INFINITY};
    for (int i = 0; i < SP_CONSTANTS; i++) {
        const double value = explaining_value(in, i, step_s);
        const double strain = fabs(log(value / in->profile->value[i])) / sp_constants[i].spread;
        if (strain < gap.strain) {
            gap.strain = strain;
            gap.constant = i;
            gap.value = value;
        }
    }
    return gap;
}
