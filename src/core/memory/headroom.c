/* The memory that verdicts compare with, and what a plan leaves free of it. */
#include <math.h>

#include <scaleplan/machine.h>

double sp_capacity_bytes(const struct sp_chip *chip)
{
    return isnan(chip->hbm_usable_bytes) ? chip->hbm_bytes : chip->hbm_usable_bytes;
}

double sp_memory_limit_bytes(const struct sp_chip *chip, double headroom)
{
    return sp_capacity_bytes(chip) * (1 - headroom);
}
