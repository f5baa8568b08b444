/* The points of a service: what a chip generates against what a user sees. */
#include <math.h>

#include "commands/plot_data.h"

/* A kind of instance: its chips and degrees. */
struct kind {
    double chips, tp, dp;
};

static struct kind kind_of(const struct sp_report *r, size_t i)
{
    return (struct kind){sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_CHIPS),
                         sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_TP),
                         sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_DP)};
}

static bool same_kind(struct kind a, struct kind b)
{
    return a.chips == b.chips && a.dp == b.dp && (a.tp == b.tp || (isnan(a.tp) && isnan(b.tp)));
}

/* The marks of the kind of point `i`, unless an earlier point has drawn them. */
static void add_kind(struct sp_panel *panel, const struct sp_report *r, size_t i, size_t n)
{
    const struct kind kind = kind_of(r, i);
    for (size_t k = 0; k < i; k++)
        if (same_kind(kind_of(r, k), kind))
            return;
    if (panel->n_series >= SP_MAX_SERIES)
        return;
    struct sp_series *const s = sp_add_series(
        panel, SP_MARKS, sp_look_of(panel->n_series), "%.0f chips%s%s%s%s", kind.chips,
        isnan(kind.tp) ? "" : ", TP ", isnan(kind.tp) ? "" : sp_human_text(kind.tp, SP_COUNT),
        kind.dp > 1 ? ", DP " : "", kind.dp > 1 ? sp_human_text(kind.dp, SP_COUNT) : "");
    s->letter = (char)('a' + (char)(panel->n_series % 26));
    for (size_t k = i; k < n; k++)
        if (same_kind(kind_of(r, k), kind))
            sp_add_point(s, sp_listed_number(r, "points", k, SP_Q_SERVE_POINT_USER),
                         sp_listed_number(r, "points", k, SP_Q_SERVE_POINT_DEVICE));
}

struct sp_figure *sp_plot_serve(const struct sp_args *args, const struct sp_report *report,
                                struct sp_error *error)
{
    size_t n = 0;
    while (!isnan(sp_listed_number(report, "points", n, SP_Q_SERVE_POINT_CHIPS)))
        n++;
    if (n == 0) {
        sp_fail(error, SP_INPUT, "--plot: no instance in the answer to draw");
        return NULL;
    }
    struct sp_figure *const figure = sp_figure_new(
        "%.60s on %.60s", sp_report_text(report, SP_Q_SERVE_MODEL), sp_text_of(args, "hw"));
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("tokens per second of a user", "", true),
                     sp_make_axis("tokens per second of a chip", "", true), "");
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 400;
    for (size_t i = 0; i < n; i++)
        add_kind(panel, report, i, n);
    return figure;
}
