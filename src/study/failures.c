/* Effect of checkpoints and failures on a run. */
#include "study/failures.h"

#include <math.h>

#include <scaleplan/forms.h>

static double machine_mtbf_s(const struct sp_failing_run *run)
{
    if (!isnan(run->failures_per_day))
        return sp_mtbf_of_failures(run->failures_per_day);
    return isnan(run->device_mtbf_s) ? INFINITY
                                     : sp_machine_mtbf_s(run->device_mtbf_s, run->devices);
}

struct sp_failures sp_failures_of(const struct sp_failing_run *run)
{
    struct sp_failures f = {.cycle = {.write_s = run->write_s, .mtbf_s = machine_mtbf_s(run)}};
    struct sp_goodput *const cycle = &f.cycle;
    f.fails = isfinite(cycle->mtbf_s);
    f.writes = f.fails || (cycle->write_s > 0 && !isnan(run->interval_s));
    cycle->restart_s = f.fails ? run->restart_s : 0;
    cycle->interval_s = isnan(run->interval_s)
                            ? sp_best_interval_s(cycle->write_s, cycle->mtbf_s, cycle->restart_s)
                            : run->interval_s;
    f.is_free = cycle->interval_s + cycle->write_s <= 0;
    f.daly_interval_s = sp_daly_interval_s(cycle->write_s, cycle->mtbf_s);
    f.goodput = f.writes ? sp_goodput(cycle) : 1;
    f.checkpoints = f.writes ? sp_checkpoints_of_run(run->seconds, cycle->interval_s) : 0;
    f.wall_s = sp_wall_s(run->seconds, f.goodput, run->first_step_s);
    return f;
}

double sp_devices_for_days(double days, double least,
                           double (*wall_days)(double devices, void *context), void *context)
{
    double too_few = ceil(least) - 1, enough = ceil(least);
    for (double wall; (wall = wall_days(enough, context)) > days;) {
        too_few = enough;
        enough = fmax(enough + 1, ceil(enough * fmin(2, wall / days)));
        if (!(enough <= 1e9))
            return NAN;
    }
    while (enough - too_few > 1) {
        const double between = floor((too_few + enough) / 2);
        *(wall_days(between, context) > days ? &too_few : &enough) = between;
    }
    return enough;
}
