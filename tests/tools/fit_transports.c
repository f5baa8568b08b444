/* Fits the curves of configs/networks to collectives measured alone: writes the files' curves into
 * a folder, and prints the errors of each, also for sweeps left out, next to those of the bound
 * with a latency. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_table.h"
#include "base/read_file.h"
#include "config/load.h"
#include "host/write_file.h"
#include "runs/network_fit.h"

enum { MOST_POINTS = 128 };

/* Rows whose network (in one node: whose chip) is that of a file. RoCE has a file for each machine
 * of the provider that published it: their shares, 0.6 to 0.98 on two nodes, do not predict each
 * other. A single node is identified by the chip: its rows name NVLink. */
static const struct rows_of {
    const char *network, *transport, *device, *chip;
    bool inside;
} files[] = {
    {"efa-v1", "efa v1", "A100", "a100", false},
    {"efa-v2", "nvlink", "H100", "h100", true},
    {"efa-v2", "efa v2", "H100", "h100", false},
    {"efa-v3", "nvlink", "H200", "h200", true},
    {"efa-v3", "efa v3", "H200", "h200", false},
    {"efa-v4", "nvlink", "B200", "b200", true},
    {"efa-v4", "efa v4", "B200", "b200", false},
    {"efa-v4-b300", "efa v4", "B300", "b300", false},
    {"ib-ndr-sharp", "infiniband sharp", "H100", "h100", false},
    {"nvl72-ib", "nvl72", "GB", "gb200", true},
    {"nvl72-ib", "nvl72 infiniband", "GB", "gb200", false},
    {"oci-a100", "roce", "A100", "a100", false},
    {"oci-h100", "roce", "H100", "h100", false},
    {"oci-mi300x", "roce", "MI300X", "mi300x", false},
};
enum { FILES = sizeof files / sizeof *files };

static const char *const op_names[SP_COLLECTIVES] = {"all_gather", "reduce_scatter", "all_reduce",
                                                     "all_to_all"};

struct points {
    struct sp_transport_point at[MOST_POINTS];
    double latency_s[MOST_POINTS]; /* of the steps of a ring, as the machine's file assumes */
    size_t n;
    int sweeps;
    size_t first_of[MOST_POINTS]; /* rows of the CSV that open sweeps */
};

static const char *cell(const struct sp_csv *csv, size_t row, const char *column)
{
    return sp_csv_cell(csv, row, sp_csv_column(csv, column));
}

static void die(const struct sp_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(2);
}

/* The machine of some rows; its own curves play no part. */
static struct sp_hardware machine_of(const struct rows_of *of)
{
    const struct sp_sources sources = {0};
    struct sp_hardware hw;
    struct sp_scaleout line;
    struct sp_error error = {0};
    if (!sp_load_chip(of->chip, &sources, &hw, &error) ||
        !sp_load_scaleout(of->network, &sources, &line, &error))
        die(&error);
    line.transport = (struct sp_transport_curves){0};
    sp_use_scaleout(&hw.network, &line);
    return hw;
}

/* A sweep is one publication's, on one number of ranks of one chip. */
static int sweep_of(const struct sp_csv *csv, size_t row, struct points *points)
{
    static const char *const same[] = {"source", "hardware", "ranks"};
    for (int sweep = 0; sweep < points->sweeps; sweep++) {
        size_t i = 0;
        while (i < 3 &&
               strcmp(cell(csv, row, same[i]), cell(csv, points->first_of[sweep], same[i])) == 0)
            i++;
        if (i == 3)
            return sweep;
    }
    points->first_of[points->sweeps] = row;
    return points->sweeps++;
}

