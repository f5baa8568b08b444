/* A value of a figure in words, for a reader who points at it or hears the picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "pictures/drawing.h"

/* A value of an axis: its category, or the number with its unit. */
static void say_number(const struct sp_plot_axis *axis, double value, char *out, size_t size)
{
    const char *const unit = axis->unit ? axis->unit : "";
    for (size_t i = 0; i < axis->n_ticks; i++)
        if (fabs(axis->ticks[i].at - value) < 0.5 && !axis->log) {
            snprintf(out, size, "%s", axis->ticks[i].text);
            return;
        }
    sp_tick_text(value, unit, out, size);
    if (strlen(unit) > 1)
        sp_append(out, size, " %s", unit);
}

/* The text that is in a box, or at a point. */
static const char *label_at(const struct sp_panel *panel, const double box[4])
{
    for (size_t i = 0; i < panel->n_labels; i++) {
        const struct sp_label *const l = &panel->labels[i];
        if (l->x >= box[0] && l->x <= box[1] && l->y >= box[2] && l->y <= box[3])
            return l->text;
    }
    return "";
}

static void say_box(const struct sp_panel *panel, const struct sp_series *series, const double *v,
                    char *out, size_t size)
{
    char number[3][SP_PLOT_TEXT];
    const char *const inside = label_at(panel, v);
    if (panel->y.n_ticks > 0) {
        say_number(&panel->y, (v[2] + v[3]) / 2, number[0], sizeof number[0]);
        sp_append(out, size, "%s: ", number[0]);
    }
    if (panel->x.n_ticks > 0) {
        say_number(&panel->x, (v[0] + v[1]) / 2, number[0], sizeof number[0]);
        sp_append(out, size, "%s%s%s", number[0], *inside ? ": " : "", inside);
        return;
    }
    say_number(&panel->x, v[1] - v[0], number[0], sizeof number[0]);
    sp_append(out, size, "%s%s%s%s%s", series->name, series->name[0] ? " " : "", inside,
              *inside ? " " : "", number[0]);
    if (v[0] == 0)
        return;
    say_number(&panel->x, v[0], number[1], sizeof number[1]);
    say_number(&panel->x, v[1], number[2], sizeof number[2]);
    sp_append(out, size, ", from %s to %s", number[1], number[2]);
}

void sp_say_value(const struct sp_panel *panel, const struct sp_series *series, size_t i, char *out,
                  size_t size)
{
    const double *const v = series->values + i;
    char a[SP_PLOT_TEXT], b[SP_PLOT_TEXT];
    *out = '\0';
    if (sp_values_each(series->kind) == 4) {
        say_box(panel, series, v, out, size);
        return;
    }
    say_number(&panel->x, v[0], a, sizeof a);
    if (series->kind == SP_WHISKERS) {
        say_number(&panel->x, v[1], b, sizeof b);
        snprintf(out, size, "%s%s%s to %s", series->name, series->name[0] ? " " : "", a, b);
        return;
    }
    const char *const at = label_at(panel, (const double[]){v[0], v[0], v[1], v[1]}),
                      *const name = *at ? at : series->name;
    say_number(&panel->y, v[1], b, sizeof b);
    snprintf(out, size, "%s%s%s%s%s, %s%s%s", name, *name ? ": " : "", panel->x.label,
             panel->x.label[0] ? " " : "", a, panel->y.label, panel->y.label[0] ? " " : "", b);
}
