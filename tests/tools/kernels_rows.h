/* Measured kernels and collectives of one chip: rows of CSV files as points of its curves. */
#ifndef SP_KERNELS_ROWS_H
#define SP_KERNELS_ROWS_H

#include <stddef.h>

#include "base/csv_table.h"

/* What is fitted: curves of the three kinds, each for its formats or operations. */
enum sp_curve_kind { SP_CURVE_MATMUL, SP_CURVE_ATTENTION, SP_CURVE_COLLECTIVE, SP_CURVE_KINDS };

/* One shape: m, n, k of a matmul; heads, sequence, KV heads of an attention; ranks, bytes of a
 * collective. Its time is the median over the engines that ran it, of an even number the lower. */
struct sp_point {
    double size[3];
    double time_s;
    int rows;
};

struct sp_points {
    struct sp_point *at;
    size_t n;
    int rows; /* of all points together */
};

/* A system of the files, the chip it is of, and an engine whose rows are another system's. */
struct sp_measured_system {
    const char *system, *chip, *not_engine;
};

/* The points of a curve, in the order of their sizes. Free `at`. */
struct sp_points sp_read_points(const struct sp_csv *csv, const struct sp_measured_system *system,
                                enum sp_curve_kind kind, int curve);

/* What a curve is called in the config, and how many a kind has. */
extern const char *const sp_curve_names[SP_CURVE_KINDS][5];
int sp_curves_of(enum sp_curve_kind kind);

#endif
