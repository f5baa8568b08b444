/* The roofline of a chip with operations on it. */
#include "pictures/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "base/text.h"
#include "answer/quantity.h"
#include "pictures/pictures.h"

enum { MOST = 32 };

/* Markers with a smaller ratio of intensities are merged. */
#define ONE_SPOT 1.06

/* Index of the operation at this intensity; n: none. */
static size_t same_spot(const struct sp_operation *ops, size_t n, double intensity)
{
    size_t i = 0;
    while (i < n && fmax(ops[i].intensity / intensity, intensity / ops[i].intensity) > ONE_SPOT)
        i++;
    return i;
}

/* Adds an operation, or its name to a merged one; `most` has the highest intensity of each
 * marker. */
static size_t add_operation(struct sp_operation *ops, double *most, size_t n, const char *name,
                            double intensity)
{
    const size_t at = same_spot(ops, n, intensity), used = at < n ? strlen(ops[at].name) : 0;
    snprintf(ops[at].name + used, sizeof ops[at].name - used, "%s%.40s", used ? ", " : "", name);
    ops[at].intensity = at == n ? intensity : fmin(ops[at].intensity, intensity);
    most[at] = at == n ? intensity : fmax(most[at], intensity);
    return at == n ? n + 1 : n;
}

/* "up, down: 232 FLOPs/byte", or the range of merged operations. */
static void add_intensity(struct sp_operation *op, double most)
{
    char least[32], highest[32];
    snprintf(least, sizeof least, "%s", sp_human_text(op->intensity, SP_NUMBER));
    snprintf(highest, sizeof highest, "%s", sp_human_text(most, SP_NUMBER));
    const bool one = strcmp(least, highest) == 0;
    sp_append(op->name, sizeof op->name, ": %s%s%s FLOPs/byte", least, one ? "" : " to ",
              one ? "" : highest);
    op->intensity = sqrt(op->intensity * most);
}

/* The markers, with close operations merged. */
static size_t place(const struct sp_roofline_picture *p, struct sp_operation *ops)
{
    double most[MOST] = {0};
    size_t n = 0;
    if (p->one && p->n > 0) {
        snprintf(ops[0].name, sizeof ops[0].name, "%.60s", p->names[0]);
        ops[0].intensity = p->intensities[0];
        n = 1;
    }
    for (size_t i = 0; !p->one && i < p->n && n < MOST; i++)
        n = add_operation(ops, most, n, p->names[i], p->intensities[i]);
    for (size_t i = 0; i < n && !p->one; i++)
        add_intensity(&ops[i], most[i]);
    for (size_t i = 0; i < n; i++)
        ops[i].flops_per_s = sp_attainable_flops_per_s(ops[i].intensity, p->C, p->W);
    return n;
}

struct sp_figure *sp_plot_roofline(const struct sp_roofline_picture *p)
{
    struct sp_operation ops[MOST] = {0};
    char peak[96], slope[128];
    const double ridge = sp_ridge_point(p->C, p->W);
    const size_t n = place(p, ops);
    double low = ridge / 16;
    for (size_t i = 0; i < n; i++)
        low = fmin(low, ops[i].intensity / 2);
    snprintf(peak, sizeof peak, "peak %s", sp_human_text(p->C, SP_FLOPS_PER_S));
    snprintf(slope, sizeof slope, "ridge: %s FLOPs/byte", sp_human_text(ridge, SP_NUMBER));
    struct sp_figure *const figure = sp_figure_new("%s", p->title);
    sp_draw_roof(figure,
                 &(struct sp_roof){.peak_flops_per_s = p->C,
                                   .ridge = ridge,
                                   .low_intensity = low,
                                   .low_flops_per_s = sp_attainable_flops_per_s(low, p->C, p->W),
                                   .peak_text = peak,
                                   .slope_text = slope,
                                   .operations = ops,
                                   .n_operations = n});
    return figure;
}
