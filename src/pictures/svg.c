/* A figure as SVG: one writer for files, the page and print. Everything is measured, then placed,
 * then written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/glyphs.h"
#include "pictures/svg.h"

enum { TITLE_PX = 15, PANEL_TITLE_PX = 13, TICK = 6, BELOW = 10, APART = 18 };

/* Names left of the plot take at most this share of the picture and this many px. */
#define MOST_LEFT 0.38
enum { WIDEST_LEFT = 280, TICK_PX = 12 };

static double text_px(const char *text)
{
    return sp_text_px(text, TICK_PX);
}

static double line_px(const char *text)
{
    (void)text;
    return TICK_PX;
}

static double names_px(double width)
{
    return fmin(width * MOST_LEFT, WIDEST_LEFT);
}

/* A picture narrower than a panel is high would look like a chimney. */
static double height_of(const struct sp_panel *panel, double width)
{
    return panel->y.n_ticks > 0 ? panel->height_px * (1 - panel->above)
                                : fmin(panel->height_px, 100 + width * 0.45);
}

/* The range of the vertical axis: texts of rules are over the plot, not in it. */
static struct sp_scale upright_scale(const struct sp_panel *panel)
{
    struct sp_scale scale = sp_scale_of(panel, true);
    scale.max -= panel->above * (scale.max - scale.min);
    return scale;
}

/* Finds the room left of the plot: names may be broken into lines. */
static double left_of(const struct sp_panel *panel, double width)
{
    const struct sp_tick_room room = {height_of(panel, width), panel->y.n_ticks ? 1 : 16, line_px};
    struct sp_ticks ticks;
    double most = 0;
    if (panel->n_cards > 0)
        return 0;
    const struct sp_scale scale = upright_scale(panel);
    sp_make_ticks(&panel->y, &scale, &room, &ticks);
    for (size_t i = 0; i < ticks.n; i++)
        most = fmax(most, text_px(sp_mark_text(&ticks.tick[i])));
    return fmin(most, names_px(width)) + SP_EDGE_PX + TICK;
}

/* The right end of a plot from `left` on, so that notes at the ends of bars fit in the picture. */
static double right_of(const struct sp_panel *panel, double left, double width)
{
    const struct sp_scale x = sp_scale_of(panel, false);
    double wide = width - 2 * SP_EDGE_PX - left;
    for (size_t i = 0; i < panel->n_labels; i++) {
        const struct sp_label *const label = &panel->labels[i];
        const double share = sp_share(label->x, &x);
        if (label->align == SP_LEFT && !label->beside && share > 0.1)
            wide = fmin(wide, (width - SP_EDGE_PX - 2 - left - text_px(label->text)) / share);
    }
    return left + fmax(wide, (width - left) / 2);
}

/* Gives each text of an upright rule a line over the plot; rules have gaps where they meet
 * another's text. */
static void place_rules(struct sp_plot_place *p)
{
    for (size_t i = 0; i < p->panel->n_rules; i++) {
        const struct sp_rule *const rule = &p->panel->rules[i];
        const double share = sp_share(rule->at, &p->x), x = sp_x_at(p, rule->at);
        const bool seen = rule->vertical && share >= 0 && share <= 1;
        p->rule_left[i] = x > p->width / 2 && x + text_px(rule->text) + SP_BESIDE_PX > p->width;
        p->rule_line[i] = seen ? p->rule_lines++ : -1;
    }
}

