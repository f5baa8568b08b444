/* Boxes, lines and marks of a panel, and their key. */
#include <math.h>
#include <string.h>

#include "pictures/glyphs.h"
#include "pictures/svg.h"

/* Beyond this many shapes of a panel none shows its value: the file would be as large as its data.
 */
enum { MOST_SPOKEN = 500 };

/* Hatches need boxes of this width. px */
#define LEAST_HATCHED 6.0

static bool is_box(const struct sp_series *series)
{
    return series->kind == SP_BOXES || series->kind == SP_HOLLOW;
}

static bool is_line(const struct sp_series *series)
{
    return series->kind == SP_LINE || series->kind == SP_STEPS;
}

static size_t count_shapes(const struct sp_panel *panel)
{
    size_t n = 0;
    for (size_t s = 0; s < panel->n_series; s++)
        if (!is_line(&panel->series[s]))
            n += panel->series[s].n / sp_values_each(panel->series[s].kind);
    return n;
}

/* How many series before this one have its kind and look: they differ by dashes and shapes. */
static int variant_of(const struct sp_panel *panel, const struct sp_series *series)
{
    int n = 0;
    for (const struct sp_series *s = panel->series; s < series; s++)
        n += s->kind == series->kind && s->look == series->look;
    return n;
}

/* Ends a shape, with its tooltip if there is room for it. */
static void end_shape(FILE *out, const struct sp_plot_place *place, const struct sp_series *series,
                      size_t i, bool spoken)
{
    char words[SP_PLOT_TEXT * 3];
    if (!spoken) {
        fputs("/>\n", out);
        return;
    }
    sp_say_value(place->panel, series, i, words, sizeof words);
    fprintf(out, "><title>");
    sp_svg_escaped(out, words);
    fprintf(out, "</title></%s>\n", is_box(series) ? "rect" : "path");
}

/* The area of a box, within the plot. */
static struct sp_box area_of(const struct sp_plot_place *place, const double *v)
{
    const struct sp_box *const p = &place->plot;
    return (struct sp_box){fmax(sp_x_at(place, v[0]), p->left),
                           fmin(sp_x_at(place, v[1]), p->right), fmax(sp_y_at(place, v[3]), p->top),
                           fmin(sp_y_at(place, v[2]), p->bottom)};
}

/* Whether all boxes of a series are too narrow for hatches. */
static bool is_narrow(const struct sp_plot_place *place, const struct sp_series *series)
{
    for (size_t i = 0; i < series->n; i += 4) {
        const struct sp_box area = area_of(place, series->values + i);
        if (area.right - area.left >= LEAST_HATCHED)
            return false;
    }
    return true;
}

static void put_box(FILE *out, const struct sp_plot_place *place, const struct sp_series *series,
                    size_t i, bool spoken)
{
    const struct sp_box area = area_of(place, series->values + i);
    if (!(area.right >= area.left) || !(area.bottom >= area.top))
        return;
    sp_svg_px(out, "<rect x=\"", area.left);
    sp_svg_px(out, "\" y=\"", area.top);
    sp_svg_px(out, "\" width=\"", area.right - area.left);
    sp_svg_px(out, "\" height=\"", area.bottom - area.top);
    fputs("\"", out);
    end_shape(out, place, series, i, spoken);
}

/* All boxes as one shape. */
static void put_path(FILE *out, const struct sp_plot_place *place, const struct sp_series *series)
{
    fputs("<path d=\"", out);
    for (size_t i = 0; i < series->n; i += 4) {
        const struct sp_box area = area_of(place, series->values + i);
        if (!(area.right >= area.left) || !(area.bottom >= area.top))
            continue;
        sp_svg_px(out, "M", area.left);
        sp_svg_px(out, " ", area.top);
        sp_svg_px(out, "h", area.right - area.left);
        sp_svg_px(out, "v", area.bottom - area.top);
        sp_svg_px(out, "h", area.left - area.right);
        fputs("z", out);
    }
    fputs("\"/>\n", out);
}

static void put_stroke(FILE *out, enum sp_look look, double width)
{
    const struct sp_look_row *const row = sp_look_row(look);
    fprintf(out, "%s%s%s stroke=\"%s\"", *row->stroke ? " class=\"" : "", row->stroke,
            *row->stroke ? "\"" : "", look == SP_GREY ? "#8A8F98" : row->rgb);
    sp_svg_px(out, " stroke-width=\"", width);
    fputs("\"", out);
}

