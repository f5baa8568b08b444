/* Draws a service. */
#include "pictures/serving.h"

#include <math.h>
#include <string.h>

#include "answer/quantity.h"
#include "pictures/pictures.h"

static bool same_kind(const struct sp_service_mark *a, const struct sp_service_mark *b)
{
    return strcmp(a->hw, b->hw) == 0 && a->chips == b->chips && a->dp == b->dp &&
           (a->tp == b->tp || (isnan(a->tp) && isnan(b->tp)));
}

/* The marks of the kind of mark `i`, unless an earlier one has drawn them. */
static void add_kind(struct sp_panel *panel, const struct sp_service_picture *p, size_t i)
{
    const struct sp_service_mark *const kind = &p->marks[i];
    for (size_t k = 0; k < i; k++)
        if (same_kind(&p->marks[k], kind))
            return;
    struct sp_series *const s = sp_add_series(
        panel, SP_MARKS, sp_look_of(panel->n_series), "%.40s%s%.0f chips%s%s%s%s", kind->hw,
        *kind->hw ? ", " : "", kind->chips, isnan(kind->tp) ? "" : ", TP ",
        isnan(kind->tp) ? "" : sp_human_text(kind->tp, SP_COUNT), kind->dp > 1 ? ", DP " : "",
        kind->dp > 1 ? sp_human_text(kind->dp, SP_COUNT) : "");
    s->letter = (char)('a' + (char)(panel->n_series % 26));
    for (size_t k = i; k < p->n_marks; k++)
        if (same_kind(&p->marks[k], kind))
            sp_add_point(s, p->marks[k].user, p->marks[k].chip);
}

/* The speeds of a user within the 80 % range, behind the marks. */
static void add_ranges(struct sp_panel *panel, const struct sp_service_picture *p)
{
    if (isnan(p->tpot_low_s))
        return;
    struct sp_series *const range = sp_add_series(panel, SP_WHISKERS, SP_GREY, "80 %% range");
    for (size_t i = 0; i < p->n_marks; i++)
        sp_add_whisker(range, p->marks[i].user * p->tpot_s / p->tpot_high_s,
                       p->marks[i].user * p->tpot_s / p->tpot_low_s, p->marks[i].chip);
}

static void add_marks(struct sp_figure *figure, const struct sp_service_picture *p)
{
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("tokens per second of a user", "", true),
                     sp_make_axis("tokens per second of a chip", "", true), "");
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 400;
    add_ranges(panel, p);
    for (size_t i = 0; i < p->n_marks; i++)
        add_kind(panel, p, i);
}

static void add_rules(struct sp_panel *panel, const struct sp_service_picture *p)
{
    sp_add_rule(panel, true, p->runs, SP_BLACK, "runs %s", sp_human_text(p->runs, SP_NUMBER));
    if (isfinite(p->fits) && p->fits > 0 && p->fits != p->runs)
        sp_add_rule(panel, true, p->fits, SP_GREY, "fits %s", sp_human_text(p->fits, SP_NUMBER));
}

/* A curve, `times` as high. */
static struct sp_series *add_curve(struct sp_panel *panel, const struct sp_service_picture *p,
                                   const struct sp_service_curve *curve, const char *name,
                                   double times)
{
    struct sp_series *const s = sp_add_series(panel, SP_LINE, curve->look, "%s", name);
    for (size_t i = 0; i < p->n_batches; i++)
        if (curve->height[i] > 0)
            sp_add_point(s, p->batch[i], curve->height[i] * times);
    return s;
}

static void add_curves(struct sp_figure *figure, const struct sp_service_picture *p,
                       const struct sp_service_panel *of)
{
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("sequences of an instance", "", true),
                     sp_make_axis(of->axis, of->unit, true), of->title);
    panel->key = SP_KEY_RIGHT;
    panel->height_px = 260;
    for (size_t c = 0; c < of->n; c++) {
        const struct sp_service_curve *const curve = &of->curves[c];
        struct sp_series *const s = add_curve(panel, p, curve, curve->name, 1);
        s->dashed = curve->dashed;
        s->letter = (char)('a' + (char)c);
        if (!curve->ranges || isnan(p->tpot_low_s))
            continue;
        add_curve(panel, p, curve, "80 % range", p->tpot_low_s / p->tpot_s)->dashed = true;
        add_curve(panel, p, curve, "", p->tpot_high_s / p->tpot_s)->dashed = true;
    }
    add_rules(panel, p);
}

struct sp_figure *sp_plot_service(const struct sp_service_picture *p)
{
    struct sp_figure *const figure = sp_figure_new("%.60s on %.80s", p->model, p->hw);
    if (p->n_marks > 0)
        add_marks(figure, p);
    for (size_t i = 0; i < p->n_panels; i++)
        add_curves(figure, p, &p->panels[i]);
    return figure;
}
