/* Fits the curves of configs/kernels to measured kernels and collectives: writes a file per chip
 * into a folder, and prints the errors of each curve, also for shapes left out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nlopt.h>

#include "base/json.h"
#include "base/read_file.h"
#include "host/write_file.h"
#include "config/load.h"
#include "kernels_rows.h"

/* Standard deviation of ln(time) of one shape between engines. */
#define NOISE 0.05

/* Weight of shapes of training; those of decoding determine latencies and bandwidths. */
#define TRAINING 4

/* The H200 has the H100's die with faster memory, and was measured within 1 % in 16 bits and 5 % in
 * 8 bits of it, less than the curves' residuals: it uses the H100's curves, so that noise makes no
 * chip slower. The rows of sglang under b300_sxm equal those under gb300 in every digit; other
 * engines' times for gb300 agree with them, those for b300_sxm do not. */
static const struct sp_measured_system systems[] = {
    {"a100_sxm", "a100", NULL}, {"h100_sxm", "h100", NULL},
    {"b200_sxm", "b200", NULL}, {"b300_sxm", "b300", "sglang"},
    {"gb200", "gb200", NULL},   {"gb300", "gb300", NULL},
    {"l40s", "l40s", NULL},     {"rtx_pro_6000_server", "rtx-pro-6000", NULL}};

/* A constant of a curve: place, key, bounds, start. Fitted in logarithms; constants that can be
 * zero have a lower bound that acts as zero. */
struct parameter {
    size_t at;
    const char *key;
    double low, high, start;
};
enum { MOST = 8 };
#define MATMUL(member) offsetof(struct sp_matmul_curve, member), #member
#define ATTENTION(member) offsetof(struct sp_attention_curve, member), #member
#define COLLECTIVE(member) offsetof(struct sp_collective_curve, member), #member
static const struct parameter parameters[SP_CURVE_KINDS][MOST] = {
    {{MATMUL(share), 0.05, 1, 0.7},
     {MATMUL(memory_share), 0.05, 1, 0.8},
     {MATMUL(launch_s), 1e-8, 1e-3, 5e-6},
     {MATMUL(half_tile), 0.1, 256, 32},
     {MATMUL(cast_bytes), 0.1, 100, 5}},
    {{ATTENTION(share), 0.05, 1, 0.5},
     {ATTENTION(launch_s), 1e-8, 1e-3, 1e-5},
     {ATTENTION(fill_queries), 1, 1e6, 4000},
     {ATTENTION(edge_keys), 0.1, 4096, 100}},
    {{COLLECTIVE(share), 0.05, 1, 0.7},
     {COLLECTIVE(own_share), 0.01, 1, 0.5},
     {COLLECTIVE(latency_s), 1e-8, 1e-3, 5e-6},
     {COLLECTIVE(rank_latency_s), 1e-8, 1e-3, 1e-6},
     {COLLECTIVE(low_share), 0.01, 1, 0.3},
     {COLLECTIVE(floor_s), 1e-8, 1e-3, 1e-5}},
};

/* One curve of a chip, being fitted. */
struct fitting {
    struct sp_hardware hw;
    enum sp_curve_kind kind;
    int curve;
    int n; /* constants */
    struct sp_points points;
    size_t fold, folds; /* points whose widths fall on `fold` are left out; 0 folds: none */
};

static char *curve_of(struct fitting *f)
{
    struct sp_kernels *const k = &f->hw.chip.kernels;
    if (f->kind == SP_CURVE_MATMUL)
        return (char *)&k->matmul[f->curve];
    return f->kind == SP_CURVE_ATTENTION ? (char *)&k->attention[f->curve]
                                         : (char *)&k->collective[f->curve];
}

static double *constant(struct fitting *f, int i)
{
    return (double *)(void *)(curve_of(f) + parameters[f->kind][i].at);
}

static double predict(const struct fitting *f, const struct sp_point *p)
{
    const double *const s = p->size;
    if (f->kind == SP_CURVE_MATMUL)
        return sp_matmul_kernel_s(&f->hw.chip, (enum sp_kernel_format)f->curve, s[0], s[1], s[2]);
    if (f->kind == SP_CURVE_ATTENTION)
        return sp_attention_kernel_s(&f->hw.chip, (enum sp_kernel_format)f->curve, s[0], 128, s[1]);
    return sp_collective_kernel_s(&f->hw.chip.kernels, &f->hw.network, (enum sp_collective)f->curve,
                                  s[0], s[1]);
}

static double log_error(const struct fitting *f, const struct sp_point *p)
{
    return log(predict(f, p) / p->time_s);
}