/* Places a panel whose plot is between `left` and `right`, from `start` on. */
static void place_panel(struct sp_plot_place *p, double left, double right)
{
    const struct sp_panel *const panel = p->panel;
    char title[SP_PLOT_TEXT];
    double y = p->start;
    p->plot.left = left;
    p->plot.right = right;
    if (panel->title[0])
        y += (PANEL_TITLE_PX + 4) * sp_svg_lines(NULL, 0, 0, p->width - 2 * SP_EDGE_PX, SP_LEFT,
                                                 SP_INK, PANEL_TITLE_PX, panel->title) +
             6;
    if (panel->n_cards > 0) {
        p->plot.top = y;
        p->end = y + sp_svg_cards_px(panel, p->width);
        return;
    }
    y += sp_svg_keys(NULL, p, 0);
    place_rules(p);
    sp_axis_title(&panel->y, &p->y, title, sizeof title);
    y += *title ? SP_LINE_PX + 2 : 0;
    p->plot.top = y + p->rule_lines * (SP_LINE_PX - 1) + 6;
    p->plot.bottom = p->plot.top + height_of(panel, p->width);
    const struct sp_tick_room across = {right - left, 10, text_px},
                              down = {p->plot.bottom - p->plot.top, panel->y.n_ticks ? 1 : 16,
                                      line_px};
    sp_make_ticks(&panel->x, &p->x, &across, &p->x_ticks);
    sp_make_ticks(&panel->y, &p->y, &down, &p->y_ticks);
    int lines = 0;
    for (size_t i = 0; i < p->x_ticks.n; i++)
        lines = p->x_ticks.tick[i].line >= lines ? p->x_ticks.tick[i].line + 1 : lines;
    sp_axis_title(&panel->x, &p->x, title, sizeof title);
    p->end = p->plot.bottom + BELOW + lines * (SP_LINE_PX - 1) + (*title ? SP_LINE_PX + 2 : 0);
}

static void put_line(FILE *out, double x0, double y0, double x1, double y1)
{
    sp_svg_px(out, "M", x0);
    sp_svg_px(out, " ", y0);
    sp_svg_px(out, x0 == x1 ? "V" : "H", x0 == x1 ? y1 : x1);
}

/* Lines of the grid: of numbers, and of a plot of curves the frame's left and lower edge. */
static void put_grid(FILE *out, const struct sp_plot_place *p)
{
    const struct sp_box *const b = &p->plot;
    fputs("<path class=\"g\" fill=\"none\" stroke=\"#DDD\" d=\"", out);
    for (size_t i = 0; i < p->x_ticks.n && p->panel->x.n_ticks == 0; i++) {
        const double x = b->left + p->x_ticks.tick[i].share * (b->right - b->left);
        put_line(out, x, b->top, x, b->bottom);
    }
    for (size_t i = 0; i < p->y_ticks.n && p->panel->y.n_ticks == 0; i++) {
        const double y = b->bottom - p->y_ticks.tick[i].share * (b->bottom - b->top);
        put_line(out, b->left, y, b->right, y);
    }
    put_line(out, b->left, b->bottom, b->right, b->bottom);
    put_line(out, b->left, b->top, b->left, b->bottom);
    fputs("\"/>\n", out);
}

/* Writes a name left of the plot, in as many lines as fit into its row. */
static void put_name(FILE *out, const struct sp_plot_place *p, double y, double row,
                     const char *text)
{
    const double px = p->plot.left - SP_EDGE_PX - TICK + 0.01;
    const int most = (int)fmax(row / (TICK_PX + 4), 1);
    const int lines = sp_svg_lines(NULL, 0, 0, px, SP_RIGHT, SP_INK, TICK_PX, text);
    char line[SP_PLOT_TEXT];
    if (lines <= most) {
        sp_svg_lines(out, p->plot.left - TICK, y - (lines - 1) * (TICK_PX + 4) / 2.0, px, SP_RIGHT,
                     SP_INK, TICK_PX, text);
        return;
    }
    sp_fit_text(text, px, TICK_PX, line, sizeof line);
    sp_svg_text(out, p->plot.left - TICK, y, SP_RIGHT, SP_INK, TICK_PX, line);
}

/* The height of a row: the distance between neighbouring names. */
static double row_px(const struct sp_plot_place *p)
{
    double least = p->plot.bottom - p->plot.top;
    for (size_t i = 1; i < p->y_ticks.n; i++)
        least = fmin(least, fabs(p->y_ticks.tick[i].share - p->y_ticks.tick[i - 1].share) *
                                (p->plot.bottom - p->plot.top));
    return least;
}

/* Writes what an axis shows: at the end of the one across, over the other. */
static void put_title(FILE *out, const struct sp_plot_axis *axis, const struct sp_scale *scale,
                      double x, double y, enum sp_align align)
{
    char title[SP_PLOT_TEXT], line[SP_PLOT_TEXT];
    sp_axis_title(axis, scale, title, sizeof title);
    sp_fit_text(title, 300, TICK_PX, line, sizeof line);
    if (*line)
        sp_svg_text(out, x, y, align, SP_SOFT_INK, TICK_PX, line);
}

