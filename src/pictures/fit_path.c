/* The questions of `fit --path` as a picture. */
#include "pictures/fit_path.h"

#include <math.h>

#include "pictures/report_data.h"

/* Draws a box per question from top to bottom, with its numbers and its outcome beside it. */
static void draw_question(struct sp_panel *panel, const struct sp_report *r, size_t i, double y)
{
    const bool yes = sp_listed_number(r, "path", i, SP_Q_FIT_PATH_YES) > 0;
    struct sp_series *const box =
        sp_add_series(panel, SP_HOLLOW, yes ? SP_GREEN : SP_VERMILION, "%s", "");
    sp_add_box(box, 0, 6, y + 0.1, y + 0.9);
    sp_add_label(panel, 0.1, y + 0.65, SP_LEFT, "%s",
                 sp_listed_text(r, "path", i, SP_Q_FIT_PATH_ASKS));
    sp_add_label(panel, 0.1, y + 0.32, SP_LEFT, "%s: %s", yes ? "yes" : "no",
                 sp_listed_text(r, "path", i, SP_Q_FIT_PATH_WHY));
    sp_add_label(panel, 6.3, y + 0.5, SP_LEFT, "%s",
                 sp_listed_text(r, "path", i, SP_Q_FIT_PATH_THEN));
}

struct sp_figure *sp_draw_path(const struct sp_report *report)
{
    struct sp_figure *const figure = sp_figure_new(
        "From %.40s on %s x %.24s to a strategy", sp_report_text(report, SP_Q_FIT_MODEL),
        sp_human_text(sp_report_number(report, SP_Q_FIT_CHIPS), SP_COUNT),
        sp_report_text(report, SP_Q_FIT_HARDWARE));
    struct sp_plot_axis x = sp_make_axis("", "", false), y = sp_make_axis("", "", false);
    size_t n = 0;
    while (!isnan(sp_listed_number(report, "path", n, SP_Q_FIT_PATH_YES)))
        n++;
    for (size_t i = 0; i < n; i++)
        sp_add_tick(&y, (double)(n - 1 - i) + 0.5, "%zu", i + 1);
    sp_add_tick(&x, 0, "question");
    sp_add_tick(&x, 6.2, "then");
    struct sp_panel *const panel = sp_add_panel(figure, x, y, "");
    for (size_t i = 0; i < n; i++)
        draw_question(panel, report, i, (double)(n - 1 - i));
    panel->x.min = -0.1;
    panel->x.max = 10;
    panel->y.min = 0;
    panel->y.max = (double)n;
    panel->height_px = 60 * (double)n;
    panel->rows = 3 * (int)n;
    return figure;
}
