/* A whole training run. */
#include <math.h>

#include <scaleplan/training.h>

double sp_daly_interval_s(double write_s, double mtbf_s)
{
    const double x = write_s / (2 * mtbf_s);
    if (x >= 1)
        return mtbf_s;
    return sp_young_interval_s(write_s, mtbf_s) * (1 + sqrt(x) / 3 + x / 9) - write_s;
}

double sp_goodput(const struct sp_goodput *run)
{
    const double write = run->write_s, interval = run->interval_s, mtbf = run->mtbf_s;
    if (interval + write <= 0) /* no checkpoints: a failure costs the restart only */
        return fmax(1 - run->restart_s / mtbf, 0);
    return isfinite(mtbf) ? sp_goodput_with_failures(write, interval, mtbf, run->restart_s)
                          : sp_goodput_of_checkpoints(write, interval);
}

double sp_energy_usd_per_h(const struct sp_owned *o)
{
    return o->usd_per_kwh > 0 ? sp_power_usd_per_h(o->watts, o->usd_per_kwh) : 0;
}

double sp_owned_usd_per_h(const struct sp_owned *o)
{
    return sp_capital_usd_per_h(o->capex_usd, o->years, o->in_use) + sp_energy_usd_per_h(o);
}

double sp_break_even_in_use(const struct sp_owned *o, double rent_usd_per_h)
{
    const double energy = sp_energy_usd_per_h(o);
    return rent_usd_per_h > energy
               ? sp_break_even_use(o->capex_usd, o->years, rent_usd_per_h, energy)
               : INFINITY;
}