static void put_axes(FILE *out, const struct sp_plot_place *p)
{
    const struct sp_box *const b = &p->plot;
    for (size_t i = 0; i < p->x_ticks.n; i++) {
        const struct sp_mark_at *const tick = &p->x_ticks.tick[i];
        const double half = text_px(sp_mark_text(tick)) / 2,
                     x = b->left + tick->share * (b->right - b->left);
        sp_svg_text(out, fmax(fmin(x, p->width - half - 2), half + 2),
                    b->bottom + BELOW + 2 + tick->line * (SP_LINE_PX - 1), SP_CENTRE, SP_INK,
                    TICK_PX, sp_mark_text(tick));
    }
    for (size_t i = 0; i < p->y_ticks.n; i++) {
        const struct sp_mark_at *const tick = &p->y_ticks.tick[i];
        put_name(out, p, b->bottom - tick->share * (b->bottom - b->top), row_px(p),
                 sp_mark_text(tick));
    }
    put_title(out, &p->panel->x, &p->x, b->right, p->end - SP_LINE_PX / 2.0, SP_RIGHT);
    put_title(out, &p->panel->y, &p->y, SP_EDGE_PX,
              b->top - 6 - p->rule_lines * (SP_LINE_PX - 1) - SP_LINE_PX / 2.0, SP_LEFT);
}

/* Writes an upright rule from its text to the axis, with gaps for labels. */
static void put_upright(FILE *out, const struct sp_plot_place *p, size_t i,
                        const struct sp_placed *placed)
{
    const double x = sp_x_at(p, p->panel->rules[i].at),
                 top = sp_rule_text_y(p, i) - SP_TEXT_PX / 2.0;
    double from = top;
    while (from < p->plot.bottom) {
        double to = p->plot.bottom, next = to;
        for (size_t k = 0; k < placed->n; k++) {
            const struct sp_box *const b = &placed->spot[k].box;
            if (b->left - 2 < x && x < b->right + 2 && b->bottom > from && b->top < to) {
                to = fmax(b->top - 1, from);
                next = b->bottom + 1;
            }
        }
        put_line(out, x, from, x, to);
        from = next;
    }
}

static void put_rules(FILE *out, const struct sp_plot_place *p, const struct sp_placed *placed)
{
    for (size_t i = 0; i < p->panel->n_rules; i++) {
        const struct sp_rule *const rule = &p->panel->rules[i];
        const struct sp_look_row *const row = sp_look_row(rule->look);
        const double y = sp_y_at(p, rule->at);
        if (rule->vertical ? p->rule_line[i] < 0 : !(y >= p->plot.top && y <= p->plot.bottom))
            continue;
        fprintf(out,
                "<path class=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" "
                "stroke-dasharray=\"7 4\" d=\"",
                row->stroke, rule->look == SP_GREY ? "#8A8F98" : row->rgb);
        if (rule->vertical)
            put_upright(out, p, i, placed);
        else
            put_line(out, p->plot.left, y, p->plot.right, y);
        fputs("\"/>\n", out);
    }
}

static void put_panel(FILE *out, const struct sp_plot_place *p)
{
    const struct sp_panel *const panel = p->panel;
    double y = p->start;
    if (panel->title[0])
        y += (PANEL_TITLE_PX + 4) * sp_svg_lines(out, SP_EDGE_PX, y + PANEL_TITLE_PX / 2.0,
                                                 p->width - 2 * SP_EDGE_PX, SP_LEFT, SP_INK,
                                                 PANEL_TITLE_PX, panel->title) +
             6;
    if (panel->n_cards > 0) {
        sp_svg_cards(out, p);
        return;
    }
    struct sp_placed placed = sp_svg_place_labels(p);
    sp_svg_keys(out, p, y);
    put_grid(out, p);
    sp_svg_boxes(out, p);
    put_rules(out, p, &placed);
    sp_svg_curves(out, p);
    put_axes(out, p);
    sp_svg_labels(out, &placed);
    free(placed.spot);
}

