/* The roofline of a chip with operations on it. */
#include "commands/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

/* Markers this close lie on one spot. */
#define ONE_SPOT 1.06

/* The one of n operations that lies where this intensity does; n: none. */
static size_t same_spot(const struct sp_operation *ops, size_t n, double intensity)
{
    size_t i = 0;
    while (i < n && fmax(ops[i].intensity / intensity, intensity / ops[i].intensity) > ONE_SPOT)
        i++;
    return i;
}

/* Adds an operation, or its name to the one that lies on its spot; `most` has the highest intensity
 * of each spot. */
static size_t add_operation(struct sp_operation *ops, double *most, size_t n, const char *name,
                            double intensity)
{
    const size_t at = same_spot(ops, n, intensity), used = at < n ? strlen(ops[at].name) : 0;
    snprintf(ops[at].name + used, sizeof ops[at].name - used, "%s%.40s", used ? ", " : "", name);
    ops[at].intensity = at == n ? intensity : fmin(ops[at].intensity, intensity);
    most[at] = at == n ? intensity : fmax(most[at], intensity);
    return at == n ? n + 1 : n;
}

/* "up, down: 232 FLOPs/byte", or from the lowest to the highest, between which the marker lies. */
static void add_intensity(struct sp_operation *op, double most)
{
    const size_t used = strlen(op->name);
    char least[32], highest[32];
    snprintf(least, sizeof least, "%s", sp_human_text(op->intensity, SP_NUMBER));
    snprintf(highest, sizeof highest, "%s", sp_human_text(most, SP_NUMBER));
    const bool one = strcmp(least, highest) == 0;
    snprintf(op->name + used, sizeof op->name - used, ": %s%s%s FLOPs/byte", least,
             one ? "" : " to ", one ? "" : highest);
    op->intensity = sqrt(op->intensity * most);
}

/* The operations of the report: a model's operators, or the one that was asked for. */
static size_t read_operations(const struct sp_report *r, double C, double W,
                              struct sp_operation *ops)
{
    size_t n = 0;
    double most[MOST];
    for (size_t i = 0; n < MOST; i++) {
        const double at = sp_listed_number(r, "operators", i, SP_Q_ROOFLINE_INTENSITY);
        if (isnan(at))
            break;
        n = add_operation(ops, most, n, sp_listed_text(r, "operators", i, SP_Q_ROOFLINE_OP_NAME),
                          at);
    }
    for (size_t i = 0; i < n; i++)
        add_intensity(&ops[i], most[i]);
    const double intensity = sp_report_number(r, SP_Q_ROOFLINE_INTENSITY);
    if (n == 0 && intensity > 0) {
        snprintf(ops[0].name, sizeof ops[0].name, "%.60s",
                 *sp_report_text(r, SP_Q_ROOFLINE_OPERATION)
                     ? sp_report_text(r, SP_Q_ROOFLINE_OPERATION)
                     : "operation");
        ops[n++].intensity = intensity;
    }
    for (size_t i = 0; i < n; i++)
        ops[i].flops_per_s = sp_attainable_flops_per_s(ops[i].intensity, C, W);
    return n;
}

struct sp_figure *sp_plot_roofline(const struct sp_args *args, const struct sp_report *report,
                                   struct sp_error *error)
{
    struct sp_operation ops[MOST] = {0};
    char peak[96], slope[128];
    const double C = sp_report_number(report, SP_Q_ROOFLINE_PEAK),
                 W = sp_report_number(report, SP_Q_ROOFLINE_BANDWIDTH),
                 ridge = sp_report_number(report, SP_Q_ROOFLINE_RIDGE);
    if (isnan(ridge) || !(ridge > 0)) {
        sp_fail(error, SP_USAGE, "--plot needs --hw, whose roofline is drawn");
        return NULL;
    }
    const size_t n = read_operations(report, C, W, ops);
    double low = ridge / 16;
    for (size_t i = 0; i < n; i++)
        low = fmin(low, ops[i].intensity / 2);
    snprintf(peak, sizeof peak, "peak %s", sp_human_text(C, SP_FLOPS_PER_S));
    snprintf(slope, sizeof slope, "ridge: %s FLOPs/byte", sp_human_text(ridge, SP_NUMBER));
    const struct sp_roof roof = {.peak_flops_per_s = C,
                                 .ridge = ridge,
                                 .low_intensity = low,
                                 .low_flops_per_s = sp_attainable_flops_per_s(low, C, W),
                                 .peak_text = peak,
                                 .slope_text = slope,
                                 .operations = ops,
                                 .n_operations = n};
    const char *const model = args->value.model ? args->value.model : "";
    struct sp_figure *const figure = sp_figure_new(
        "Roofline of %.40s, bytes from %s at %s%s%.50s%s%s", args->value.hw,
        args->text[SP_O_bytes_from], sp_human_text(W, SP_BYTES_PER_S),
        *model ? ": matmuls of " : "", model, *model && args->value.batch ? ", batch " : "",
        *model && args->value.batch ? args->value.batch : "");
    sp_draw_roof(figure, &roof);
    return figure;
}
