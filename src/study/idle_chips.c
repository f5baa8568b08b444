/* Chips that stay idle, by the closed forms. */
#include "study/idle_chips.h"

#include <math.h>

void sp_leave_idle(const struct sp_fit_input *in, int64_t idle, unsigned strategies, bool runs,
                   struct sp_hardware *hw)
{
    struct sp_variant list[SP_MAX_VARIANTS];
    const struct sp_hardware all = *hw;
    const struct sp_tolerance t = {.least = sp_chips(&all) - idle, .batch = 1, .model = in->model};
    const int n = idle > 0 ? sp_list_variants(&all, &t, list) : 0;
    double least_s = INFINITY;
    for (int i = 0; i < n; i++) {
        struct sp_hardware fewer = all;
        struct sp_fit_input there = *in;
        if (list[i].devices != sp_chips(&all) && !sp_take_devices(&fewer, list[i].devices))
            continue;
        there.hw = &fewer;
        there.axes = 0;
        there.runs = runs;
        const struct sp_fit_terms terms = sp_fit_terms(&there);
        const struct sp_strategy best = sp_fit_best(&there, &terms, strategies);
        if (!best.exists || !best.fits || best.step_with_bubble_s >= least_s)
            continue;
        least_s = best.step_with_bubble_s;
        *hw = fewer;
    }
}