/* Shapes are left out together with those that share widths, sequence or message. */
static bool left_out(const struct fitting *f, const struct sp_point *p)
{
    const double width =
        f->kind == SP_CURVE_MATMUL ? p->size[1] / 512 + 3 * (p->size[2] / 512) : log2(p->size[1]);
    return f->folds > 0 && (size_t)width % f->folds == f->fold;
}

/* Shapes of training steps: thousands of tokens, long messages. */
static bool is_large(const struct fitting *f, const struct sp_point *p)
{
    static const double least[] = {1024, 4096, 1 << 20};
    return p->size[f->kind == SP_CURVE_MATMUL ? 0 : 1] >= least[f->kind];
}

/* Quadratic for small errors, linear for large ones. */
static double objective(unsigned n, const double *x, double *gradient, void *data)
{
    struct fitting *const f = data;
    double sum = 0;
    (void)gradient;
    for (unsigned i = 0; i < n; i++)
        *constant(f, (int)i) = exp(x[i]);
    for (size_t i = 0; i < f->points.n; i++)
        if (!left_out(f, &f->points.at[i])) {
            const double z = log_error(f, &f->points.at[i]) / NOISE;
            sum += (is_large(f, &f->points.at[i]) ? TRAINING : 1) * (sqrt(1 + z * z) - 1);
        }
    return sum;
}

/* Repeats descents from the last result until none gains; returns the cost. */
static double descend(struct fitting *f, double *x)
{
    double low[MOST], high[MOST], cost = HUGE_VAL, last;
    for (int i = 0; i < f->n; i++) {
        low[i] = log(parameters[f->kind][i].low);
        high[i] = log(parameters[f->kind][i].high);
    }
    do {
        last = cost;
        nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, (unsigned)f->n);
        nlopt_set_lower_bounds(opt, low);
        nlopt_set_upper_bounds(opt, high);
        nlopt_set_min_objective(opt, objective, f);
        nlopt_set_ftol_rel(opt, 1e-10);
        nlopt_set_maxeval(opt, 5000);
        nlopt_optimize(opt, x, &cost);
        nlopt_destroy(opt);
    } while (cost < last * (1 - 1e-7));
    return cost;
}

/* Rounds constants to the three digits of the file. */
static void round_constants(struct fitting *f, const double *x)
{
    for (int i = 0; i < f->n; i++) {
        char text[32];
        const double nothing = parameters[f->kind][i].low * 1.01;
        const double value = exp(x[i]);
        const bool is_share = parameters[f->kind][i].high == 1;
        snprintf(text, sizeof text, "%.3g", value > nothing || is_share ? value : 0);
        *constant(f, i) = atof(text);
    }
}

/* Starts differ in the last two constants: a floor below all times has no gradient. */
static void fit(struct fitting *f)
{
    const struct parameter *const p = parameters[f->kind];
    double best[MOST] = {0}, least = HUGE_VAL;
    for (int start = 0; start < 9; start++) {
        const int one = start / 3 - 1, other = start % 3 - 1;
        double x[MOST] = {0};
        for (int i = 0; i < f->n; i++)
            x[i] = log(p[i].start);
        x[f->n - 2] += log(3) * one;
        x[f->n - 1] += log(3) * other;
        const double cost = descend(f, x);
        if (cost < least) {
            least = cost;
            memcpy(best, x, sizeof best);
        }
    }
    round_constants(f, best);
}

/* Mean absolute and mean error over large, all, or left-out shapes. */
struct errors {
    double absolute, mean;
    size_t n;
};

static struct errors errors_of(const struct fitting *f, bool large)
{
    struct errors e = {0, 0, 0};
    for (size_t i = 0; i < f->points.n; i++) {
        const struct sp_point *const p = &f->points.at[i];
        if ((large && !is_large(f, p)) || (f->folds > 0 && !left_out(f, p)))
            continue;
        e.absolute += fabs(log_error(f, p));
        e.mean += log_error(f, p);
        e.n++;
    }
    e.absolute /= (double)e.n;
    e.mean /= (double)e.n;
    return e;
}

static double left_out_error(const struct fitting *fitted)
{
    double sum = 0;
    size_t n = 0;
    for (size_t fold = 0; fold < 4; fold++) {
        struct fitting f = *fitted;
        f.folds = 4;
        f.fold = fold;
        fit(&f);
        const struct errors e = errors_of(&f, false);
        sum += e.n > 0 ? e.absolute * (double)e.n : 0;
        n += e.n;
    }
    return sum / (double)n;
}