/* A message and its time. A rate without a size is that of the longest messages of a sweep. */
static struct sp_transport_point point_of(const struct sp_csv *csv, size_t row,
                                          const struct sp_hardware *hw, enum sp_collective op)
{
    static const double longest = 8589934592;
    const double ranks = atof(cell(csv, row, "ranks")), bytes = atof(cell(csv, row, "bytes")),
                 time_s = atof(cell(csv, row, "seconds")),
                 rate = 1e9 * atof(cell(csv, row, "rate_gbs"));
    const double passes = sp_collective_passes(op) * (ranks - 1) / ranks;
    return bytes > 0 ? sp_transport_point(hw, op, ranks, bytes, time_s)
                     : sp_transport_point(hw, op, ranks, longest, longest * passes / rate);
}

/* Whether a row is of a transport, operation and kind of group. Some times were derived from rates
 * printed as 0.01 to 0.09 GB/s: they have one digit. Runs with a part of a node, or whose switches
 * are set not to add up, are of another kind. */
static bool is_of(const struct sp_csv *csv, size_t row, const struct rows_of *of,
                  const struct sp_hardware *hw, enum sp_collective op)
{
    const double ranks = atof(cell(csv, row, "ranks")), domain = (double)hw->network.domain;
    const char *const rate = cell(csv, row, "rate_gbs");
    return strcmp(cell(csv, row, "op"), op_names[op]) == 0 &&
           strcmp(cell(csv, row, "transport"), of->transport) == 0 &&
           strncmp(cell(csv, row, "hardware"), of->device, strlen(of->device)) == 0 &&
           ranks >= domain && of->inside == (ranks <= domain) &&
           (*rate ? atof(rate) >= 0.1 : atof(cell(csv, row, "bytes")) > 0) &&
           !strstr(cell(csv, row, "algorithm"), "Ring");
}

/* Adds the rows of one operation. */
static void add_rows(const struct sp_csv *csv, const struct rows_of *of, enum sp_collective op,
                     struct points *points)
{
    const struct sp_hardware hw = machine_of(of);
    for (size_t row = 0; row + 1 < csv->rows; row++) {
        if (!is_of(csv, row, of, &hw, op) || points->n == MOST_POINTS)
            continue;
        points->latency_s[points->n] =
            of->inside ? (double)(hw.network.domain - 1) * hw.network.domain_latency_s : 0;
        points->at[points->n] = point_of(csv, row, &hw, op);
        points->latency_s[points->n] +=
            (points->at[points->n].nodes - 1) * hw.network.scaleout_latency_s;
        points->at[points->n++].sweep = sweep_of(csv, row, points);
    }
}

/* Mean |ln| error of points under a fit to the others. */
struct left_out {
    double error, naive;
    size_t n;
};

/* Parts are sweeps, or blocks of neighbouring sizes where there is one sweep only. */
static struct left_out leave_out(const struct points *points)
{
    const int parts = points->sweeps > 1 ? points->sweeps : 4;
    struct left_out sum = {0, 0, 0};
    for (int part = 0; part < parts; part++) {
        struct sp_transport_point in[MOST_POINTS];
        size_t n = 0, out[MOST_POINTS], n_out = 0;
        for (size_t i = 0; i < points->n; i++) {
            const int of = points->sweeps > 1 ? points->at[i].sweep : (int)(i * 4 / points->n);
            if (of == part)
                out[n_out++] = i;
            else
                in[n++] = points->at[i];
        }
        if (n == 0 || n_out == 0)
            continue;
        const struct sp_transport_curve c = sp_fit_transport(in, n);
        for (size_t i = 0; i < n_out; i++) {
            sum.error += fabs(sp_transport_error(&c, &points->at[out[i]]));
            sum.naive += fabs(log((points->at[out[i]].bound_s + points->latency_s[out[i]]) /
                                  points->at[out[i]].time_s));
            sum.n++;
        }
    }
    return (struct left_out){sum.error / (double)sum.n, sum.naive / (double)sum.n, sum.n};
}

