/* Reads times of kernels, fits curves to them, and writes these as a file of configs/kernels. */
#include "runs/kernel_times.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_table.h"
#include "base/json.h"
#include "base/memory.h"
#include "runs/descent.h"

/* Standard deviation of ln(time) between repeats of a shape on one GPU, with its clocks. */
#define NOISE 0.05

/* As configs/kernels names them. */
const char *const sp_kernel_format_names[SP_KERNEL_FORMATS] = {"bf16", "fp8", "fp8_block", "nvfp4"};
const char *const sp_kernel_op_names[SP_KERNEL_OPS] = {"matmul", "attention"};
static const char *const sizes[SP_KERNEL_OPS][3] = {{"m", "n", "k"}, {"heads", "head_dim", "seq"}};

/* A constant of a curve: its place, its bounds, its usual value, and how far the logarithm of a
 * chip's value may be from its start. */
struct constant {
    size_t at;
    double low, high, usual, spread;
};
#define MATMUL(member) offsetof(struct sp_matmul_curve, member)
#define ATTENTION(member) offsetof(struct sp_attention_curve, member)
static const struct constant constants[SP_KERNEL_OPS][6] = {
    {{MATMUL(share), 0.05, 1, 0.7, 0.5},
     {MATMUL(memory_share), 0.05, 1, 0.8, 0.5},
     {MATMUL(launch_s), 1e-8, 1e-3, 5e-6, 1},
     {MATMUL(half_tile), 0.1, 256, 32, 1},
     {MATMUL(cast_bytes), 0.1, 100, 5, 1}},
    {{ATTENTION(share), 0.05, 1, 0.5, 0.5},
     {ATTENTION(launch_s), 1e-8, 1e-3, 1e-5, 1},
     {ATTENTION(fill_queries), 1, 1e6, 4000, 1},
     {ATTENTION(edge_keys), 0.1, 4096, 100, 1}},
};

static int column_of(const struct sp_csv *csv, const char *name)
{
    return sp_csv_column(csv, name);
}

bool sp_is_kernel_times(const char *text)
{
    char header[512];
    snprintf(header, sizeof header, "%.*s,", (int)strcspn(text, "\r\n"), text);
    return strstr(header, "dtype,") && strstr(header, "time_s,") &&
           (strncmp(header, "op,", 3) == 0 || strstr(header, ",op,"));
}

/* The number of a word in a list of n; -1: none. */
static int number_of(const char *const *list, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0)
            return i;
    return -1;
}

/* A positive number of a row; NAN: none. */
static double positive(const struct sp_csv *csv, size_t row, const char *column)
{
    char *end;
    const char *const cell = sp_csv_cell(csv, row, column_of(csv, column));
    const double value = strtod(cell, &end);
    return *cell && *end == '\0' && isfinite(value) && value > 0 ? value : NAN;
}

static bool read_row(const struct sp_csv *csv, size_t row, const char *origin,
                     struct sp_kernel_time *time, struct sp_error *error)
{
    const char *const op = sp_csv_cell(csv, row, column_of(csv, "op")), *const dtype = sp_csv_cell(
                                                                            csv, row,
                                                                            column_of(csv,
                                                                                      "dtype"));
    const int which = number_of(sp_kernel_op_names, SP_KERNEL_OPS, op),
              format = number_of(sp_kernel_format_names, SP_KERNEL_FORMATS, dtype);
    if (which < 0)
        return sp_fail(error, SP_INPUT, "%s: row %zu: op \"%s\": expected matmul or attention",
                       sp_safe(origin), row + 1, sp_safe(op));
    if (format < 0 || (which == SP_ATTENTION_TIME && format >= SP_KERNEL_ATTENTION_FORMATS))
        return sp_fail(error, SP_INPUT, "%s: row %zu: dtype \"%s\": expected bf16 or fp8%s",
                       sp_safe(origin), row + 1, sp_safe(dtype),
                       which == SP_MATMUL_TIME ? ", fp8_block, nvfp4" : "");
    *time = (struct sp_kernel_time){
        .op = (enum sp_kernel_op)which, .format = format, .time_s = positive(csv, row, "time_s")};
    for (int i = 0; i < 3; i++) {
        time->size[i] = positive(csv, row, sizes[which][i]);
        if (isnan(time->size[i]))
            return sp_fail(error, SP_INPUT, "%s: row %zu: %s must be a positive number",
                           sp_safe(origin), row + 1, sizes[which][i]);
    }
    return !isnan(time->time_s) ||
           sp_fail(error, SP_INPUT, "%s: row %zu: time_s must be a positive number",
                   sp_safe(origin), row + 1);
}

