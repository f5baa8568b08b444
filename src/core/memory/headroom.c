/* Memory for verdicts, the headroom that a search leaves, and the chance of running out. */
#include <math.h>

#include <scaleplan/estimate.h>
#include <scaleplan/machine.h>

/* NVIDIA's "141 GB" and "186 GB" are GiB: CUDA grants 139.72 and 184.31 GiB, more than the nominal
 * decimal size. A100, H100 and H800 grant 79.1 to 79.3 of 80 GiB, a difference that the headroom of
 * `search` covers. */
double sp_capacity_bytes(const struct sp_chip *chip)
{
    return isnan(chip->hbm_usable_bytes) ? chip->hbm_bytes : chip->hbm_usable_bytes;
}

/* Verdicts on one plan use the whole device, because it can be tried; a search leaves headroom,
 * because its answer must survive a driver update. */
double sp_memory_limit_bytes(const struct sp_chip *chip, double headroom)
{
    return sp_capacity_bytes(chip) * (1 - headroom);
}

/* Normal distribution function. */
static double probability_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

double sp_oom_odds(const struct sp_framework *framework, double device, double capacity)
{
    const double residual = framework->memory_residual;
    if (!(residual > 0))
        return device < capacity ? 0 : 1;
    const double odds = probability_below(log(device / capacity) / residual);
    return odds < 1e-6 ? 0 : odds;
}