static void put_curve(struct fitting *f, double residual, const char *before, FILE *out)
{
    fprintf(out, "%s    \"%s\": {", before, sp_curve_names[f->kind][f->curve]);
    for (int i = 0; i < f->n; i++) {
        char number[32];
        sp_format_double(*constant(f, i), number, sizeof number);
        fprintf(out, "\"%s\": %s, ", parameters[f->kind][i].key, number);
    }
    fprintf(out, "\"rows\": %d, \"residual\": %.3f}", f->points.rows, residual);
}

static void report(struct fitting *f, double out)
{
    static const char *const kinds[] = {"matmul", "attention", ""};
    const struct errors all = errors_of(f, false), large = errors_of(f, true);
    printf("%-6s %-9s %-14s %5d rows %4zu shapes  share %5.3f  error %4.1f %%, left out %4.1f %%, "
           "large (%zu) %4.1f %%, on average %+5.1f %%\n",
           f->hw.name, kinds[f->kind], sp_curve_names[f->kind][f->curve], f->points.rows,
           f->points.n, *constant(f, 0), 100 * all.absolute, 100 * out, large.n,
           100 * large.absolute, 100 * large.mean);
}

/* One kind of curves of a chip, as a member of its file. */
static void put_kind(const struct sp_csv *csv, const struct sp_measured_system *system,
                     struct fitting *f, bool check, FILE *out)
{
    const char *before = "";
    for (f->curve = 0; f->curve < sp_curves_of(f->kind); f->curve++) {
        f->points = sp_read_points(csv, system, f->kind, f->curve);
        for (f->n = 0; f->n < MOST && parameters[f->kind][f->n].key;)
            f->n++;
        if (f->kind == SP_CURVE_MATMUL && f->curve == SP_KERNEL_BF16)
            f->n--; /* nothing is cast */
        if (f->points.n > 0) {
            fit(f);
            put_curve(f, errors_of(f, false).absolute, before, out);
            before = ",\n";
            report(f, check ? left_out_error(f) : NAN);
        }
        free(f->points.at);
    }
}

static char *text_of_chip(const struct sp_csv *csv, const struct sp_measured_system *system,
                          bool check)
{
    static const char *const members[] = {"matmul", "attention", "collectives"};
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct fitting f = {.folds = 0};
    char *text = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        abort();
    if (!sp_load_chip(system->chip, &sources, &f.hw, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    sp_clear_kernels(&f.hw.chip.kernels);
    fprintf(out, "{\n  \"$schema\": \"../schema/kernels.json\",\n  \"name\": \"%s\",\n",
            system->chip);
    for (int kind = 0; kind < SP_CURVE_KINDS; kind++) {
        f.kind = (enum sp_curve_kind)kind;
        fprintf(out, "  \"%s\": {\n", members[kind]);
        put_kind(&csv[kind], system, &f, check, out);
        fprintf(out, "\n  },\n");
    }
    fprintf(out,
            "  \"source\": \"ai-dynamo/aiconfigurator 095f58a51c4c, systems/data/%s, "
            "Apache-2.0\",\n  \"note\": \"Written by tests/tools/fit_kernels.c.%s\"\n}\n",
            system->system,
            system->not_engine ? " The rows of sglang are gb300's and are left out." : "");
    fclose(out);
    return text;
}

static void read_csv(const char *path, struct sp_csv *csv)
{
    struct sp_error error = {0};
    size_t length;
    char *const text = sp_read_file(NULL, path, 64u << 20, &length, &error);
    if (!text || !sp_read_csv(text, length, path, csv, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
}

/* Curves are fitted by the functions of the library, so that no formula is written twice; three
 * digits are written, which last bits of other machines do not change. The time of a shape is the
 * median of the engines that ran it, of two the faster: one engine falls back to a slow kernel for
 * blockwise fp8 on Blackwell. Shapes of training count four times those of decoding. sglang's rows
 * of B300 are left out: they are GB300's to the last digit. */
int main(int argc, char **argv)
{
    struct sp_csv csv[SP_CURVE_KINDS];
    struct sp_error error = {0};
    const bool check = argc > 5 && strcmp(argv[5], "--left-out") == 0;
    if (argc < 5) {
        fprintf(stderr, "usage: fit_kernels GEMM.csv ATTENTION.csv COLLECTIVES.csv FOLDER "
                        "[--left-out]\n");
        return 2;
    }
    for (int kind = 0; kind < SP_CURVE_KINDS; kind++)
        read_csv(argv[1 + kind], &csv[kind]);
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        char path[4096];
        char *const text = text_of_chip(csv, &systems[i], check);
        snprintf(path, sizeof path, "%s/%s.json", argv[4], systems[i].chip);
        if (!sp_write_file(path, text, strlen(text), &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
        free(text);
    }
    for (int kind = 0; kind < SP_CURVE_KINDS; kind++)
        sp_csv_free(&csv[kind]);
    return 0;
}
