/* Places of labels: each is measured, tried beside its point, and left out where it would cover
 * another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pictures/glyphs.h"
#include "pictures/svg.h"

/* Cost of a place: a label must not cover text or leave the picture; it should not cover points,
 * rules or lines, and should be where the figure wants it. */
#define FORBIDDEN 1000.0
#define ON_POINT 6.0
#define ON_RULE 8.0
#define ON_LINE 3.0
#define NEXT_CHOICE 0.5

/* Whether a point is in a box, or within this distance of it. */
static bool holds(const struct sp_box *box, double x, double y, double near)
{
    return x > box->left - near && x < box->right + near && y > box->top - near &&
           y < box->bottom + near;
}

/* Cost of the points and lines of a series under a box; a line is sampled at some points. */
static double cost_of_series(const struct sp_plot_place *place, const struct sp_series *series,
                             const struct sp_box *box)
{
    enum { LOOKS = 16 };
    const bool line = series->kind == SP_LINE || series->kind == SP_STEPS;
    double x0 = NAN, y0 = NAN;
    for (size_t i = 0; i < series->n && sp_values_each(series->kind) == 2; i += 2) {
        const double x = sp_x_at(place, series->values[i]),
                     y = sp_y_at(place, series->values[i + 1]);
        if (!line && holds(box, x, y, 4))
            return ON_POINT;
        for (int k = 0; k <= LOOKS && line; k++)
            if (holds(box, x0 + (x - x0) * k / LOOKS, y0 + (y - y0) * k / LOOKS, 2))
                return ON_LINE;
        x0 = x;
        y0 = y;
    }
    return 0;
}

static double cost_of(const struct sp_plot_place *place, const struct sp_placed *placed,
                      const struct sp_label *label, const struct sp_box *box)
{
    const struct sp_panel *const panel = place->panel;
    double cost = 0;
    if (box->left < place->plot.left || box->right > place->width - 2 ||
        box->top < place->plot.top || box->bottom > place->plot.bottom)
        return FORBIDDEN;
    for (size_t i = 0; i < placed->n; i++)
        if (sp_boxes_meet(box, &placed->spot[i].box))
            return FORBIDDEN;
    for (size_t i = 0; i < panel->n_rules; i++) {
        const struct sp_rule *const rule = &panel->rules[i];
        const double x = sp_x_at(place, rule->at), y = sp_y_at(place, rule->at);
        if (rule->vertical ? !label->clears && box->left < x && x < box->right
                           : box->top < y && y < box->bottom)
            cost += ON_RULE;
    }
    for (size_t s = 0; s < panel->n_series && label->beside; s++)
        cost += cost_of_series(place, &panel->series[s], box);
    return cost;
}

/* The innermost box of a label in the middle of one. */
static const struct sp_series *box_around(const struct sp_plot_place *place,
                                          const struct sp_label *label, double px[2])
{
    const struct sp_series *found = NULL;
    for (size_t s = 0; s < place->panel->n_series; s++) {
        const struct sp_series *const series = &place->panel->series[s];
        for (size_t i = 0; series->kind == SP_BOXES && i < series->n; i += 4) {
            const double *const v = series->values + i;
            if (!(label->x > v[0] && label->x < v[1] && label->y > v[2] && label->y < v[3]))
                continue;
            found = series;
            px[0] = sp_x_at(place, v[1]) - sp_x_at(place, v[0]);
            px[1] = sp_y_at(place, v[2]) - sp_y_at(place, v[3]);
        }
    }
    return found;
}

/* A text in a box is drawn if it fits, in smaller letters where necessary. */
static void place_inside(const struct sp_plot_place *place, const struct sp_label *label,
                         const struct sp_series *around, const double px[2],
                         struct sp_placed *placed)
{
    struct sp_spot spot = {.inside = true,
                           .look = around->look,
                           .hatched = around->hatched,
                           .align = SP_CENTRE,
                           .size = SP_TEXT_PX,
                           .x = sp_x_at(place, label->x),
                           .y = sp_y_at(place, label->y)};
    snprintf(spot.text, sizeof spot.text, "%s", label->text);
    const double wide = sp_text_px(label->text, 1);
    spot.size = fmin(spot.size, (px[0] - 3) / wide);
    spot.size = spot.size < SP_TEXT_PX ? floor(spot.size) : spot.size;
    spot.box = sp_text_box(spot.x, spot.y, SP_CENTRE, spot.size, label->text);
    if (spot.size >= 9 && px[1] >= spot.size + 1)
        placed->spot[placed->n++] = spot;
}

