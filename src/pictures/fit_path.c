/* The questions of `fit --path` as a picture. */
#include "pictures/fit_path.h"

#include <math.h>

#include "pictures/report_data.h"

struct sp_figure *sp_draw_path(const struct sp_report *report)
{
    struct sp_figure *const figure = sp_figure_new(
        "From %.40s on %s x %.24s to a strategy", sp_report_text(report, SP_Q_FIT_MODEL),
        sp_human_text(sp_report_number(report, SP_Q_FIT_CHIPS), SP_COUNT),
        sp_report_text(report, SP_Q_FIT_HARDWARE));
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("", "", false), sp_make_axis("", "", false), "");
    double yes;
    for (size_t i = 0; !isnan(yes = sp_listed_number(report, "path", i, SP_Q_FIT_PATH_YES)); i++)
        sp_add_card(panel, yes > 0, sp_listed_text(report, "path", i, SP_Q_FIT_PATH_ASKS),
                    sp_listed_text(report, "path", i, SP_Q_FIT_PATH_WHY),
                    sp_listed_text(report, "path", i, SP_Q_FIT_PATH_THEN));
    return figure;
}
