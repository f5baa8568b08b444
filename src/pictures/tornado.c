/* How a goal changes with more and with less of each figure of a machine. */
#include "pictures/tornado.h"

#include <math.h>

#include "pictures/report_data.h"

static void add_box(struct sp_series *series, const struct sp_report *r, int i,
                    enum sp_quantity_id id, double value)
{
    const double end = sp_listed_number(r, "sensitivity", (size_t)i, id);
    sp_add_box(series, fmin(value, end), fmax(value, end), -i - 0.4, -i + 0.4);
}

struct sp_figure *sp_draw_tornado(const struct sp_report *report, double delta)
{
    struct sp_figure *const figure =
        sp_figure_new("Effect of %s more and less of each figure on the %s of %.40s on %.40s",
                      sp_human_text(delta, SP_FRACTION), sp_find(report, "goal")->text,
                      sp_find(report, "model")->text, sp_find(report, "hw")->text);
    const struct sp_entry *const value = sp_find(report, "value");
    const char *const unit =
        value->info->unit == SP_SECONDS ? "s" : sp_unit_name(value->info->unit);
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(sp_find(report, "goal")->text, unit, false),
                     sp_make_axis("", "", false), "");
    struct sp_series *const less = sp_add_series(panel, SP_BOXES, SP_ORANGE, "less of it");
    struct sp_series *const more = sp_add_series(panel, SP_BOXES, SP_BLUE, "more of it");
    const char *path;
    int i = 0;
    for (; *(path = sp_listed_text(report, "sensitivity", (size_t)i, SP_Q_SENSITIVITY_PATH)); i++) {
        add_box(less, report, i, SP_Q_SENSITIVITY_LOW, sp_entry_number(value));
        add_box(more, report, i, SP_Q_SENSITIVITY_HIGH, sp_entry_number(value));
        sp_add_tick(&panel->y, -i, "%s", path);
    }
    less->letter = '-';
    more->letter = '+';
    panel->x.floating = panel->y.floating = true;
    panel->y.min = -i + 0.4;
    panel->y.max = 1.1; /* the rule's name is above the bars */
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 77 + 34 * i;
    panel->rows = 2 * i + 2;
    panel->above = 0.5 / (panel->y.max - panel->y.min);
    sp_add_rule(panel, true, sp_entry_number(value), SP_BLACK, "%s", "as it is");
    return figure;
}
