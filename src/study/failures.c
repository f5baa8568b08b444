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

struct sp_failing_run sp_run_on_site(const struct sp_site *site, bool by_book, double devices,
                                     double checkpoint_bytes, double bandwidth, double write_s)
{
    struct sp_failing_run run = {
        .devices = devices, .bandwidth = bandwidth, .failures_per_day = NAN, .interval_s = NAN};
    if (isnan(bandwidth) && !by_book)
        run.bandwidth = sp_of_all_devices(site->storage_bytes_per_s, devices);
    run.write_s = isnan(write_s) ? sp_write_s(checkpoint_bytes, run.bandwidth) : write_s;
    run.read_s = isnan(checkpoint_bytes) || isnan(run.bandwidth)
                     ? 0
                     : sp_write_s(checkpoint_bytes, run.bandwidth);
    run.first_step_s =
        by_book ? 0
                : sp_first_step_s(site->launch_s, site->compile_s, site->connect_s_per_device,
                                  devices, site->loader_s, run.read_s);
    run.restart_s = run.first_step_s;
    run.device_mtbf_s = by_book || isnan(run.write_s) ? NAN : site->device_mtbf_s;
    return run;
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
