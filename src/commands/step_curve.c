/* `step --curve`: the plan with more replicas, each with the same batch. */
#include <math.h>
#include <stdio.h>

#include "commands/plot_data.h"
#include "commands/step_report.h"

enum { MOST_POINTS = 32 };

void sp_put_curve(struct sp_report *r, const struct sp_planned *planned)
{
    static const struct sp_column columns[] = {
        {"devices", "devices", false},
        {"step_s", "step", false},
        {"efficiency", "efficiency", false},
        {"all_reduce_bytes_per_s", "all-reduce of 256 MB", false},
    };
    struct sp_scaled_step points[MOST_POINTS];
    struct sp_row rows[MOST_POINTS] = {0};
    const struct sp_step_inputs in = sp_inputs_of(planned);
    const int n = sp_scale_step(&in, points, MOST_POINTS);
    for (int i = 0; i < n; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "curve.%d", i);
        sp_scope(r, rows[i].prefix);
        sp_put(r, SP_Q_STEP_CURVE_DEVICES, (double)points[i].chips);
        sp_put(r, SP_Q_STEP_CURVE_STEP, points[i].step_s);
        sp_put(r, SP_Q_STEP_CURVE_EFFICIENCY, points[i].efficiency);
        sp_put(r, SP_Q_STEP_CURVE_RATE, points[i].all_reduce_bytes_per_s);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)n);
}

static void draw_line(struct sp_figure *figure, const struct sp_report *r, const char *label,
                      const char *unit, enum sp_quantity_id id)
{
    struct sp_panel *const panel = sp_add_panel(figure, sp_make_axis("devices", "", true),
                                                sp_make_axis(label, unit, false), "");
    struct sp_series *const line = sp_add_series(panel, SP_LINE, SP_BLUE, "%s", "");
    struct sp_series *const marks = sp_add_series(panel, SP_MARKS, SP_BLUE, "%s", "");
    for (size_t i = 0; i < MOST_POINTS; i++) {
        const double x = sp_listed_number(r, "curve", i, SP_Q_STEP_CURVE_DEVICES),
                     y = sp_listed_number(r, "curve", i, id);
        if (isnan(x) || isnan(y))
            continue;
        sp_add_point(line, x, y);
        sp_add_point(marks, x, y);
    }
    panel->y.min = 0;
    panel->height_px = 220;
    panel->rows = 12;
}

struct sp_figure *sp_plot_curve(const struct sp_report *report)
{
    struct sp_figure *const figure = sp_figure_new(
        "Weak scaling of %.40s on %.24s: more replicas, each with its batch",
        sp_report_text(report, SP_Q_STEP_MODEL), sp_report_text(report, SP_Q_STEP_MACHINE));
    draw_line(figure, report, "efficiency", "", SP_Q_STEP_CURVE_EFFICIENCY);
    draw_line(figure, report, "all-reduce of 256 MB", "B/s", SP_Q_STEP_CURVE_RATE);
    return figure;
}