static void put_paint(FILE *out, const struct sp_series *series, bool narrow)
{
    if (series->kind == SP_BOXES) {
        sp_svg_fill(out, series, narrow);
        return;
    }
    fputs(" fill=\"none\"", out);
    put_stroke(out, series->look, 1);
}

void sp_svg_boxes(FILE *out, const struct sp_plot_place *place)
{
    const struct sp_panel *const panel = place->panel;
    const bool spoken = count_shapes(panel) <= MOST_SPOKEN;
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        const bool narrow = series->kind == SP_BOXES && is_narrow(place, series);
        if (!is_box(series) || series->n == 0)
            continue;
        fputs("<g", out);
        put_paint(out, series, narrow);
        fputs(">\n", out);
        for (size_t i = 0; i < series->n && spoken; i += 4)
            put_box(out, place, series, i, series->kind == SP_BOXES);
        if (!spoken)
            put_path(out, place, series);
        fputs("</g>\n", out);
    }
}

/* Marks about their point: circle, square, triangle, diamond, triangle, cross. */
static const char *const shapes[] = {"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
                                     "m-3.6-3.6h7.2v7.2h-7.2z",
                                     "m0-5l4.6 8h-9.2z",
                                     "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",
                                     "m0 5l4.6-8h-9.2z",
                                     "m-4.4-1.4h3v-3h2.8v3h3v2.8h-3v3h-2.8v-3h-3z"};
static const char dot[] = "m-2.2 0a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0-4.4 0z";

static const char *shape_of(const struct sp_panel *panel, const struct sp_series *series)
{
    const size_t which = (size_t)series->look + (size_t)variant_of(panel, series);
    return series->thin ? dot : shapes[which % (sizeof shapes / sizeof *shapes)];
}

/* Begins a group in the colours of marks. */
static void begin_marks(FILE *out, const struct sp_panel *panel, const struct sp_series *series)
{
    const struct sp_look_row *const row = sp_look_row(series->look);
    const bool hollow = series->hollow || variant_of(panel, series) % 2 == 1;
    fprintf(out, "<g stroke-width=\"1.5\" stroke=\"%s\" fill=\"%s\"", row->rgb,
            hollow ? "#fff" : row->rgb);
    if (hollow || *row->stroke)
        fprintf(out, " class=\"%s %s\"", row->stroke, hollow ? "p" : row->fill);
    fputs(">\n", out);
}

static void put_marks(FILE *out, const struct sp_plot_place *place, const struct sp_series *series,
                      bool spoken)
{
    const char *const shape = shape_of(place->panel, series);
    begin_marks(out, place->panel, series);
    for (size_t i = 0; i < series->n; i += 2) {
        const double x = sp_x_at(place, series->values[i]),
                     y = sp_y_at(place, series->values[i + 1]);
        const struct sp_box *const p = &place->plot;
        if (!(x > p->left - 0.5 && x < p->right + 0.5 && y > p->top - 0.5 && y < p->bottom + 0.5))
            continue;
        if (series->kind == SP_DROPS) {
            sp_svg_px(out, "<path stroke-width=\"1\" stroke-dasharray=\"1 3\" d=\"M", x);
            sp_svg_px(out, " ", y);
            sp_svg_px(out, "V", p->bottom);
            fputs("\"/>\n", out);
        }
        sp_svg_px(out, "<path d=\"M", x);
        sp_svg_px(out, " ", y);
        fprintf(out, "%s\"", shape);
        end_shape(out, place, series, i, spoken);
    }
    fputs("</g>\n", out);
}

/* Begins a line's path, as the key shows it too. */
static void begin_line(FILE *out, const struct sp_panel *panel, const struct sp_series *series)
{
    const int variant = variant_of(panel, series);
    fputs("<path fill=\"none\"", out);
    put_stroke(out, series->look, series->thin ? 1 : 2);
    if (series->dashed || variant > 0)
        fprintf(out, " stroke-dasharray=\"%s\"",
                sp_look_row(variant == 0 ? series->look
                                         : sp_look_of((size_t)series->look + (size_t)variant))
                    ->dash);
    fputs(" d=\"", out);
}

