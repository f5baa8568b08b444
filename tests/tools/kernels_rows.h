/* Measured kernels and collectives of one chip: rows of CSV files as points of its curves. */
#ifndef SP_KERNELS_ROWS_H
#define SP_KERNELS_ROWS_H

#include <stddef.h>

#include "base/csv_table.h"

/* Fitted curves: three kinds, each per format or operation. */
enum sp_curve_kind { SP_CURVE_MATMUL, SP_CURVE_ATTENTION, SP_CURVE_COLLECTIVE, SP_CURVE_KINDS };

/* One shape: m, n, k of a matmul; heads, sequence, KV heads of attention; ranks, bytes of a
 * collective. Its time is the median over engines (the lower of two). */
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

/* A system in the files, its chip, and an engine whose rows come from another system. */
struct sp_measured_system {
    const char *system, *chip, *not_engine;
};

/* The points of a curve by size. Free `at`. */
struct sp_points sp_read_points(const struct sp_csv *csv, const struct sp_measured_system *system,
                                enum sp_curve_kind kind, int curve);

/* A curve's name in the config, and the number of curves per kind. */
extern const char *const sp_curve_names[SP_CURVE_KINDS][5];
int sp_curves_of(enum sp_curve_kind kind);

#endif
