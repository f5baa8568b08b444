/* Parts of the writer of SVG: text with measured boxes, panels with places. */
#ifndef SP_SVG_H
#define SP_SVG_H

#include <stdio.h>

#include "pictures/drawing.h"

/* An area of the picture in px, from its upper left corner. */
struct sp_box {
    double left, right, top, bottom;
};
bool sp_boxes_meet(const struct sp_box *a, const struct sp_box *b);

/* Sizes of text, and the height of a line. px */
enum { SP_TEXT_PX = 12, SP_LINE_PX = 16, SP_EDGE_PX = 8, SP_BESIDE_PX = 7 };

/* Where a panel is. `start` is the top of all of it and `end` the bottom, the others are the
 * edges of what its axes enclose. */
struct sp_plot_place {
    const struct sp_panel *panel;
    struct sp_scale x, y;
    double start, end, width; /* width of the picture */
    struct sp_box plot;
    struct sp_ticks x_ticks, y_ticks;
    int rule_line[sizeof((struct sp_panel *)0)->rules / sizeof(struct sp_rule)];
    bool rule_left[sizeof((struct sp_panel *)0)->rules / sizeof(struct sp_rule)];
    int rule_lines; /* lines of text over the plot */
};
double sp_x_at(const struct sp_plot_place *place, double value);
double sp_y_at(const struct sp_plot_place *place, double value);

/* The middle of the text of an upright rule, over the plot. */
double sp_rule_text_y(const struct sp_plot_place *place, size_t rule);

/* Writes a coordinate with two decimals at most. */
void sp_svg_px(FILE *out, const char *name, double value);

/* Writes text with XML's special characters as references; characters that XML forbids become
 * '?'. */
void sp_svg_escaped(FILE *out, const char *text);

/* The colour of text: as the picture's, soft, black or white whatever the page. */
enum sp_ink { SP_INK, SP_SOFT_INK, SP_BLACK_INK, SP_WHITE_INK };

/* Writes a line of text with its middle at y. */
void sp_svg_text(FILE *out, double x, double y, enum sp_align align, enum sp_ink ink, double size,
                 const char *text);
/* The area of such a line. */
struct sp_box sp_text_box(double x, double y, enum sp_align align, double size, const char *text);

/* Writes a text in lines no wider than `px`, the first one's middle at y; returns how many. With
 * `out` NULL, only counts. */
int sp_svg_lines(FILE *out, double x, double y, double px, enum sp_align align, enum sp_ink ink,
                 double size, const char *text);

/* Colours of a look. */
struct sp_look_row {
    const char *rgb, *tint; /* tint: under hatches */
    const char *dash;
    const char *fill, *stroke; /* class where a dark page has another colour; "" for none */
    bool dark;                 /* its text is white */
};
const struct sp_look_row *sp_look_row(enum sp_look look);

/* Writes attributes that fill with a series' colours: hatched, or of `narrow` boxes in the tint
 * instead, and an edge between neighbours. */
void sp_svg_fill(FILE *out, const struct sp_series *series, bool narrow);

/* Writes the hatches that a figure needs. */
void sp_svg_hatches(FILE *out, const struct sp_figure *figure);

/* Writes the key of a panel, in rows as wide as the picture, from `top` on; returns its height.
 * With `out` NULL, only measures. */
double sp_svg_keys(FILE *out, const struct sp_plot_place *place, double top);

/* Writes the boxes of a panel, or its lines and marks. */
void sp_svg_boxes(FILE *out, const struct sp_plot_place *place);
void sp_svg_curves(FILE *out, const struct sp_plot_place *place);

/* Labels that have been placed, to draw behind the rules that make room for them. */
struct sp_placed {
    size_t n;
    struct sp_spot {
        struct sp_box box;
        double x, y, size;
        enum sp_align align;
        char text[SP_PLOT_TEXT];
        bool inside; /* a box of this look, without halo */
        enum sp_look look;
        bool hatched;
    } * spot;
};
/* Chooses a place for each label, so that none covers another and few cover points and lines; one
 * without such a place is left out. free() placed.spot. */
struct sp_placed sp_svg_place_labels(const struct sp_plot_place *place);
void sp_svg_labels(FILE *out, const struct sp_placed *placed);

/* A path of decisions: its height, and its cards. */
double sp_svg_cards_px(const struct sp_panel *panel, double width);
void sp_svg_cards(FILE *out, const struct sp_plot_place *place);

#endif