static void put_line(FILE *out, const struct sp_plot_place *place, const struct sp_series *series)
{
    const struct sp_box *const p = &place->plot;
    char pen = 'M';
    begin_line(out, place->panel, series);
    for (size_t i = 0; i < series->n; i += 2) {
        const double x = sp_x_at(place, series->values[i]),
                     y = sp_y_at(place, series->values[i + 1]);
        if (!isfinite(x + y))
            continue;
        fputc(pen, out);
        sp_svg_px(out, "", fmax(fmin(x, p->right), p->left));
        sp_svg_px(out, pen == 'H' ? "V" : " ", fmax(fmin(y, p->bottom), p->top));
        pen = series->kind == SP_STEPS ? 'H' : 'L';
    }
    fputs("\"/>\n", out);
}

/* A range with ends, in ink with the page's colour around it, so that it is seen on bars too. */
static void put_whiskers(FILE *out, const struct sp_plot_place *place,
                         const struct sp_series *series)
{
    for (size_t i = 0; i < series->n; i += 3)
        for (int pass = 0; pass < 2; pass++) {
            const double y = sp_y_at(place, series->values[i + 2]),
                         from = sp_x_at(place, series->values[i]),
                         to = fmin(sp_x_at(place, series->values[i + 1]), place->width);
            fputs(pass ? "<path fill=\"none\"" : "<path fill=\"none\" class=\"e\" stroke=\"#fff\"",
                  out);
            if (pass)
                put_stroke(out, series->look, 1.8);
            else
                fputs(" stroke-width=\"5\" stroke-linecap=\"square\"", out);
            sp_svg_px(out, " d=\"M", from);
            sp_svg_px(out, " ", y);
            sp_svg_px(out, "H", to);
            sp_svg_px(out, "M", from);
            sp_svg_px(out, " ", y - 5);
            sp_svg_px(out, "v10M", to);
            sp_svg_px(out, " ", y - 5);
            fputs("v10\"", out);
            end_shape(out, place, series, i, pass == 1);
        }
}

void sp_svg_curves(FILE *out, const struct sp_plot_place *place)
{
    const struct sp_panel *const panel = place->panel;
    const bool spoken = count_shapes(panel) <= MOST_SPOKEN;
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        if (is_line(series) && series->n > 2)
            put_line(out, place, series);
        else if (series->kind == SP_WHISKERS)
            put_whiskers(out, place, series);
        else if (!is_line(series) && !is_box(series) && series->n > 0)
            put_marks(out, place, series, spoken);
    }
}

/* The sample of a series, 22 px wide, with its middle at y. */
static void put_sample(FILE *out, const struct sp_plot_place *place, const struct sp_series *series,
                       double x, double y)
{
    if (is_box(series)) {
        fputs("<rect", out);
        put_paint(out, series, is_box(series) && is_narrow(place, series));
        sp_svg_px(out, " x=\"", x + 1);
        sp_svg_px(out, "\" y=\"", y - 5);
        fputs("\" width=\"18\" height=\"10\"/>\n", out);
    } else if (is_line(series) || series->kind == SP_WHISKERS) {
        begin_line(out, place->panel, series);
        sp_svg_px(out, "M", x);
        sp_svg_px(out, " ", y);
        fputs("h22\"/>\n", out);
    } else {
        begin_marks(out, place->panel, series);
        sp_svg_px(out, "<path d=\"M", x + 11);
        sp_svg_px(out, " ", y);
        fprintf(out, "%s\"/></g>\n", shape_of(place->panel, series));
    }
}

double sp_svg_keys(FILE *out, const struct sp_plot_place *place, double top)
{
    enum { ROW = 18, SAMPLE = 28, APART = 18 };
    const double right = place->width - SP_EDGE_PX;
    double x = SP_EDGE_PX, y = 0;
    size_t n = 0;
    for (size_t s = 0; s < place->panel->n_series; s++) {
        const struct sp_series *const series = &place->panel->series[s];
        if (!sp_in_key(place->panel, series))
            continue;
        const double most = right - SP_EDGE_PX - SAMPLE,
                     wide = SAMPLE + fmin(sp_text_px(series->name, SP_TEXT_PX), most);
        if (x > SP_EDGE_PX && x + wide > right) {
            x = SP_EDGE_PX;
            y += ROW;
        }
        if (out)
            put_sample(out, place, series, x, top + y + ROW / 2.0);
        y += (sp_svg_lines(out, x + SAMPLE, top + y + ROW / 2.0, most, SP_LEFT, SP_INK, SP_TEXT_PX,
                           series->name) -
              1) *
             SP_LINE_PX;
        x += wide + APART;
        n++;
    }
    return n > 0 ? y + ROW + 4 : 0;
}
