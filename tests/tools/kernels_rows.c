/* Measured kernels and collectives of one chip: rows of CSV files as points of its curves. */
#include "kernels_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const sp_curve_names[SP_CURVE_KINDS][5] = {
    {"bf16", "fp8", "fp8_block", "nvfp4"},
    {"bf16", "fp8"},
    {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"},
};

int sp_curves_of(enum sp_curve_kind kind)
{
    int n = 0;
    while (n < 5 && sp_curve_names[kind][n])
        n++;
    return n;
}

/* A required cell. */
struct wanted {
    const char *column, *text;
};

/* How files spell a curve: cells of its rows, and columns of a size. */
struct spelling {
    struct wanted cells[4];
    const char *sizes[3];
};

static struct spelling spelling_of(enum sp_curve_kind kind, int curve)
{
    static const char *const formats[] = {"bfloat16", "fp8", "fp8_block", "nvfp4"};
    static const char *const ops[] = {"all_gather", "reduce_scatter", "all_reduce", "alltoall"};
    switch (kind) {
    case SP_CURVE_MATMUL:
        return (struct spelling){{{"dtype", formats[curve]}}, {"m", "n", "k"}};
    case SP_CURVE_ATTENTION:
        return (struct spelling){
            {{"attn_dtype", formats[curve]}, {"kv_dtype", formats[curve]}, {"batch", "1"}},
            {"heads", "seq", "kv_heads"}};
    default:
        return (struct spelling){{{"library", "nccl"}, {"dtype", "half"}, {"op", ops[curve]}},
                                 {"gpus", "bytes", "gpus"}};
    }
}

static const char *cell(const struct sp_csv *csv, size_t row, const char *column)
{
    return sp_csv_cell(csv, row, sp_csv_column(csv, column));
}

/* A window of 0 or none: full attention. */
static bool is_wanted(const struct sp_csv *csv, size_t row, const struct sp_measured_system *system,
                      const struct spelling *spelling)
{
    if (strcmp(cell(csv, row, "system"), system->system) != 0 ||
        (system->not_engine && strcmp(cell(csv, row, "engine"), system->not_engine) == 0) ||
        atof(cell(csv, row, "window")) > 0)
        return false;
    for (int i = 0; i < 4 && spelling->cells[i].column; i++)
        if (strcmp(cell(csv, row, spelling->cells[i].column), spelling->cells[i].text) != 0)
            return false;
    return true;
}

/* By size, then by time. */
static int in_order(const void *a, const void *b)
{
    const struct sp_point *const x = a, *const y = b;
    for (int i = 0; i < 3; i++)
        if (x->size[i] != y->size[i])
            return x->size[i] < y->size[i] ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

static bool same_size(const struct sp_point *x, const struct sp_point *y)
{
    return x->size[0] == y->size[0] && x->size[1] == y->size[1] && x->size[2] == y->size[2];
}

/* One point of each size, at the median of its times. */
static size_t take_medians(struct sp_point *at, size_t n)
{
    size_t kept = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && same_size(&at[from], &at[to]);)
            to++;
        at[kept] = at[from + (to - from - 1) / 2];
        at[kept++].rows = (int)(to - from);
    }
    return kept;
}

struct sp_points sp_read_points(const struct sp_csv *csv, const struct sp_measured_system *system,
                                enum sp_curve_kind kind, int curve)
{
    const struct spelling spelling = spelling_of(kind, curve);
    struct sp_points points = {calloc(csv->rows + 1, sizeof *points.at), 0, 0};
    if (!points.at)
        abort();
    for (size_t row = 0; row + 1 < csv->rows; row++) {
        if (!is_wanted(csv, row, system, &spelling))
            continue;
        struct sp_point *const p = &points.at[points.n++];
        for (int i = 0; i < 3; i++)
            p->size[i] = atof(cell(csv, row, spelling.sizes[i]));
        p->time_s = atof(cell(csv, row, "latency_ms")) / 1e3;
    }
    qsort(points.at, points.n, sizeof *points.at, in_order);
    points.rows = (int)points.n;
    points.n = take_medians(points.at, points.n);
    return points;
}
