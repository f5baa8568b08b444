/* Ready-made pictures: plain structs to panels of a figure. They only place their input; callers
 * compute and format. */
#ifndef SP_PICTURES_H
#define SP_PICTURES_H

#include "pictures/plot.h"

enum { SP_MAX_PARTS = 8 };

/* A bar of stacked parts, such as the memory of a device. */
struct sp_bar {
    char label[64];             /* "ZeRO 3", "stage 0" */
    double parts[SP_MAX_PARTS]; /* in the order of sp_bars.names; negative or NAN: none */
    char note[64];              /* at the bar's end, "71.2 GB" */
};
struct sp_bars {
    const char *title, *label, *unit;
    const char *const *names; /* of the parts, in the key */
    size_t n_parts;
    const struct sp_bar *bars;
    size_t n_bars;
    double limit; /* a line across the bars; NAN: none */
    const char *limit_text;
};
struct sp_panel *sp_draw_bars(struct sp_figure *figure, const struct sp_bars *bars);

/* A span of work on a row of a timeline. */
struct sp_span {
    double start, end;
    size_t row, kind; /* kind: index into sp_timeline.kinds */
    char text[24];    /* inside the box, if it fits */
    bool spills;      /* may overlap its neighbours */
};
struct sp_kind {
    const char *name; /* in the key */
    enum sp_look look;
    bool hatched;
    char letter; /* in a terminal */
};
struct sp_timeline {
    const char *title, *row_name; /* "stage" */
    const struct sp_kind *kinds;
    size_t n_kinds, rows;
    const struct sp_span *spans;
    size_t n_spans;
    double end;
    const char *idle; /* name of empty space */
};
/* Width of a timeline and of a digit in its boxes. px */
enum { SP_TIMELINE_PX = 760, SP_DIGIT_PX = 7 };
struct sp_panel *sp_draw_timeline(struct sp_figure *figure, const struct sp_timeline *timeline);

/* Parts that add up, each starting at the end of the previous one, with their sum below. */
struct sp_part {
    char label[64], note[64];
    double value;
};
struct sp_waterfall {
    const char *title, *label, *unit;
    const struct sp_part *parts;
    size_t n_parts;
    struct sp_part sum;
    double low, high; /* range of the sum; NAN: none */
    double mark;      /* a line across, such as the ideal; NAN: none */
    const char *mark_text;
};
struct sp_panel *sp_draw_waterfall(struct sp_figure *figure, const struct sp_waterfall *waterfall);

/* Values by column and row, in five shades over their range. */
struct sp_heat {
    const char *title, *x_label;
    const char *const *columns, *const *rows; /* names; the first row at the top */
    size_t n_columns, n_rows;
    const double *values;     /* by row; NAN: none */
    const char *const *notes; /* texts in the boxes */
};
struct sp_panel *sp_draw_heat(struct sp_figure *figure, const struct sp_heat *heat);

/* Operations on a chip's roofline. */
struct sp_operation {
    char name[SP_PLOT_TEXT];
    double intensity, flops_per_s;
};
struct sp_roof {
    double peak_flops_per_s, ridge;        /* ridge in FLOPs/byte */
    double low_intensity, low_flops_per_s; /* where the slope starts, left of everything */
    const char *peak_text, *slope_text;    /* "989 TFLOP/s", "3.35 TB/s from hbm" */
    const struct sp_operation *operations;
    size_t n_operations;
};
struct sp_panel *sp_draw_roof(struct sp_figure *figure, const struct sp_roof *roof);

/* Candidates of a search; those on the front are connected and named. */
struct sp_pareto_point {
    double x, y;
    bool front;     /* on the front */
    char name[112]; /* of those on the front, "tp 8 pp 4"; "": none */
    size_t group;   /* index into sp_pareto.groups */
};
/* Sets `front` for candidates that no other beats (as small in both coordinates and smaller in
 * one). */
void sp_mark_front(struct sp_pareto_point *candidates, size_t n);

/* A vertical line such as the capacity. */
struct sp_limit {
    double at;
    char text[64];
};

struct sp_pareto {
    const char *title;
    struct sp_plot_axis x, y;
    const char *front_name, *rest_name; /* in the key */
    const char *const *groups;          /* names of groups such as machines */
    size_t n_groups;                    /* 0 or 1: only the front is distinguished */
    const struct sp_pareto_point *candidates;
    size_t n_candidates;
    const struct sp_limit *limits;
    size_t n_limits;
};
struct sp_panel *sp_draw_pareto(struct sp_figure *figure, const struct sp_pareto *pareto);

#endif
