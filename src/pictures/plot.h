/*
 * Pictures: a figure is panels of series, boxes and labels in base units.
 *
 * Fill a figure with the functions below or with the ready-made pictures of pictures.h, then call
 * sp_draw. Every string may hold anything: it is escaped where it is written, and numbers that a
 * plot cannot show (not finite, or not above 0 on a logarithmic axis) are left out.
 */
#ifndef SP_PLOT_H
#define SP_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { SP_MAX_PANELS = 3, SP_MAX_SERIES = 40, SP_PLOT_TEXT = 160 };

/* Looks, rows of the palette in svg_text.c: Okabe and Ito's colours, also distinguished by hatches,
 * dashes and point types. */
enum sp_look {
    SP_BLUE,
    SP_ORANGE,
    SP_GREEN,
    SP_VERMILION,
    SP_SKY,
    SP_PURPLE,
    SP_YELLOW,
    SP_BLACK,
    SP_GREY,
    SP_SHADE, /* first of SP_SHADES shades of one hue, light to dark, for heat maps */
    SP_LOOKS = SP_SHADE + 5
};

enum { SP_SHADES = SP_LOOKS - SP_SHADE };

/* The look of item i: colours in turn, except black, grey and yellow, which is too pale for
 * lines. */
enum sp_look sp_look_of(size_t i);

enum sp_series_kind {
    SP_LINE,     /* x y */
    SP_STEPS,    /* x y: constant until the next point */
    SP_MARKS,    /* x y: points */
    SP_DROPS,    /* x y: points with a line to the axis */
    SP_BOXES,    /* x0 x1 y0 y1: filled */
    SP_HOLLOW,   /* x0 x1 y0 y1: outline, for empty space */
    SP_WHISKERS, /* x0 x1 y: a range */
    SP_SERIES_KINDS
};

struct sp_series {
    enum sp_series_kind kind;
    enum sp_look look;
    bool hatched, dashed, thin;
    bool hollow;             /* marks: not filled */
    bool bare;               /* boxes: no white edge between neighbours */
    char letter;             /* fills a box */
    char name[SP_PLOT_TEXT]; /* in the key; "" for none */
    double *values;
    size_t n, room; /* numbers, not points */
};

/* Numbers of one point or box. */
size_t sp_values_each(enum sp_series_kind kind);

struct sp_tick {
    double at;
    char text[SP_PLOT_TEXT];
};

/* Label and base unit ("time", "s"); the prefix is chosen when drawing. min and max NAN: from the
 * data. */
struct sp_plot_axis {
    char label[SP_PLOT_TEXT -
               32]; /* a copy: the text that names a quantity may be freed before drawing */
    const char *unit;
    bool floating;   /* need not include 0 */
    bool log, whole; /* whole: no ticks between whole numbers */
    double min, max;
    struct sp_tick *ticks; /* categories instead of numbers */
    size_t n_ticks, room;
};

enum sp_align { SP_LEFT, SP_CENTRE, SP_RIGHT };

struct sp_label {
    double x, y;
    enum sp_align align;
    enum sp_look look;
    bool light;  /* white, for dark boxes */
    bool clears; /* vertical rules leave a gap for it */
    bool below;  /* with beside: below the point instead of above */
    bool beside; /* a character right (SP_LEFT) or left (SP_RIGHT) of the point, and above it */
    bool yields; /* omitted if it would cover an earlier label or a rule */
    char text[SP_PLOT_TEXT];
};

/* A line across the panel. */
struct sp_rule {
    bool vertical;
    double at;
    enum sp_look look;
    char text[SP_PLOT_TEXT];
};

/* A question, its answer and what follows, one under the other: a panel of cards has no axes. */
struct sp_card {
    bool yes;
    char asks[SP_PLOT_TEXT], why[SP_PLOT_TEXT], then[SP_PLOT_TEXT];
};

enum sp_key { SP_NO_KEY, SP_KEY_ABOVE, SP_KEY_RIGHT, SP_KEY_INSIDE };

struct sp_panel {
    char title[SP_PLOT_TEXT];
    struct sp_plot_axis x, y;
    double height_px; /* of the plot area in a picture file */
    int rows;         /* of the plot area in a terminal */
    double above;     /* the share over the boxes where a terminal writes the texts of rules */
    enum sp_key key;
    struct sp_series series[SP_MAX_SERIES];
    size_t n_series;
    bool crowded; /* more series were added than fit */
    struct sp_label *labels;
    size_t n_labels, room_labels;
    struct sp_rule rules[8];
    size_t n_rules;
    struct sp_card *cards;
    size_t n_cards, room_cards;
};

struct sp_figure {
    char title[SP_PLOT_TEXT];
    struct sp_panel panels[SP_MAX_PANELS];
    size_t n_panels;
};

__attribute__((format(printf, 1, 2))) struct sp_figure *sp_figure_new(const char *title, ...);
void sp_figure_free(struct sp_figure *figure);

/* Adds a panel below the others, at most SP_MAX_PANELS. The axis texts must outlive the figure. */
struct sp_panel *sp_add_panel(struct sp_figure *figure, struct sp_plot_axis x,
                              struct sp_plot_axis y, const char *title);

/* An axis whose range comes from the data. */
struct sp_plot_axis sp_make_axis(const char *label, const char *unit, bool log);

/* Adds a series; beyond SP_MAX_SERIES returns the last one again. */
__attribute__((format(printf, 4, 5))) struct sp_series *sp_add_series(struct sp_panel *panel,
                                                                      enum sp_series_kind kind,
                                                                      enum sp_look look,
                                                                      const char *name, ...);
void sp_add_point(struct sp_series *series, double x, double y);
void sp_add_box(struct sp_series *series, double x0, double x1, double y0, double y1);
void sp_add_whisker(struct sp_series *series, double x0, double x1, double y);

__attribute__((format(printf, 5, 6))) struct sp_label *sp_add_label(struct sp_panel *panel,
                                                                    double x, double y,
                                                                    enum sp_align align,
                                                                    const char *text, ...);
__attribute__((format(printf, 3, 4))) void sp_add_tick(struct sp_plot_axis *axis, double at,
                                                       const char *text, ...);
__attribute__((format(printf, 5, 6))) void sp_add_rule(struct sp_panel *panel, bool vertical,
                                                       double at, enum sp_look look,
                                                       const char *text, ...);

void sp_add_card(struct sp_panel *panel, bool yes, const char *asks, const char *why,
                 const char *then);

/* Output format of a figure. */
enum sp_terminal {
    SP_TERMINAL_SVG,
    SP_TERMINAL_PNG,
    SP_TERMINAL_PDF,
    SP_TERMINAL_TEXT,
    SP_TERMINAL_JSON,
    SP_TERMINAL_CSV
};
struct sp_canvas {
    enum sp_terminal terminal;
    int columns;  /* text: width in characters */
    double width; /* files: px; 0: SP_PICTURE_PX */
};
enum { SP_PICTURE_PX = 900 };

/* The format of a --plot argument by its suffix (.svg, .png, .pdf, .json, .csv) or "-"; false with
 * an error that lists them. */
bool sp_terminal_of(const char *target, enum sp_terminal *terminal, struct sp_error *error);

/* Writes the picture to *bytes (free them). PNG and PDF are SVG converted by rsvg-convert, started
 * without a shell: false with an error of code SP_INTERNAL if it is not installed or fails. */
bool sp_draw(const struct sp_figure *figure, const struct sp_canvas *canvas, char **bytes,
             size_t *size, struct sp_error *error);

#endif
