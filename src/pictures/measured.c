/* Measured runs against their predictions. */
#include "pictures/measured.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pictures/report_data.h"

/* Beyond this many ranges they become one grey band, and beyond this many names they are left
 * out. */
enum { MOST_RANGES = 80, MOST_NAMED = 40 };

/* The compared quantity: the step of a training run, or tokens of a service. */
static const struct {
    const char *measured, *predicted, *low, *high, *words;
} kinds[] = {
    {"measured_step_s", "predicted_step_s", "low_s", "high_s", "step"},
    {"measured_tpot_s", "predicted_tpot_s", "low_tpot_s", "high_tpot_s", "time between tokens"}};

/* Adds the runs of one kind; returns how many, and what they span. */
static size_t add_runs(struct sp_panel *panel, const struct sp_report *r, size_t kind, double *low,
                       double *high)
{
    struct sp_series *const range = sp_add_series(panel, SP_WHISKERS, SP_GREY, "80 %% range"),
                            *const runs = sp_add_series(panel, SP_MARKS, SP_BLUE, "%s", "runs"),
                            *const outside = sp_add_series(panel, SP_MARKS, SP_VERMILION,
                                                           "runs outside their range");
    const size_t rows = (size_t)sp_keyed_number(r, "rows");
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        const double y = sp_rows_number(r, "runs", i, kinds[kind].measured),
                     x = sp_rows_number(r, "runs", i, kinds[kind].predicted),
                     from = sp_rows_number(r, "runs", i, kinds[kind].low),
                     to = sp_rows_number(r, "runs", i, kinds[kind].high);
        if (!(x > 0 && y > 0))
            continue;
        sp_add_point(y < from || y > to ? outside : runs, x, y);
        if (rows <= MOST_NAMED) {
            struct sp_label *const name =
                sp_add_label(panel, x, y, SP_LEFT, "%s", sp_rows_text(r, "runs", i, "id"));
            name->beside = name->yields = true;
        }
        sp_add_whisker(range, from, to, y);
        *low = fmin(*low, fmin(x, y));
        *high = fmax(*high, fmax(x, y));
        n++;
    }
    if (n > MOST_RANGES)
        range->n = 0;
    return n;
}

struct sp_figure *sp_draw_measured(const struct sp_report *r, struct sp_error *error)
{
    const bool serves = !isnan(sp_keyed_number(r, "tpot.n"));
    const size_t kind = serves ? 1 : 0;
    char across[64], up[64];
    snprintf(across, sizeof across, "predicted %s", kinds[kind].words);
    snprintf(up, sizeof up, "measured %s", kinds[kind].words);
    struct sp_figure *const figure = sp_figure_new("%s against %s", up, across);
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(across, "s", true), sp_make_axis(up, "s", true), "");
    double low = INFINITY, high = 0;
    const size_t n = add_runs(panel, r, kind, &low, &high);
    struct sp_series *const equal = sp_add_series(panel, SP_LINE, SP_BLACK, "equal");
    equal->dashed = true;
    sp_add_point(equal, low / 1.5, low / 1.5);
    sp_add_point(equal, high * 1.5, high * 1.5);
    panel->x.min = panel->y.min = low / 1.5;
    panel->x.max = panel->y.max = high * 1.5;
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 460;
    if (n > 0)
        return figure;
    sp_figure_free(figure);
    sp_fail(error, SP_INPUT,
            "--plot: no run of the answer has both a measured and a predicted time");
    return NULL;
}
