/* A path of decisions: cards from top to bottom, each with a question, its answer and what
 * follows. */
#include <math.h>
#include <stdio.h>

#include "pictures/svg.h"

enum { PAD = 12, GAP = 26, BETWEEN = 30, TEXT_LINE = SP_TEXT_PX + 4 };

/* Widths: the consequence is beside the question, or below it in a narrow picture. */
struct columns {
    double card, then;
    bool beside;
};

static struct columns columns_of(double width)
{
    const double whole = width - 2 * SP_EDGE_PX - 1;
    const bool beside = width >= 600;
    return (struct columns){beside ? whole * 0.58 : whole, beside ? whole * 0.42 - BETWEEN : 0,
                            beside};
}

/* Writes a card at `top`, or with `out` NULL measures; returns its height. */
static double put_card(FILE *out, const struct sp_card *card, double top, double width)
{
    const struct columns c = columns_of(width);
    char why[SP_PLOT_TEXT * 2], then[SP_PLOT_TEXT * 2];
    const double px = c.card - 2 * PAD, x = SP_EDGE_PX + PAD;
    snprintf(why, sizeof why, "%s: %s", card->yes ? "Yes" : "No", card->why);
    snprintf(then, sizeof then, "%s%s", c.beside ? "" : "\xe2\x86\x92 ", card->then);
    const double first = top + PAD + TEXT_LINE / 2.0;
    int lines = sp_svg_lines(out, x, first, px, SP_LEFT, SP_INK, SP_TEXT_PX, card->asks);
    lines += sp_svg_lines(out, x, first + lines * TEXT_LINE + 2, px, SP_LEFT, SP_SOFT_INK,
                          SP_TEXT_PX, why);
    if (!c.beside)
        lines += sp_svg_lines(out, x, first + lines * TEXT_LINE + 4, px, SP_LEFT, SP_INK,
                              SP_TEXT_PX, then);
    const double aside = SP_EDGE_PX + c.card + BETWEEN;
    const int follow =
        c.beside ? sp_svg_lines(NULL, aside, 0, c.then, SP_LEFT, SP_INK, SP_TEXT_PX, then) : 0;
    const double height = fmax(lines, follow) * TEXT_LINE + 2 * PAD + (c.beside ? 2 : 4);
    if (out && c.beside)
        sp_svg_lines(out, aside, top + height / 2 - (follow - 1) * TEXT_LINE / 2.0, c.then, SP_LEFT,
                     SP_INK, SP_TEXT_PX, then);
    return height;
}

double sp_svg_cards_px(const struct sp_panel *panel, double width)
{
    double height = 0;
    for (size_t i = 0; i < panel->n_cards; i++)
        height += put_card(NULL, &panel->cards[i], 0, width) + GAP;
    return height > 0 ? height - GAP + 4 : 0;
}

/* An arrow from a point, `across` px to the right or `down` px. */
static void put_arrow(FILE *out, double x, double y, double across, double down)
{
    sp_svg_px(out, "<path class=\"k\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\" d=\"M", x);
    sp_svg_px(out, " ", y);
    sp_svg_px(out, "l", across);
    sp_svg_px(out, " ", down);
    fputs(across > 0 ? "m-5-4l5 4l-5 4\"/>\n" : "m-4-5l4 5l4-5\"/>\n", out);
}

void sp_svg_cards(FILE *out, const struct sp_plot_place *place)
{
    const struct columns c = columns_of(place->width);
    double top = place->plot.top;
    for (size_t i = 0; i < place->panel->n_cards; i++) {
        const struct sp_card *const card = &place->panel->cards[i];
        const double height = put_card(NULL, card, top, place->width);
        const char *const rgb = sp_look_row(card->yes ? SP_GREEN : SP_VERMILION)->rgb;
        sp_svg_px(out, "<rect rx=\"6\" x=\"", SP_EDGE_PX);
        sp_svg_px(out, "\" y=\"", top);
        sp_svg_px(out, "\" width=\"", c.card);
        sp_svg_px(out, "\" height=\"", height);
        fprintf(out, "\" fill=\"%s\" fill-opacity=\".1\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
                rgb, rgb);
        if (c.beside)
            put_arrow(out, SP_EDGE_PX + c.card + 4, top + height / 2, BETWEEN - 10, 0);
        if (i + 1 < place->panel->n_cards)
            put_arrow(out, SP_EDGE_PX + fmin(c.card / 2, 200), top + height + 3, 0, GAP - 6);
        put_card(out, card, top, place->width);
        top += height + GAP;
    }
}