/* Tries the sides of a point, the one that the figure wants first, else the label's own place. */
static void place_beside(const struct sp_plot_place *place, const struct sp_label *label,
                         struct sp_placed *placed)
{
    enum { CHOICES = 6, APART = 8 };
    const double x = sp_x_at(place, label->x), y = sp_y_at(place, label->y);
    struct sp_spot best = {.size = SP_TEXT_PX};
    double least = FORBIDDEN;
    if (!isfinite(x + y))
        return;
    snprintf(best.text, sizeof best.text, "%s", label->text);
    for (int i = 0; i < (label->beside ? CHOICES : 1); i++) {
        const int side =
            label->align == SP_CENTRE ? (i + 4) % CHOICES : i; /* 4, 5: in the middle */
        const enum sp_align align = side >= 4                                      ? SP_CENTRE
                                    : (side % 2 == 0) == (label->align == SP_LEFT) ? SP_LEFT
                                                                                   : SP_RIGHT;
        const bool below = (side / 2 % 2 == 0) == label->below;
        struct sp_spot spot = best;
        spot.align = label->beside ? align : label->align;
        spot.x = x + (!label->beside            ? (spot.align == SP_LEFT ? 2 : 0)
                      : spot.align == SP_CENTRE ? 0
                      : spot.align == SP_LEFT   ? APART
                                                : -APART);
        spot.y = y + (label->beside ? (below ? 11 : -11) * (spot.align == SP_CENTRE ? 1.4 : 1) : 0);
        spot.box = sp_text_box(spot.x, spot.y, spot.align, spot.size, label->text);
        const double beyond = spot.box.right - (place->width - 3);
        if (!label->beside && beyond > 0) {
            spot.x -= beyond;
            spot.box = sp_text_box(spot.x, spot.y, spot.align, spot.size, label->text);
        }
        const double cost = cost_of(place, placed, label, &spot.box) + NEXT_CHOICE * i;
        if (cost < least) {
            least = cost;
            best = spot;
        }
    }
    if (least < (label->yields ? ON_POINT : FORBIDDEN))
        placed->spot[placed->n++] = best;
}

/* The texts of rules: above the right end of a horizontal one, beside the upper end of a vertical
 * one, cut if the picture is narrow. */
static void place_rules(const struct sp_plot_place *place, struct sp_placed *placed)
{
    const struct sp_panel *const panel = place->panel;
    for (size_t i = 0; i < panel->n_rules; i++) {
        const struct sp_rule *const rule = &panel->rules[i];
        const double x = sp_x_at(place, rule->at), y = sp_y_at(place, rule->at);
        struct sp_spot spot = {.size = SP_TEXT_PX, .align = SP_RIGHT};
        if (rule->vertical ? place->rule_line[i] < 0
                           : !(y > place->plot.top && y < place->plot.bottom))
            continue;
        spot.x = place->plot.right - 4;
        spot.y = y - SP_LINE_PX < place->plot.top ? y + 9 : y - 9;
        if (rule->vertical) {
            spot.align = place->rule_left[i] ? SP_RIGHT : SP_LEFT;
            spot.x = x + (place->rule_left[i] ? 2 - SP_BESIDE_PX : SP_BESIDE_PX - 2);
            spot.y = sp_rule_text_y(place, i);
        }
        sp_fit_text(rule->text, spot.align == SP_RIGHT ? spot.x : place->width - spot.x, SP_TEXT_PX,
                    spot.text, sizeof spot.text);
        spot.box = sp_text_box(spot.x, spot.y, spot.align, spot.size, spot.text);
        placed->spot[placed->n++] = spot;
    }
}

struct sp_placed sp_svg_place_labels(const struct sp_plot_place *place)
{
    const struct sp_panel *const panel = place->panel;
    struct sp_placed placed = {
        .spot = sp_must(calloc(panel->n_labels + panel->n_rules + 1, sizeof *placed.spot))};
    place_rules(place, &placed);
    for (size_t i = 0; i < panel->n_labels; i++) {
        double px[2];
        const struct sp_label *const label = &panel->labels[i];
        const struct sp_series *const around =
            label->align == SP_CENTRE ? box_around(place, label, px) : NULL;
        if (around)
            place_inside(place, label, around, px, &placed);
        else
            place_beside(place, label, &placed);
    }
    return placed;
}

/* Text in boxes is black or white, whichever is seen better on them; hatches have a halo of their
 * tint. */
static void put_inside(FILE *out, const struct sp_spot *spot)
{
    const struct sp_look_row *const row = sp_look_row(spot->look);
    if (spot->hatched)
        fprintf(out, "<g stroke=\"%s\" stroke-width=\"3\" paint-order=\"stroke\">\n", row->tint);
    sp_svg_text(out, spot->x, spot->y, spot->align,
                row->dark && !spot->hatched               ? SP_WHITE_INK
                : spot->look == SP_GREY && !spot->hatched ? SP_INK
                                                          : SP_BLACK_INK,
                spot->size, spot->text);
    if (spot->hatched)
        fputs("</g>\n", out);
}

void sp_svg_labels(FILE *out, const struct sp_placed *placed)
{
    for (size_t i = 0; i < placed->n; i++)
        if (placed->spot[i].inside)
            put_inside(out, &placed->spot[i]);
    fputs("<g class=\"h\" stroke=\"#fff\" stroke-width=\"4\" stroke-linejoin=\"round\" "
          "paint-order=\"stroke\">\n",
          out);
    for (size_t i = 0; i < placed->n; i++) {
        const struct sp_spot *const spot = &placed->spot[i];
        if (!spot->inside)
            sp_svg_text(out, spot->x, spot->y, spot->align, SP_INK, spot->size, spot->text);
    }
    fputs("</g>\n", out);
}