static void report(const struct rows_of *of, enum sp_collective op, const struct points *points,
                   const struct sp_transport_curve *c, struct left_out sum[2])
{
    const struct left_out out = leave_out(points);
    struct left_out *const all = &sum[points->sweeps > 1];
    all->error += out.n > 0 ? out.error * (double)out.n : 0;
    all->naive += out.n > 0 ? out.naive * (double)out.n : 0;
    all->n += out.n;
    printf("%-13s %-6s %-10s %3zu rows, %d sweeps  share %5.3f start %6.1f us ramp %6.1f us "
           "growth %.3f  error %4.1f %%, %s left out %5.1f %%, bound and latency %5.1f %%\n",
           of->network, of->inside ? "node" : "nodes", op_names[op], points->n, points->sweeps,
           c->share, 1e6 * c->start_s, 1e6 * c->ramp_s, c->growth, 100 * c->residual,
           points->sweeps > 1 ? "sweeps" : "sizes", 100 * out.error, 100 * out.naive);
}

/* The curves of a network, in one node or over several. */
static void fit_curves(const struct sp_csv *csv, const char *network, bool inside,
                       struct sp_transport_curve curve[SP_COLLECTIVES], struct left_out sum[2])
{
    for (int op = 0; op < SP_COLLECTIVES; op++) {
        struct points points = {.n = 0};
        const struct rows_of *of = NULL;
        for (int i = 0; i < FILES; i++)
            if (strcmp(files[i].network, network) == 0 && files[i].inside == inside) {
                of = &files[i];
                add_rows(csv, of, (enum sp_collective)op, &points);
            }
        if (points.n == 0)
            continue;
        curve[op] = sp_fit_transport(points.at, points.n);
        report(of, (enum sp_collective)op, &points, &curve[op], sum);
    }
}

static char *read_text(const char *path)
{
    struct sp_error error = {0};
    size_t length;
    char *const text = sp_read_file(NULL, path, 64u << 20, &length, &error);
    if (!text)
        die(&error);
    return text;
}

/* The file with its curves replaced; they precede its source. */
static void write_network(const struct sp_csv *csv, const char *network, const char *from,
                          const char *to, struct left_out sum[2])
{
    char path[4096];
    struct sp_error error = {0};
    struct sp_transport_curves curves = {0};
    char *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/%s.json", from, network);
    char *const old = read_text(path);
    const char *source = strstr(old, "  \"source\""), *head = strstr(old, "  \"collectives\"");
    const char *const node = strstr(old, "  \"node_collectives\"");
    head = node && (!head || node < head) ? node : head ? head : source;
    FILE *const out = open_memstream(&text, &length);
    if (!out || !source)
        abort();
    fprintf(out, "%.*s", (int)(head - old), old);
    fit_curves(csv, network, true, curves.inside, sum);
    fit_curves(csv, network, false, curves.across, sum);
    sp_put_network_curves(out, &curves);
    fprintf(out, "%s", source);
    fclose(out);
    snprintf(path, sizeof path, "%s/%s.json", to, network);
    if (!sp_write_file(path, text, length, &error))
        die(&error);
    free(text);
    free(old);
}

int main(int argc, char **argv)
{
    struct sp_csv csv;
    struct sp_error error = {0};
    struct left_out sum[2] = {{0, 0, 0}, {0, 0, 0}}; /* by size, by sweep */
    if (argc != 4) {
        fprintf(stderr, "usage: fit_transports COLLECTIVES.csv FROM_FOLDER TO_FOLDER\n");
        return 2;
    }
    char *const text = read_text(argv[1]);
    if (!sp_read_csv(text, strlen(text), argv[1], &csv, &error))
        die(&error);
    for (int i = 0; i < FILES; i++)
        if (i == 0 || strcmp(files[i].network, files[i - 1].network) != 0)
            write_network(&csv, files[i].network, argv[2], argv[3], sum);
    for (int by_sweep = 0; by_sweep < 2; by_sweep++)
        printf("%3zu rows in %s left out: %.1f %% off; bound and latency %.1f %%\n",
               sum[by_sweep].n, by_sweep ? "sweeps" : "sizes",
               100 * sum[by_sweep].error / (double)sum[by_sweep].n,
               100 * sum[by_sweep].naive / (double)sum[by_sweep].n);
    sp_csv_free(&csv);
    return 0;
}
