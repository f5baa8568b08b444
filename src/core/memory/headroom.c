/* The memory that verdicts compare with, and what a plan leaves free of it. */
#include <math.h>

#include <scaleplan/machine.h>

/* NVIDIA's "141 GB" and "186 GB" are GiB: what CUDA grants (139.72 and 184.31 GiB) exceeds the
 * nominal size in decimal GB. A100, H100 and H800 grant 79.1 to 79.3 of their 80 GiB, which the
 * headroom of `search` covers. */
double sp_capacity_bytes(const struct sp_chip *chip)
{
    return isnan(chip->hbm_usable_bytes) ? chip->hbm_bytes : chip->hbm_usable_bytes;
}

/* Verdicts compare with the whole device, `search` with what a headroom leaves: a single plan can
 * be tried, but a search must not offer what the next driver breaks. */
double sp_memory_limit_bytes(const struct sp_chip *chip, double headroom)
{
    return sp_capacity_bytes(chip) * (1 - headroom);
}