bool sp_read_kernel_times(const char *text, const char *origin, struct sp_kernel_times *times,
                          struct sp_error *error)
{
    struct sp_csv csv;
    *times = (struct sp_kernel_times){NULL, 0};
    if (!sp_read_csv(sp_must(strdup(text)), strlen(text), origin, &csv, error))
        return false;
    times->of = sp_must(calloc(csv.rows + 1, sizeof *times->of));
    bool ok = true;
    for (size_t row = 0; row + 1 < csv.rows && ok; row++)
        ok = read_row(&csv, row, origin, &times->of[times->n++], error);
    sp_csv_free(&csv);
    return ok &&
           (times->n > 0 || sp_fail(error, SP_INPUT, "%s: no row has a time", sp_safe(origin)));
}

/* One curve, being fitted. */
struct fitting {
    struct sp_hardware hw;
    const struct sp_kernel_times *times;
    enum sp_kernel_op op;
    int format, n;
    double start[SP_MOST_DESCENT]; /* logarithms */
};

static double *constant_at(struct fitting *f, int i)
{
    struct sp_kernels *const k = &f->hw.chip.kernels;
    char *const curve =
        f->op == SP_MATMUL_TIME ? (char *)&k->matmul[f->format] : (char *)&k->attention[f->format];
    return (double *)(void *)(curve + constants[f->op][i].at);
}

static double log_error(const struct fitting *f, const struct sp_kernel_time *t)
{
    const struct sp_chip *const chip = &f->hw.chip;
    const enum sp_kernel_format format = (enum sp_kernel_format)f->format;
    const double *const s = t->size;
    return log((f->op == SP_MATMUL_TIME ? sp_matmul_kernel_s(chip, format, s[0], s[1], s[2])
                                        : sp_attention_kernel_s(chip, format, s[0], s[1], s[2])) /
               t->time_s);
}

static bool is_of(const struct fitting *f, const struct sp_kernel_time *t)
{
    return t->op == f->op && t->format == f->format;
}

/* Quadratic for small errors, linear for large ones: some shapes fall on slow kernels. */
static double cost(const double *x, void *context)
{
    struct fitting *const f = context;
    double sum = 0;
    for (int i = 0; i < f->n; i++) {
        const double z = (x[i] - f->start[i]) / constants[f->op][i].spread;
        *constant_at(f, i) = exp(x[i]);
        sum += z * z / 2;
    }
    for (size_t i = 0; i < f->times->n; i++)
        if (is_of(f, &f->times->of[i])) {
            const double z = log_error(f, &f->times->of[i]) / NOISE;
            sum += sqrt(1 + z * z) - 1;
        }
    return sum;
}

/* Mean absolute error of the current curve, and its number of times. */
static double mean_error(const struct fitting *f, double *rows)
{
    double sum = 0;
    *rows = 0;
    for (size_t i = 0; i < f->times->n; i++)
        if (is_of(f, &f->times->of[i])) {
            sum += fabs(log_error(f, &f->times->of[i]));
            (*rows)++;
        }
    return sum / *rows;
}

