/* A whole training run. */
#include <math.h>

#include <scaleplan/training_run.h>

double sp_run_s(double flops, double devices, double peak_flops_per_s, double mfu)
{
    return flops / (devices * peak_flops_per_s * mfu);
}

double sp_young_interval_s(double write_s, double mtbf_s)
{
    return sqrt(2 * write_s * mtbf_s);
}

double sp_daly_interval_s(double write_s, double mtbf_s)
{
    const double x = write_s / (2 * mtbf_s);
    if (x >= 1)
        return mtbf_s;
    return sqrt(2 * write_s * mtbf_s) * (1 + sqrt(x) / 3 + x / 9) - write_s;
}

double sp_best_interval_s(double write_s, double mtbf_s, double restart_s)
{
    return fmax(sqrt(2 * write_s * fmax(mtbf_s - restart_s, 0)) - write_s, 0);
}

double sp_goodput(const struct sp_goodput *run)
{
    const double cycle = run->interval_s + run->write_s;
    const double writing = cycle > 0 ? run->write_s / cycle : 0;
    const double failing = isfinite(run->mtbf_s) ? (cycle / 2 + run->restart_s) / run->mtbf_s : 0;
    return fmax((1 - writing) * (1 - fmin(failing, 1)), 0);
}

double sp_machine_mtbf_s(double device_mtbf_s, double devices)
{
    return device_mtbf_s / devices;
}

double sp_owned_usd_per_h(const struct sp_owned *o)
{
    const double hours = 8766 * o->years * o->in_use;
    return o->capex_usd / hours + (o->usd_per_kwh > 0 ? o->watts * o->usd_per_kwh / 1000 : 0);
}

double sp_homes(double watts, double kwh_per_year)
{
    return watts * 8766 / (1000 * kwh_per_year);
}