/* The text for a reader who cannot see the picture: the panels, with their axes and series. */
static void put_description(FILE *out, const struct sp_figure *figure)
{
    fputs("<desc>", out);
    for (size_t i = 0; i < figure->n_panels; i++) {
        const struct sp_panel *const panel = &figure->panels[i];
        char words[SP_PLOT_TEXT * 3];
        const char *separator = ": ";
        for (size_t k = 0; k < panel->n_cards; k++) {
            sp_svg_escaped(out, panel->cards[k].asks);
            fputs(panel->cards[k].yes ? " Yes. " : " No. ", out);
        }
        if (panel->n_cards > 0)
            continue;
        snprintf(words, sizeof words, "%s%s%s%s%s", panel->title, panel->title[0] ? ". " : "",
                 panel->y.label, panel->y.label[0] ? " over " : "", panel->x.label);
        sp_svg_escaped(out, words);
        for (size_t s = 0; s < panel->n_series; s++)
            if (panel->series[s].name[0] && panel->series[s].n > 0) {
                fputs(separator, out);
                sp_svg_escaped(out, panel->series[s].name);
                separator = ", ";
            }
        fputs(". ", out);
    }
    fputs("</desc>\n", out);
}

/* Colours on a dark page; without it, and in programs that read no styles, the attributes hold. */
static const char style[] =
    "<style>@media(prefers-color-scheme:dark){svg,.t{fill:#e8eaed}.s{fill:#aab2bb}.p{fill:#15181b}"
    ".h,.e{stroke:#15181b}.g{stroke:#3c434a}.g[stroke-width]{stroke:#8a8f98}.k{stroke:#e8eaed}.f{"
    "fill:#e8eaed}"
    ".m{fill:#33393f}}</style>\n";

/* Places the panels one under the other; returns the height of the picture. */
static double place_figure(const struct sp_figure *figure, double width,
                           struct sp_plot_place *places)
{
    double left = 0, right = width;
    double down = SP_EDGE_PX + 8 +
                  (TITLE_PX + 4) * sp_svg_lines(NULL, 0, 0, width - 2 * SP_EDGE_PX, SP_LEFT, SP_INK,
                                                TITLE_PX, figure->title);
    for (size_t i = 0; i < figure->n_panels; i++) /* common edges, so that times align */
        left = fmax(left, left_of(&figure->panels[i], width));
    for (size_t i = 0; i < figure->n_panels; i++)
        right = fmin(right, right_of(&figure->panels[i], left, width));
    for (size_t i = 0; i < figure->n_panels; i++) {
        struct sp_plot_place *const p = &places[i];
        p->panel = &figure->panels[i];
        p->x = sp_scale_of(p->panel, false);
        p->y = upright_scale(p->panel);
        p->start = down;
        p->width = width;
        place_panel(p, left, right);
        down = p->end + APART;
    }
    return ceil(down - APART + SP_EDGE_PX);
}

static void write_figure(FILE *out, const struct sp_figure *figure, double width, bool dark,
                         const struct sp_plot_place *places, double height)
{
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
        "%.0f %.0f\" role=\"img\" font-family=\"Helvetica,Arial,'Liberation Sans',sans-serif\" "
        "font-size=\"%d\" fill=\"#222\">\n<title>",
        width, height, width, height, SP_TEXT_PX);
    sp_svg_escaped(out, figure->title);
    fputs("</title>\n", out);
    put_description(out, figure);
    fprintf(out, "%s<rect class=\"p\" width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
            dark ? style : "", width, height);
    sp_svg_hatches(out, figure);
    sp_svg_lines(out, SP_EDGE_PX, SP_EDGE_PX + TITLE_PX / 2.0, width - 2 * SP_EDGE_PX, SP_LEFT,
                 SP_INK, TITLE_PX, figure->title);
    for (size_t i = 0; i < figure->n_panels; i++)
        put_panel(out, &places[i]);
    fputs("</svg>\n", out);
}

char *sp_figure_svg(const struct sp_figure *figure, double width, bool dark, size_t *length)
{
    char *text = NULL;
    struct sp_plot_place *const places = calloc(SP_MAX_PANELS, sizeof *places);
    FILE *const out = places ? open_memstream(&text, length) : NULL;
    if (out) {
        const double height = place_figure(figure, width, places);
        write_figure(out, figure, width, dark, places, height);
    }
    free(places);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