/* Three digits, as in the files; values with no effect become zero. */
static double rounded(double value, const struct constant *c)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", value > 1.01 * c->low || c->high == 1 ? value : 0);
    return atof(text);
}

static void fit_curve(struct fitting *f, struct sp_fitted_kernel *fitted)
{
    double x[SP_MOST_DESCENT], rows;
    struct sp_descent d = {.cost = cost, .context = f};
    while (f->n < 5 && constants[f->op][f->n].high > 0)
        f->n++;
    if (f->op == SP_MATMUL_TIME && f->format == SP_KERNEL_BF16)
        f->n--; /* nothing is cast */
    *fitted = (struct sp_fitted_kernel){.op = f->op, .format = f->format};
    fitted->before = mean_error(f, &rows);
    for (int i = 0; i < f->n; i++) {
        const struct constant *const c = &constants[f->op][i];
        const double own = *constant_at(f, i);
        d.low[i] = log(c->low);
        d.high[i] = log(c->high);
        x[i] = f->start[i] = log(fmax(isnan(fitted->before) ? c->usual : own, c->low));
    }
    d.n = f->n;
    sp_descend(&d, x);
    for (int i = 0; i < f->n; i++)
        *constant_at(f, i) = rounded(exp(x[i]), &constants[f->op][i]);
    fitted->share = *constant_at(f, 0);
    fitted->after = mean_error(f, &fitted->rows);
    struct sp_kernels *const k = &f->hw.chip.kernels;
    double *const of[] = {f->op == SP_MATMUL_TIME ? &k->matmul[f->format].rows
                                                  : &k->attention[f->format].rows,
                          f->op == SP_MATMUL_TIME ? &k->matmul[f->format].residual
                                                  : &k->attention[f->format].residual};
    *of[0] = fitted->rows;
    *of[1] = round(1e3 * fitted->after) / 1e3;
}

void sp_fit_kernels(const struct sp_hardware *hw, const struct sp_kernel_times *times,
                    struct sp_kernel_fit *fit)
{
    struct fitting f = {.hw = *hw, .times = times};
    fit->n = 0;
    for (int op = 0; op < SP_KERNEL_OPS; op++)
        for (int format = 0; format < SP_KERNEL_FORMATS; format++) {
            double rows;
            f.op = (enum sp_kernel_op)op;
            f.format = format;
            f.n = 0;
            if (op == SP_ATTENTION_TIME && format >= SP_KERNEL_ATTENTION_FORMATS)
                continue;
            mean_error(&f, &rows);
            if (rows > 0)
                fit_curve(&f, &fit->of[fit->n++]);
        }
    fit->kernels = f.hw.chip.kernels;
}

/* Adds a number under a dotted path. */
static void add_number(cJSON *root, const char *path, double value)
{
    char name[64];
    const char *dot;
    while ((dot = strchr(path, '.')) != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
        cJSON *const known = cJSON_GetObjectItemCaseSensitive(root, name);
        root = known ? known : cJSON_AddObjectToObject(root, name);
        path = dot + 1;
    }
    cJSON_AddNumberToObject(root, path, value);
}

char *sp_kernels_text(const struct sp_kernels *kernels, const char *name, const char *source)
{
    cJSON *const root = cJSON_CreateObject();
    bool measured = false;
    cJSON_AddStringToObject(root, "name", name);
    for (size_t i = 0; i < sp_kernels_table.n; i++) {
        const struct sp_field *const field = &sp_kernels_table.fields[i];
        if (field->type != SP_FIELD_REAL)
            continue;
        const double value = sp_field_number(field, kernels);
        const char *const last = strrchr(field->key, '.');
        if (last && strcmp(last, ".share") == 0) /* the first of a curve */
            measured = !isnan(value);
        if (measured)
            add_number(root, field->key, value);
    }
    cJSON_AddStringToObject(root, "source", source);
    char *const text = sp_must(cJSON_Print(root));
    cJSON_Delete(root);
    return text;
}
