/* Memory of a chip, the chance of running out of it, and the verdict. */
#include <float.h>
#include <math.h>

#include <scaleplan/machine.h>
#include <scaleplan/memory.h>

/* NVIDIA's "141 GB" and "186 GB" are GiB: CUDA grants 139.72 and 184.31 GiB, more than the nominal
 * decimal size. A100, H100 and H800 grant 79.1 to 79.3 of 80 GiB, a difference that the context of
 * the frameworks covers. */
double sp_capacity_bytes(const struct sp_chip *chip)
{
    return isnan(chip->hbm_usable_bytes) ? chip->hbm_bytes : chip->hbm_usable_bytes;
}

/* Standard deviations of the estimate that a plan of each verdict leaves free at least. */
static const double least_left[SP_VERDICTS] = {
    /* Odds below 15 %: with NeMo's spread of 5 % this leaves 5 % of the memory free, as people do
     * who want a plan to survive a driver update. One bad stage is enough to lose a run, so a
     * search wants as much. */
    [SP_VERDICT_YES] = 1.0364,
    /* Odds below 40 %. Not 50: the peak of a plan as large as the device has no room for
     * fragmentation. Measured runs lie on this side, and those that ran out of memory on the other:
     * the test runs.memory counts both. */
    [SP_VERDICT_TIGHT] = 0.2533,
    [SP_VERDICT_NO] = -INFINITY};

double sp_most_bytes(double residual, double capacity, enum sp_verdict worst)
{
    if (worst >= SP_VERDICT_NO)
        return INFINITY;
    const double limit = capacity * exp(-least_left[worst] * fmax(residual, 0));
    return limit * (1 - DBL_EPSILON); /* never exactly the full capacity */
}

enum sp_verdict sp_memory_verdict(double residual, double device, double capacity)
{
    enum sp_verdict verdict = SP_VERDICT_YES;
    while (device > sp_most_bytes(residual, capacity, verdict))
        verdict++;
    return verdict;
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
